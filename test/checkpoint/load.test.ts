import { spawnSync } from 'node:child_process';
import { FieldHasher } from '../../src/checkpoint/field-hashes.ts';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { Ledger } from '../../src/checkpoint/ledger.ts';
import { IF_CHANGED, type CheckpointLine, type SentLine, type SettledLine } from '../../src/checkpoint/lines.ts';
import { loadCheckpoint } from '../../src/checkpoint/load.ts';
import { UserError } from '../../src/errors.ts';
import { EVENT_TYPES } from '../../src/model.ts';
import { StateDir } from '../../src/state-dir.ts';

let path: string;
beforeEach(async () => {
  const directory = await mkdtemp(join(tmpdir(), 'backfill-load-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  path = join(directory, 'checkpoint.ndjson');
});

/** Short and long ids, some with non-ASCII or escaped characters, and null. */
const RECORDS = ['7', '', '00Q5f00000abcde', 'a-longer-external-id', 'é', 'a"b', null];
const IDS = ['27e5a060-0e06-562c-ac1c-77313d795394', '27e5a060-ffff-562c-ac1c-77310d795394', 'not a UUID'];
const SHAS = ['8f1a47456be1dc19a842c8b6b898733a', '8f1a47456be1dc1aa842c8b6b898733a', 'short'];
const ENTITY_IDS = ['e1', '', null];
const CODES = [null, 'deduplicated', IF_CHANGED];

interface Step {
  readonly kind: 'sent' | 'acknowledged' | 'rejected' | 'damaged' | 'run';
  readonly type: (typeof EVENT_TYPES)[number];
  readonly record: string | null;
  readonly id: string;
  readonly sha: string;
  readonly entityId: string | null;
  readonly code: string | null;
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('sent', 'sent', 'sent', 'acknowledged', 'acknowledged', 'rejected', 'damaged', 'run'),
  type: fc.constantFrom(...EVENT_TYPES),
  // Mostly the same few records, so that several lines are about one record.
  record: fc.constantFrom('7', '7', '7', ...RECORDS),
  id: fc.constantFrom(...IDS),
  sha: fc.constantFrom(...SHAS),
  entityId: fc.constantFrom(...ENTITY_IDS),
  code: fc.constantFrom(null, null, ...CODES),
});

/** `field`: the name of the only field; a long one makes the file span several of the pieces in which it is read. */
function textOf({ kind, type, record, id, sha, entityId, code }: Step, field: string): string {
  if (kind === 'damaged') return '{"id":"27e5a0';
  if (kind === 'run') return JSON.stringify({ kind, tool: 'x', mapping_sha256: '', inputs: [], at: '' });
  const about = { id, type, external_id: record };
  if (kind === 'sent') return JSON.stringify({ kind, ...about, content_sha: sha } satisfies SentLine);
  const settled: SettledLine = {
    ...about,
    status: kind,
    outcome: 'created',
    entity_id: entityId,
    code,
    content_sha: sha,
    fields: { [field]: sha.slice(0, 8) },
    at: '2026-01-01T00:00:00.000Z',
  };
  return JSON.stringify(settled);
}

/** Everything that a ledger knows about the records of these steps. */
function contentOf(ledger: Ledger, steps: readonly Step[]): unknown {
  const names = [...new Set(steps.map(({ record }) => record))];
  const records = EVENT_TYPES.flatMap((type) => names.flatMap((record) => IDS.map((id) => ({ type, record, id }))));
  const each = records.map(({ type, record, id }) => {
    const key = ledger.keyOf(type, record, id);
    return {
      created: ledger.created(key),
      contents: SHAS.filter((sha) => ledger.hasContent(key, sha)),
      fields: ledger.fields(key),
      updates: ledger.acknowledgedUpdates(key),
      updatesOf: SHAS.map((sha) => ledger.acknowledgedUpdatesOf(key, sha)),
      rejected: SHAS.filter((sha) => ledger.rejectedUpdate(key, sha)),
      unanswered: ledger.unanswered(type, key),
    };
  });
  const claims = records.map(({ type, record, id }) =>
    SHAS.map((sha) => ledger.claimUpdate(ledger.keyOf(type, record, id), sha)),
  );
  return { each, claims, acknowledged: ledger.acknowledged, settled: ledger.settled };
}

const HEADER = JSON.stringify({
  kind: 'header',
  version: 1,
  migration: 'm',
  base_url: 'http://127.0.0.1:1',
  account: { pipeline_ids: [], user_ids: [] },
  created_at: '',
});

/** The loaded file must match a ledger that was given its lines one by one. */
async function compare(steps: readonly Step[], field: string, keepFields: boolean): Promise<void> {
  const valid = steps.filter(({ kind }) => kind !== 'damaged');
  const texts = valid.map((each) => textOf(each, field));
  await writeFile(path, [HEADER, ...texts].map((text) => `${text}\n`).join(''));
  const loaded = await loadCheckpoint(path, { keepFields, hasher: FieldHasher.random() });
  const ledger = new Ledger({ keepFields });
  let named = 0;
  for (const text of texts) {
    const line = JSON.parse(text) as CheckpointLine;
    if (line.kind === 'sent') ledger.sent(line);
    else if (line.kind === undefined) {
      ledger.settle(line);
      if (line.status === 'acknowledged' && line.entity_id) named += 1;
    }
  }
  expect(contentOf(loaded.ledger, valid)).toEqual(contentOf(ledger, valid));
  expect(loaded.named).toBe(named);
}

async function expectDamaged(steps: readonly Step[]): Promise<void> {
  const texts = steps.map((each) => textOf(each, 'full_name'));
  await writeFile(path, [HEADER, ...texts].map((text) => `${text}\n`).join(''));
  const loading = loadCheckpoint(path, { keepFields: false, hasher: FieldHasher.random() });
  const first = steps.findIndex(({ kind }) => kind === 'damaged');
  await expect(loading).rejects.toBeInstanceOf(UserError);
  await expect(loading).rejects.toThrow(`${path}:${first + 2}: damaged line`);
}

it('loads the lines of a checkpoint once damaged ones are removed', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.boolean(), async (steps, keepFields) => {
      if (steps.some(({ kind }) => kind === 'damaged')) await expectDamaged(steps);
      await compare(steps, 'full_name', keepFields);
    }),
    { numRuns: 500 },
  );
});

