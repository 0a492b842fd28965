/** Dry runs of one export, and what their profile says. */
import { expect } from 'vitest';
import type { Profile } from '../../src/survey/profile/notes.ts';
import { project, type PrintedSummary } from '../e2e/harness.ts';

interface Given {
  /** Of the one entry; the source is `it`. */
  readonly mapping: string;
  readonly export: string;
  readonly file?: string;
  readonly records?: string;
}

/** What a dry run of one export says. */
export function surveyed({ mapping, export: text, file = 'it.csv', records }: Given): Promise<PrintedSummary> {
  const source = `{ path: ${file}${records === undefined ? '' : `, records: ${records}`} }`;
  return surveyedFiles(`sources: { it: ${source} }\n${mapping}`, { [file]: text });
}

/** With all of `sources` and `events`. */
export async function surveyedFiles(
  mapping: string,
  exports: Readonly<Record<string, string>>,
): Promise<PrintedSummary> {
  const head = `version: 1\nmigration: profile\ndefaults: { timezone: UTC, region: IT }\n`;
  const { service, summary } = await project({ 'mapping.yaml': head + mapping, ...exports });
  const found = await summary('--dry-run');
  expect(service.requests().every(({ method }) => method === 'GET')).toBe(true);
  return found;
}

export async function profileOf(given: Given): Promise<Profile['sources'][string]> {
  return (await surveyed(given)).profile.sources['it']!;
}

export function rows(count: number, row: (number: number) => string): string {
  return Array.from({ length: count }, (_, number) => row(number)).join('');
}
