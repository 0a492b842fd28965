/**
 * Whether the service shows what was sent:
 *
 *     checkpoint (which records) -> input (what they should be) -> service (what they are) -> verify.csv
 */
import { CHECKPOINT_FILE, type HeaderLine } from '../checkpoint/lines.ts';
import { EXIT, UserError, type ExitCode } from '../errors.ts';
import { loadMapping } from '../mapping/load.ts';
import type { CompiledMapping, Mapping } from '../mapping/mapping.ts';
import { entityOf } from '../model.ts';
import { assertBound } from '../pipeline/binding.ts';
import { collectFixes, Input } from '../pipeline/input.ts';
import { readThrough } from '../pipeline/read.ts';
import { Resolver } from '../pipeline/resolve.ts';
import { connect, statePath, type Target } from '../pipeline/setup.ts';
import { parseLine } from '../report/lines.ts';
import type { Account } from '../service/account.ts';
import type { Fields } from '../service/lists.ts';
import type { Pace, RestCredentials } from '../settings.ts';
import { Lock, StateDir } from '../state-dir.ts';
import { Differences, newResult, VERIFY_FILE, type Difference, type EntityResult } from './differences.ts';
import { Expectations, type ExpectedFields } from './expected.ts';
import { CHECKED, COMPARED, likeness, type Checked } from './fields.ts';
import { readBack } from './read-back.ts';
import { firstLine, population, writtenRecords, type SampleSize, type Written } from './written.ts';

export interface Verification {
  readonly migration: string;
  readonly base_url: string;
  readonly exit: { readonly code: ExitCode; readonly reason: 'same' | 'different' | 'missing' };
  readonly sample: SampleSize;
  readonly finished_at: string;
  readonly entities: Readonly<Record<Checked, EntityResult>>;
  /** The first ones of each field and kind. */
  readonly first_differences: readonly Difference[];
  readonly requests: number;
  readonly files: { readonly verify: string };
}

export interface VerifyJob {
  readonly settings: Pace & {
    readonly mapping: string;
    readonly state?: string | undefined;
    readonly source: ReadonlyMap<string, string>;
    readonly sample: SampleSize;
  };
  readonly credentials: RestCredentials;
  readonly stateSuffix: string;
  connected?(account: Account): void;
  /** Before the records of one type are read back. */
  reading?(entity: Checked, records: number): void;
  progress?(entity: Checked, done: number, records: number): void;
}

/** Reads acknowledged leads and deals back and compares them. Throws a `UserError` where that is not possible at all. */
export async function verifyMigration(job: VerifyJob): Promise<Verification> {
  const { settings } = job;
  const mapping = await loadMapping(settings.mapping, { sources: settings.source });
  const state = await StateDir.existing(statePath(settings, mapping, job.stateSuffix));
  // A run that is going on spends the same rate and would move what is compared.
  const lock = await Lock.acquire(state, { takeOver: false });
  try {
    const header = await headerOf(state);
    const target = await connect(settings, job.credentials, state, state);
    try {
      assertBound({ header, wholeBytes: 1 }, state.file(CHECKPOINT_FILE), mapping, target);
      job.connected?.(target.account);
      return await compareAll(job, mapping, state, target);
    } finally {
      await target.client.close();
      await target.history.close();
    }
  } finally {
    await lock.release();
  }
}

async function headerOf(state: StateDir): Promise<HeaderLine | undefined> {
  const text = await firstLine(state.file(CHECKPOINT_FILE)).catch((error: unknown) => {
    throw new UserError(`there is nothing to verify: ${state.path} has no checkpoint`, {
      hint: 'nothing was sent for this mapping yet',
      cause: error,
    });
  });
  const line = parseLine<HeaderLine>(text);
  return line?.kind === 'header' ? (line as HeaderLine) : undefined;
}

async function compareAll(job: VerifyJob, mapping: Mapping, state: StateDir, target: Target): Promise<Verification> {
  const input = await Input.open(mapping, await collectFixes(state, mapping, new Map(), false));
  const compiled = await mapping.compile(input.sources);
  const path = state.file(VERIFY_FILE);
  const differences = await Differences.open(path);
  const entities = {} as Record<Checked, EntityResult>;
  try {
    for (const entity of CHECKED) {
      entities[entity] = await compareEntity({ ...job, mapping, state, target, input, compiled, differences }, entity);
    }
  } finally {
    await differences.close();
  }
  return {
    migration: mapping.migration,
    base_url: target.baseUrl,
    exit: endingOf(Object.values(entities)),
    sample: job.settings.sample,
    finished_at: new Date().toISOString(),
    entities,
    first_differences: differences.first,
    requests: target.client.requests,
    files: { verify: path },
  };
}

function endingOf(results: readonly EntityResult[]): Verification['exit'] {
  const counts = results.flatMap(({ fields }) => Object.values(fields));
  if (results.some(({ missing }) => missing > 0)) return { code: EXIT.finishedWithErrors, reason: 'missing' };
  const isDifferent = counts.some(({ different, changed }) => different + changed > 0);
  return isDifferent ? { code: EXIT.finishedWithErrors, reason: 'different' } : { code: EXIT.done, reason: 'same' };
}

interface EntityJob extends VerifyJob {
  readonly mapping: Mapping;
  readonly state: StateDir;
  readonly target: Target;
  readonly input: Input;
  readonly compiled: CompiledMapping;
  readonly differences: Differences;
}

