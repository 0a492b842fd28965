/** Dry runs of one export, and what their profile says. */
import { join } from 'node:path';
import { expect } from 'vitest';
import { Halt } from '../../src/halt.ts';
import { runMigration } from '../../src/run.ts';
import { Redactor } from '../../src/redact.ts';
import type { Profile } from '../../src/report/profile.ts';
import type { Summary } from '../../src/report/summary.ts';
import { runSettings } from '../../src/settings/run-settings.ts';
import { files, sandbox, workspace } from '../e2e/harness.ts';

interface Given {
  /** Of the one entry; the source is `it`. */
  readonly mapping: string;
  readonly export: string;
  readonly file?: string;
  readonly records?: string;
}

/** What a dry run of one export says. */
export async function surveyed(given: Given): Promise<Summary> {
  return (await surveyedWith(given)).summary;
}

function surveyedWith(given: Given): ReturnType<typeof surveyedRun> {
  const { mapping, file = 'it.csv', records } = given;
  const source = `{ path: ${file}${records === undefined ? '' : `, records: ${records}`} }`;
  return surveyedRun(`sources: { it: ${source} }\n${mapping}`, { [file]: given.export });
}

/** With all of `sources` and `events`. */
export async function surveyedFiles(mapping: string, exports: Readonly<Record<string, string>>): Promise<Summary> {
  return (await surveyedRun(mapping, exports)).summary;
}

async function surveyedRun(mapping: string, exports: Readonly<Record<string, string>>) {
  const service = await sandbox();
  const cwd = await workspace();
  const { baseUrl, apiKey, ingestToken } = service;
  const head = `version: 1\nmigration: profile\ndefaults: { timezone: UTC, region: IT }\n`;
  await files(cwd, { 'mapping.yaml': head + mapping, ...exports });
  const run = await runMigration({
    settings: runSettings({ mapping: join(cwd, 'mapping.yaml'), dryRun: true, rate: '100000/1s' }),
    credentials: { baseUrl, apiKey, ingestToken },
    stateSuffix: '',
    halt: new Halt(),
    redactor: new Redactor(),
    monitor: {},
  });
  expect(service.requests().every(({ method }) => method === 'GET')).toBe(true);
  return run;
}

export async function profileOf(given: Given): Promise<Profile['sources'][string]> {
  return (await surveyed(given)).profile.sources['it']!;
}

export function rows(count: number, row: (number: number) => string): string {
  return Array.from({ length: count }, (_, number) => row(number)).join('');
}
