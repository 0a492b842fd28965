import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { CsvError, parse } from 'csv-parse';
import { restore } from '../../cells.ts';
import { parseLine, wholeLines } from '../lines.ts';

/** Examples kept per code. */
const MAX_EXAMPLES = 5;
/** Distinct codes or fields that are listed; all others are counted together. */
const MAX_GROUPS = 200;

export interface ErrorExample {
  readonly file: string;
  readonly line: number;
  readonly record: number;
  readonly type: string;
  readonly externalId: string;
  readonly field: string;
  /** Contains field values. */
  readonly message: string;
  /** Contains field values. */
  readonly hint: string;
}

export interface CodeGroup {
  readonly code: string;
  readonly kind: string;
  count: number;
  readonly types: Map<string, number>;
  readonly examples: ErrorExample[];
}

export interface BlockedChain {
  /** `lead 51000671` */
  readonly entity: string;
  readonly externalId: string;
  /** Why it was not accepted; undefined if it is neither in the input nor acknowledged. */
  readonly code: string | undefined;
  /** Events that depend on it, directly or indirectly. */
  count: number;
  readonly types: Map<string, number>;
}

export interface CollectedErrors {
  readonly groups: readonly CodeGroup[];
  readonly chains: readonly BlockedChain[];
  readonly chainCount: number;
  readonly count: number;
}

interface ErrorFields {
  readonly file: string;
  readonly line: number;
  readonly record: number;
  readonly event_type: string;
  readonly external_id: string;
  readonly kind: string;
  readonly code: string;
  readonly field: string;
  readonly message: string;
  readonly hint: string;
}

interface BlockedGroup {
  readonly parent: string;
  readonly type: string;
}

/** Reads `errors.ndjson` once. Memory grows only with the number of records that failed or that others depend on. */
export async function collectErrors(path: string): Promise<CollectedErrors> {
  const groups = new Map<string, CodeGroup>();
  /** Failed leads and deals: their code, or the parent they depend on. */
  const codes = new Map<string, string>();
  const waitsFor = new Map<string, string>();
  const blocked = new Map<string, BlockedGroup & { count: number }>();
  let count = 0;

  for await (const text of wholeLines(path)) {
    const line = errorFields(text);
    if (!line) continue;
    count += 1;
    addToGroup(groups, line);
    const type = line.event_type ?? '';
    const own = `${type.slice(0, type.indexOf('/'))} ${line.external_id ?? ''}`;
    const parent = line.kind === 'blocked' ? parentIn(line.message ?? '') : undefined;
    if (parent === undefined) {
      if (!type.startsWith('comment') && line.external_id) codes.set(own, codes.get(own) ?? line.code);
      continue;
    }
    if (!type.startsWith('comment') && parent !== own) waitsFor.set(own, parent);
    const key = `${type} ${parent}`;
    const known = blocked.get(key);
    if (known) known.count += 1;
    else blocked.set(key, { parent, type, count: 1 });
  }

  const chains = rollUp(blocked.values(), waitsFor, codes);
  return {
    groups: [...groups.values()].sort((a, b) => b.count - a.count || a.code.localeCompare(b.code, 'en')),
    chains: chains.slice(0, 20),
    chainCount: chains.length,
    count,
  };
}

/** Undefined if it is not the line of an error; what has another type is left out. */
function errorFields(text: string): (Partial<ErrorFields> & Pick<ErrorFields, 'code'>) | undefined {
  const line = parseLine<ErrorFields>(text);
  if (typeof line?.code !== 'string') return undefined;
  const known = Object.entries(line).filter(
    ([key, value]) => typeof value === (key === 'line' || key === 'record' ? 'number' : 'string'),
  );
  return { ...Object.fromEntries(known), code: line.code };
}