it('distinguishes many records that have requests without answers', async () => {
  const about = { type: EVENT_TYPES[0], id: IDS[0]!, sha: SHAS[0]!, entityId: 'e1', code: null };
  const kind = fc.constantFrom('sent' as const, 'acknowledged' as const);
  const record = fc.integer({ min: 1000, max: 1999 }).map(String);
  const one = fc.record({ kind, record }).map((each) => ({ ...about, ...each }));
  await fc.assert(
    fc.asyncProperty(fc.array(one, { maxLength: 60 }), (steps) => compare(steps, 'full_name', false)),
    { numRuns: 300 },
  );
});

it('matches an answer with a request that was read in an earlier piece of the file', async () => {
  const steps = fc.array(step, { minLength: 60, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(steps, (each) => compare(each, 'x'.repeat(70_000), false)),
    { numRuns: 20 },
  );
});

const HEAD = {
  ...{ kind: 'header', version: 1, migration: 'm', base_url: 'https://crm.example.test' },
  ...{ account: { pipeline_ids: [], user_ids: [] }, created_at: '2026-01-01T00:00:00.000Z' },
};

it.each([
  ['of a newer version', [{ ...HEAD, version: 2 }], ':1: this checkpoint has version 2; this program reads version 1'],
  ['without a version', [{ ...HEAD, version: undefined }], ':1: the header line is damaged'],
  ['whose header has another shape', [{ ...HEAD, account: [] }], ':1: the header line is damaged'],
  ['that begins with something else', [[1, 2]], ':1: the header line is damaged'],
  ['with the header of another one inside', [HEAD, { ...HEAD, migration: 'other' }], ':2: damaged line'],
  ['with a line of another kind', [HEAD, { kind: 'future' }], ':2: damaged line'],
  ['with lines of another shape', [HEAD, { id: {} }, 'text', null, []], ':2: damaged line, and 3 more: 3, 4, 5'],
])('a checkpoint %s is refused with its line', async (_name, lines, message) => {
  await writeFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const refusal = loadCheckpoint(path, { keepFields: true, hasher: await hasherBeside(path) });
  await expect(refusal).rejects.toMatchObject({ name: 'UserError', exitCode: 2 });
  await expect(refusal).rejects.toThrow(`${path}${message}`);
});

it('a named pipe or a device in place of a checkpoint is refused, and not waited for', async () => {
  spawnSync('mkfifo', [path]);
  for (const each of [path, '/dev/zero']) {
    const refusal = loadCheckpoint(each, { keepFields: true, hasher: await hasherBeside(path) });
    await expect(refusal).rejects.toThrow(`cannot read ${each}: it is not a regular file`);
  }
});

async function hasherBeside(checkpoint: string): Promise<FieldHasher> {
  return FieldHasher.open(await StateDir.existing(dirname(checkpoint)), { store: undefined });
}