async function compareEntity(job: EntityJob, entity: Checked): Promise<EntityResult> {
  const { settings, target, differences } = job;
  const checkpoint = job.state.file(CHECKPOINT_FILE);
  const all = await population(checkpoint, entity, settings.sample);
  const result = newResult(entity, all);
  if (all.acknowledged === all.withoutId) return result;
  const expectations = await expectedOf(job, entity, (externalId) => all.isChosen(externalId));
  const expected = (externalId: string): ExpectedFields | undefined => expectations.get(externalId);
  const parents = parentsOf(entity, expectations);
  const chosen = (externalId: string): boolean => all.isChosen(externalId);
  const { records, leadIds } = await writtenRecords(checkpoint, entity, chosen, expected, parents);

  const byServiceId = new Map<string, string>();
  for (const [externalId, { serviceId }] of records) {
    if (expected(externalId)) byServiceId.set(serviceId, externalId);
    else result.not_in_input += 1;
  }
  job.reading?.(entity, byServiceId.size);
  const options = { atLeast: all.acknowledged, concurrency: settings.concurrency };
  for await (const { serviceId, record } of readBack(target.client, entity, byServiceId.keys(), options)) {
    const externalId = byServiceId.get(serviceId)!;
    const written = records.get(externalId)!;
    result.read_back += 1;
    job.progress?.(entity, result.read_back, byServiceId.size);
    if (!record) result.missing += 1;
    const found = record
      ? compareRecord(result, { entity, externalId, written, expected: expected(externalId)!, record, leadIds })
      : [missing(entity, externalId, written)];
    for (const difference of found) await differences.add(difference);
  }
  return result;
}

/** Maps the input again, as a run would. */
async function expectedOf(
  { mapping, compiled, input, target }: EntityJob,
  entity: Checked,
  isChosen: (externalId: string) => boolean,
): Promise<Expectations> {
  const pipelines = target.account.pipelines.flatMap(({ id, stages }) =>
    stages.map((stage): [string, string] => [stage.id.toLowerCase(), id]),
  );
  const expectations = new Expectations(entity, new Map(pipelines));
  const resolver = new Resolver(target.account, mapping.references);
  for (const name of mapping.eventSources) {
    const entries = compiled.entries.filter(({ source, type }) => source === name && entityOf(type) === entity);
    if (entries.length === 0) continue;
    await readThrough(input.sources.get(name)!, entries, resolver, {
      goesOn: () => true,
      event({ event }) {
        if (event.kind !== 'ready' || event.externalId === undefined || !isChosen(event.externalId)) return;
        expectations.add(event, event.externalId, compiled.entries[event.entry]!.policies.duplicates);
      },
    });
  }
  return expectations;
}

const PARENT = 'lead_external_id';

function parentsOf(entity: Checked, expectations: Expectations): ReadonlySet<string> {
  const parents = new Set<string>();
  const index = COMPARED[entity].findIndex(({ sent }) => sent === PARENT);
  if (index < 0) return parents;
  for (const externalId of expectations.externalIds()) {
    const parent = expectations.get(externalId)?.[index];
    if (parent) parents.add(parent.value);
  }
  return parents;
}

/** Compares field by field, counts, and returns what is not plainly the same. */
function compareRecord(
  result: EntityResult,
  {
    entity,
    externalId,
    written,
    expected,
    record,
    leadIds,
  }: {
    readonly entity: Checked;
    readonly externalId: string;
    readonly written: Written;
    readonly expected: ExpectedFields;
    readonly record: Fields;
    readonly leadIds: ReadonlyMap<string, string>;
  },
): Difference[] {
  const differences: Difference[] = [];
  const isEdited = wasEdited(record, written);
  COMPARED[entity].forEach((field, index) => {
    const should = expected[index];
    if (!should) return;
    // A parent that is not ours has an id that we were never told.
    const value = field.sent === PARENT ? leadIds.get(should.value) : should.value;
    const actual = field.shown === undefined ? undefined : record[field.shown];
    const like = value === undefined ? 'not_comparable' : likeness(field, value, actual);
    const isChanged = (written.changed & (1 << index)) !== 0;
    const verdict = like !== 'different' ? like : isChanged ? 'changed' : isEdited ? 'edited' : 'different';
    result.fields[field.name]![verdict] += 1;
    if (verdict === 'same' || verdict === 'not_comparable') return;
    differences.push({
      entity,
      external_id: externalId,
      service_id: written.serviceId,
      field: field.name,
      verdict,
      expected: value ?? '',
      actual: shownText(actual),
      written_at: new Date(written.at).toISOString(),
      updated_at: typeof record.updatedAt === 'string' ? record.updatedAt : '',
    });
  });
  return differences;
}

function shownText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function missing(entity: Checked, externalId: string, written: Written): Difference {
  return {
    entity,
    external_id: externalId,
    service_id: written.serviceId,
    field: '',
    verdict: 'missing',
    expected: '',
    actual: '',
    written_at: new Date(written.at).toISOString(),
    updated_at: '',
  };
}

/** What the service does with a record of its own accord, right after it was created. */
const SETTLING_MS = 5_000;
/** How far this machine's clock and the service's may be apart. */
const CLOCKS_APART_MS = 60_000;

function wasEdited(record: Fields, written: Written): boolean {
  const updated = timeOf(record.updatedAt);
  const created = timeOf(record.createdAt);
  if (written.onlyCreated && !Number.isNaN(created)) return updated - created > SETTLING_MS;
  return updated - written.at > CLOCKS_APART_MS;
}

function timeOf(value: unknown): number {
  return typeof value === 'string' ? Date.parse(value) : Number.NaN;
}
