import { hash } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { FIELD_KEY_FILE, FieldHasher } from '../../src/store/field-hashes.ts';
import { loadCheckpoint } from '../../src/checkpoint/load.ts';
import { canonicalJson, NumberText, type JsonObject, type JsonValue } from '../../src/json.ts';
import { StateDir } from '../../src/state-dir.ts';
import { backfill, environmentOf, FAST, files, sandbox, workspace } from '../e2e/harness.ts';

const data: JsonObject = { external_id: '1', full_name: 'Ada', custom_params: { b: 1, a: 'x' } };

it('hashes each field separately, custom fields by their key', () => {
  const hasher = FieldHasher.random();
  const hashes = hasher.hashesOf(data);
  expect(Object.keys(hashes).sort()).toEqual(['custom_params.a', 'custom_params.b', 'full_name']);
  expect(hasher.hashesOf({ ...data, full_name: 'Ava' })).toEqual({
    ...hashes,
    full_name: expect.not.stringMatching(hashes.full_name!) as unknown,
  });
});

it('gives other hashes under another key', () => {
  const [one, other] = [FieldHasher.random(), FieldHasher.random()];
  expect(one.keyId).not.toBe(other.keyId);
  expect(one.hashesOf(data).full_name).not.toBe(other.hashesOf(data).full_name);
});

describe('a hash is that of', () => {
  const cases: [name: string, sent: JsonValue, shown: JsonValue][] = [
    ['email', 'Ada@Example.com', 'ada@example.com'],
    ['phone_number', '+393331234567', '+39 333 123-4567'],
    ['amount', 1250.5, '1250.50'],
    ['amount', new NumberText('1250.50'), 1250.5],
    ['full_name', 'Zoe\u0301  Rossi ', 'Zoé Rossi'],
    ['currency', 'EUR', 'eur'],
    ['stage_id', '8D2F6C1E-5b0a-4c0f-9a3e-7d41c6b25e90', '8d2f6c1e-5b0a-4c0f-9a3e-7d41c6b25e90'],
    ['custom_params.size', 5, '5'],
  ];
  it.each(cases)('%s %s in the form %s', (name, sent, shown) => {
    const hasher = FieldHasher.random();
    const [field, key] = name.split('.');
    const stored = hasher.hashesOf({ [field!]: key === undefined ? sent : { [key]: sent } })[name];
    expect(hasher.matches(stored, name, shown)).toBe(true);
  });

  it.each([
    ['full_name', 'mario rossi', 'Mario Rossi'],
    ['phone_number', '+393331234567', '+393331234568'],
    ['amount', 1250.5, 1250.49],
    ['email', 'ada@example.com', 'eva@example.com'],
  ])('%s %s, but not %s', (name, sent, other) => {
    const hasher = FieldHasher.random();
    expect(hasher.matches(hasher.hashesOf({ [name]: sent })[name], name, other)).toBe(false);
  });

  it('a value in a checkpoint written before there were keys', () => {
    const before = hash('sha256', canonicalJson('Ada'), 'hex').slice(0, 8);
    expect(FieldHasher.random().matches(before, 'full_name', 'Ada')).toBe(true);
    expect(FieldHasher.random().matches(before, 'full_name', 'Eva')).toBe(false);
  });
});

async function oneLead(): Promise<string> {
  const cwd = await workspace();
  await files(cwd, {
    'people.csv': 'id,phone\n1,+393331234567\n',
    'mapping.yaml': `version: 1
migration: keyed
sources: { people: { path: people.csv } }
events:
  - type: lead/created
    source: people
    if_changed: [phone_number]
    data: { external_id: id, full_name: id, phone_number: { from: phone, apply: [phone] } }
`,
  });
  return cwd;
}

test('after purge, no phone number can be found by hashing all of them, and a changed one is still sent', async () => {
  const service = await sandbox();
  const cwd = await oneLead();
  const [env, run] = [environmentOf(service), ['run', 'mapping.yaml', ...FAST]];
  const state = join(cwd, '.backfill/keyed');
  expect(await backfill(run, { cwd, env })).toMatchObject({ code: 0 });
  const key = await readFile(join(state, FIELD_KEY_FILE), 'utf8');
  expect((await stat(join(state, FIELD_KEY_FILE))).mode & 0o777).toBe(0o600);

  expect(await backfill(['purge', 'mapping.yaml', '--yes'], { cwd })).toMatchObject({ code: 0 });
  await expect(stat(join(state, FIELD_KEY_FILE))).rejects.toThrow('ENOENT');
  const checkpoint = await readFile(join(state, 'checkpoint.ndjson'), 'utf8');
  const plain = ['+393331234567', '393331234567', '"+393331234567"'].map((text) => hash('sha256', text, 'hex'));
  for (const digest of plain) expect(checkpoint).not.toContain(digest.slice(0, 8));
  expect(checkpoint).not.toContain(key.trim());

  await writeFile(join(cwd, 'people.csv'), 'id,phone\n1,+393337654321\n');
  expect(await backfill(run, { cwd, env })).toMatchObject({ code: 0 });
  expect(service.state().leads[0]).toMatchObject({ phoneNumber: '+393337654321' });
  const requests = service.requests().length;
  expect(await backfill(run, { cwd, env })).toMatchObject({ code: 0 });
  expect(service.requests().slice(requests)).not.toContainEqual(expect.objectContaining({ method: 'POST' }));
});

test('hashes of another key are as good as none', async () => {
  const service = await sandbox();
  const cwd = await oneLead();
  expect(await backfill(['run', 'mapping.yaml', ...FAST], { cwd, env: environmentOf(service) })).toMatchObject({
    code: 0,
  });
  const state = await StateDir.existing(join(cwd, '.backfill/keyed'));
  const path = state.file('checkpoint.ndjson');
  const fieldsWith = async (hasher: FieldHasher) => {
    const { ledger } = await loadCheckpoint(path, { keepFields: true, hasher });
    return ledger.fields(ledger.keyOf('lead/created', '1', ''));
  };
  expect(Object.keys((await fieldsWith(await FieldHasher.open(state, { store: undefined })))!)).toContain(
    'phone_number',
  );
  expect(await fieldsWith(FieldHasher.random())).toEqual({});
});
