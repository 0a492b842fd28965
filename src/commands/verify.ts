/**
 * Compares the records in the service with what was sent:
 *
 *     checkpoint (which records) -> plan (what they should be) -> service (what they are) -> verify.csv
 */
import { shortSha } from '../core/identity.ts';
import { EXIT, UserError, type ExitCode } from '../errors.ts';
import { csvHead, csvLine } from '../files/csv.ts';
import { shortPath } from '../files/paths.ts';
import { StateDir, statePath } from '../files/state-dir.ts';
import { LineFile } from '../files/write-lines.ts';
import { ENTITIES, kindOf } from '../kinds/index.ts';
import { loadMapping } from '../mapping/load.ts';
import type { Entity } from '../model.ts';
import { readBack, type Found } from '../plan/account/read-back.ts';
import { storedDigest } from '../plan/digest.ts';
import { storeVerification, type StoredVerification, type VerifiedRecords } from '../report/files/documents.ts';
import {
  endingOf,
  VERIFY_FILE,
  verificationFigures,
  type FieldDifference,
  type Verification,
} from '../report/figures/verification.ts';
import { writeReport } from '../report/print/page.ts';
import { connect, type Target } from '../run/connect.ts';
import { closingAfter } from '../run/held-state.ts';
import { NotShown, RecordRefused } from '../service/lists.ts';
import { runOf } from '../settings/command-line.ts';
import type { RestCredentials } from '../settings/credentials.ts';
import type { Pace } from '../settings/run-settings.ts';
import { assertBound, bindingOf, openCheckpoint } from '../store/checkpoint.ts';
import { Lock, nameHolder } from '../store/lock.ts';
import { readState } from '../store/open.ts';
import type { Database } from '../store/sqlite.ts';
import { planIn } from '../store/stored-plans.ts';
import { RecordComparison } from './compare.ts';
import type { Console } from '../report/print/console.ts';
import { jsonOf } from '../report/print/json.ts';
import { showFigures } from '../report/print/terminal.ts';
import { counted, numberText } from '../report/words/numbers.ts';
import { namesById } from '../service/account.ts';
import { parseOptions } from '../settings/parse-options.ts';
import type { Argv, CommandSettings } from './command.ts';
import { verify as definition } from './definitions.ts';
import { SANDBOX_RATE, serviceOf } from './service.ts';

/** Reading everything back may take hours. */
const SAY_EVERY_MS = 15_000;

/** `crm-backfill verify`: reads acknowledged records back and compares them with what the mapping sends. */
export async function handler(argv: Argv, console: Console): Promise<ExitCode> {
  const settings = parseOptions(definition, argv);
  const service = await serviceOf(settings, console);
  let next = Date.now() + SAY_EVERY_MS;
  try {
    const { account, ...found } = await verifyMigration({
      settings: settings.sandbox ? { ...settings, rate: SANDBOX_RATE } : settings,
      credentials: service.credentials,
      trouble: (message) => console.complain(`warning: ${message}`),
      progress: (entity, done, records) => {
        if (Date.now() < next) return;
        next = Date.now() + SAY_EVERY_MS;
        console.say(`${numberText(done)} of ${counted(records, entity)} read back`);
      },
    });
    showFigures(console, verificationFigures(found, namesById(account)), settings);
    if (settings.json) console.printJson(jsonOf(found));
    return found.exit.code;
  } finally {
    await service.close();
  }
}

export interface VerifyJob {
  readonly settings: Pace & Pick<CommandSettings<typeof definition>, 'mapping' | 'state' | 'sandbox' | 'sample'>;
  readonly credentials: RestCredentials;
  /** Called with problems that do not stop the comparison. */
  readonly trouble?: (message: string) => void;
  /** Called as records are read back. */
  readonly progress?: (entity: Entity, done: number, records: number) => void;
}