function addToGroup(groups: Map<string, CodeGroup>, line: Partial<ErrorFields>): void {
  const wanted = `${line.kind ?? ''} ${line.code}`;
  const isKept = groups.has(wanted) || groups.size < MAX_GROUPS;
  const key = isKept ? wanted : 'others';
  let group = groups.get(key);
  if (!group) {
    const named = isKept ? { code: line.code!, kind: line.kind ?? '' } : { code: '(others)', kind: '' };
    groups.set(key, (group = { ...named, count: 0, types: new Map(), examples: [] }));
  }
  group.count += 1;
  add(group.types, line.event_type ?? '');
  if (group.examples.length >= MAX_EXAMPLES) return;
  const { file = '', line: number = 0, record = 0, event_type: type = '', external_id: externalId = '' } = line;
  const { field = '', message = '', hint = '' } = line;
  group.examples.push({ file, line: number, record, type, externalId, field, message, hint });
}

/** The record that a blocked event depends on, from its message: "lead `4711` was not accepted, …". */
function parentIn(message: string): string | undefined {
  const match = /^(lead|deal|comment) `(.*)` (?:was|is) /s.exec(message);
  return match ? `${match[1]} ${match[2]}` : undefined;
}

/** Counts every blocked event under the record at the head of its chain. */
function rollUp(
  blocked: Iterable<BlockedGroup & { count: number }>,
  waitsFor: ReadonlyMap<string, string>,
  codes: ReadonlyMap<string, string>,
): BlockedChain[] {
  const chains = new Map<string, BlockedChain>();
  for (const { parent, type, count } of blocked) {
    let head = parent;
    for (let steps = 0; steps < 4 && waitsFor.has(head); steps += 1) head = waitsFor.get(head)!;
    const space = head.indexOf(' ');
    let chain = chains.get(head);
    if (!chain) {
      const named = { entity: head.slice(0, space), externalId: head.slice(space + 1), code: codes.get(head) };
      chains.set(head, (chain = { ...named, count: 0, types: new Map() }));
    }
    chain.count += count;
    add(chain.types, type, count);
  }
  return [...chains.values()].sort((a, b) => b.count - a.count || a.externalId.localeCompare(b.externalId, 'en'));
}

export interface OmittedExample {
  readonly file: string;
  readonly line: number;
  readonly externalId: string;
  /** Contains a field value. */
  readonly original: string;
}

export interface OmittedField {
  count: number;
  readonly examples: OmittedExample[];
}

export interface CollectedOmissions {
  /** By field; `(others)` for those beyond the first 200. */
  readonly fields: ReadonlyMap<string, OmittedField>;
  readonly count: number;
  /** Records dropped in favour of another record with the same external id, or of later updates. */
  readonly dropped: OmittedField | undefined;
}

/** Used instead of a field name where a whole record was left out. */
const WHOLE_RECORD = '(record)';

export async function collectOmitted(path: string): Promise<CollectedOmissions> {
  const fields = new Map<string, OmittedField>();
  const dropped: OmittedField = { count: 0, examples: [] };
  let count = 0;
  if (await stat(path).catch(() => undefined)) {
    for await (const row of rowsOf(path)) {
      const { file = '', line = '', external_id: externalId = '', field = '', original = '' } = row;
      const isRecord = field === WHOLE_RECORD;
      const found = isRecord ? dropped : fieldOf(fields, field);
      found.count += 1;
      if (!isRecord) count += 1;
      if (found.examples.length < MAX_EXAMPLES) found.examples.push({ file, line: Number(line), externalId, original });
    }
  }
  return { fields, count, dropped: dropped.count > 0 ? dropped : undefined };
}

function fieldOf(fields: Map<string, OmittedField>, name: string): OmittedField {
  const key = fields.has(name) || fields.size < MAX_GROUPS ? name : '(others)';
  const field = fields.get(key) ?? { count: 0, examples: [] };
  fields.set(key, field);
  return field;
}

/** The rows of a CSV file that this program wrote, up to one that is not valid. */
export async function* rowsOf(path: string): AsyncGenerator<Partial<Record<string, string>>, void, undefined> {
  const options = { columns: true, relax_column_count: true, relax_quotes: true, cast: restore };
  try {
    yield* createReadStream(path).pipe(parse(options)) as AsyncIterable<Partial<Record<string, string>>>;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
  }
}

function add(counts: Map<string, number>, key: string, count = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + count);
}