/** Reads acknowledged records back and compares them. Throws a `UserError` if that is not possible. */
export async function verifyMigration(job: VerifyJob): Promise<Verification & Pick<Target, 'account'>> {
  const { settings } = job;
  const mapping = await loadMapping(settings.mapping, { sources: new Map() });
  const state = await StateDir.existing(statePath(settings, mapping, settings.sandbox ? '.sandbox' : ''));
  return closingAfter(async (atEnd) => {
    // A concurrent run would use the same rate limit and change records while they are compared.
    const lock = Lock.acquire(state);
    atEnd(() => lock.release());
    const plan = planIn(state, false) ?? planIn(state, true);
    const db = readState(state, plan?.output);
    atEnd(() => db.close());
    if (!plan || !bindingOf(db)) throw nothingToVerify(settings, state, !bindingOf(db));
    nameHolder(state, 'verify');
    const target = await connect(settings, job.credentials, { state }, job.trouble);
    atEnd(() => target.close());
    assertBound(db, mapping.migration, target);
    const path = state.file(VERIFY_FILE);
    const file = new LineFile(path);
    atEnd(() => file.close());
    file.add(csvHead(COLUMNS));
    /** By kind. */
    const first = new Map<string, FieldDifference>();
    const differs = (found: FieldDifference): void => {
      const kind = `${found.entity} ${found.field} ${found.verdict}`;
      if (!first.has(kind)) first.set(kind, found);
      file.add(csvLine(COLUMNS.map((column) => found[column])));
    };
    const comparison = new RecordComparison(db, target.account, mapping.region);
    const entities = {} as Record<Entity, VerifiedRecords>;
    for (const entity of ENTITIES)
      entities[entity] = await compareEntity({ job, db, target, comparison, differs }, entity);
    const reason = endingOf(Object.values(entities));
    const found: StoredVerification = {
      migration: mapping.migration,
      base_url: target.baseUrl,
      exit: { code: reason === 'same' ? EXIT.done : EXIT.finishedWithErrors, reason },
      sample: settings.sample,
      finished_at: new Date().toISOString(),
      entities,
      requests: target.client.requests,
      plan: { digest: storedDigest(db)?.digest ?? null, is_dry_run: plan.isDryRun },
      files: { verify: path },
    };
    // For the report; the page of the run shows it.
    const checkpoint = openCheckpoint(state);
    storeVerification(checkpoint, found);
    checkpoint.close();
    if (!plan.isDryRun) writeReport(state, state, { withValues: false });
    return { ...found, first_differences: [...first.values()], account: target.account };
  });
}

function nothingToVerify(settings: VerifyJob['settings'], state: StateDir, isUnsent: boolean): UserError {
  const where = shortPath(state.path);
  return isUnsent
    ? new UserError(`there is nothing to verify: according to ${where}, no event has been sent yet`, {
        hint: `send events first: ${runOf(settings)}`,
      })
    : new UserError(`there is no plan to compare with in ${where}`, {
        hint: `create one, which sends nothing: ${runOf(settings, '--dry-run')}`,
      });
}

const COLUMNS = [
  ...(['entity', 'external_id', 'service_id', 'field', 'verdict'] as const),
  ...(['expected', 'actual', 'written_at', 'updated_at'] as const),
];

/** What the records of one entity are compared with, and where the differences go. */
interface Comparing {
  readonly job: VerifyJob;
  readonly db: Database;
  readonly target: Target;
  readonly comparison: RecordComparison;
  readonly differs: (difference: FieldDifference) => void;
}

/** A record of the sample, which is always the same for the same checkpoint, and spread over all records. */
interface Sampled {
  readonly externalId: string;
  readonly serviceId: string;
}

function sampleOf(db: Database, entity: Entity, size: number | 'all'): Sampled[] {
  const known = db.all<Sampled>(
    `select external_id as externalId, service_id as serviceId from checkpoint.record
      where entity = ? and is_acknowledged = 1 and service_id is not null`,
    entity,
  );
  if (size === 'all') return known;
  const ordered = known.map((each) => ({ each, order: shortSha(`sample:${each.externalId}`) }));
  return ordered
    .sort((one, other) => (one.order < other.order ? -1 : 1))
    .slice(0, size)
    .map(({ each }) => each);
}

async function compareEntity(comparing: Comparing, entity: Entity): Promise<VerifiedRecords> {
  const { job, db, target, comparison } = comparing;
  const { route, isRouteUncertain = false } = kindOf(entity);
  const counts = db.get<{ acknowledged: number; without_id: number }>(
    `select count(*) as acknowledged, count(*) filter (where service_id is null) as without_id
      from checkpoint.record where entity = ? and is_acknowledged = 1`,
    entity,
  )!;
  const result: VerifiedRecords = {
    ...{ ...counts, not_in_input: 0, read_back: 0, missing: 0, equal: 0, unreadable: 0, refused: 0 },
    ...{ not_shown: null, fields: {} },
  };
  if (route === undefined) return { ...result, not_shown: 'the service has no route that shows them' };
  /** Several records may have become one in the service. */
  const byServiceId = new Map<string, Sampled[]>();
  for (const each of sampleOf(db, entity, job.settings.sample)) {
    if (!comparison.wanted(entity, each.externalId)) result.not_in_input += 1;
    else byServiceId.set(each.serviceId, [...(byServiceId.get(each.serviceId) ?? []), each]);
  }
  if (byServiceId.size === 0) return result;
  const count = (found: Found): void => {
    for (const each of byServiceId.get(found.serviceId)!) countRecord(comparing, entity, result, each, found);
  };
  const missing: Found[] = [];
  let why = `GET ${route} shows none of them`;
  const options = { atLeast: counts.acknowledged, concurrency: job.settings.concurrency };
  try {
    for await (const found of readBack(target.client, entity, byServiceId.keys(), options)) {
      if (found.record || found.instead) count(found);
      else missing.push(found);
      job.progress?.(entity, result.read_back + missing.length, byServiceId.size);
    }
  } catch (error) {
    if (!isRouteUncertain || !(error instanceof NotShown)) throw error;
    why = error.message;
  }
  // A list that has none of them may be a list of something else.
  if (isRouteUncertain && result.read_back + result.refused === 0) return { ...result, not_shown: why };
  for (const each of missing) count(each);
  return result;
}

/** Compares a record that was read back, and counts the result. */
function countRecord(
  { comparison, differs }: Comparing,
  entity: Entity,
  result: VerifiedRecords,
  { externalId, serviceId }: Sampled,
  { record, instead }: Found,
): void {
  const written = comparison.written(entity, externalId);
  const updatedAt = typeof record?.updatedAt === 'string' ? record.updatedAt : '';
  const about = {
    ...{ entity, external_id: externalId, service_id: serviceId },
    ...{ written_at: new Date(written.at).toISOString(), updated_at: updatedAt },
  };
  const whole = (verdict: 'missing' | 'refused', actual: string): void =>
    differs({ ...about, field: '', verdict, expected: '', actual });
  if (instead instanceof RecordRefused) {
    result.refused += 1;
    return whole('refused', instead.message);
  }
  result.read_back += 1;
  if (!record) {
    result.missing += 1;
    return whole('missing', instead ? `merged into ${instead.into}` : '');
  }
  const compared = comparison.compare(comparison.wanted(entity, externalId)!, written, record);
  for (const { field, verdict, expected = '', actual } of compared) {
    const verdicts = (result.fields[field] ??= {});
    verdicts[verdict] = (verdicts[verdict] ?? 0) + 1;
    if (verdict !== 'same' && verdict !== 'not_comparable') differs({ ...about, field, verdict, expected, actual });
  }
  const verdicts = compared.map(({ verdict }) => verdict);
  if (verdicts.length > 0 && verdicts.every((each) => each === 'not_comparable')) result.unreadable += 1;
  else if (verdicts.every((each) => ['same', 'normalised', 'not_comparable'].includes(each))) result.equal += 1;
}
