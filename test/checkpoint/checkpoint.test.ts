import { FieldHasher } from '../../src/checkpoint/field-hashes.ts';
import { appendFile, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openIds } from '../../src/checkpoint/ids.ts';
import { IF_CHANGED, type SentLine, type SettledLine } from '../../src/checkpoint/lines.ts';
import { loadCheckpoint } from '../../src/checkpoint/load.ts';
import { CheckpointWriter } from '../../src/checkpoint/write.ts';
import { EXIT } from '../../src/errors.ts';

let path: string;
beforeEach(async () => {
  const directory = await mkdtemp(join(tmpdir(), 'backfill-checkpoint-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  path = join(directory, 'checkpoint.ndjson');
});

const SHA = 'a'.repeat(32);
const OTHER = 'b'.repeat(32);

const hasher = FieldHasher.random();

function settled(line: Partial<SettledLine> = {}): SettledLine {
  return {
    id: '11111111-1111-5111-8111-111111111111',
    type: 'lead/created',
    external_id: '7',
    status: 'acknowledged',
    outcome: 'created',
    entity_id: 'e1',
    code: null,
    content_sha: SHA,
    fields: { full_name: '01234567' },
    at: '2026-01-01T00:00:00.000Z',
    ...line,
  };
}

function sent(line: Partial<SentLine> = {}): SentLine {
  return { kind: 'sent', id: settled().id, type: 'lead/created', external_id: '7', content_sha: SHA, ...line };
}

async function load(keepFields = false) {
  const loaded = await loadCheckpoint(path, { keepFields, hasher });
  return { ...loaded, key: loaded.ledger.keyOf('lead/created', '7', '') };
}

/** `named`: how many records `ids.csv` must contain. */
async function ids(named?: number): Promise<string> {
  named ??= (await loadCheckpoint(path, { keepFields: false, hasher })).named;
  await (await openIds(`${path}.ids`, path, named)).close();
  return readFile(`${path}.ids`, 'utf8');
}

async function write(...lines: (SettledLine | SentLine)[]): Promise<void> {
  const writer = await CheckpointWriter.open(path, await loadCheckpoint(path, { keepFields: false, hasher }));
  await Promise.all(lines.map((line) => (line.kind === 'sent' ? writer.sent(line) : writer.settle(line))));
  await writer.close();
}

describe('a checkpoint', () => {
  it.each([
    ['deleted', () => rm(path)],
    ['moved', () => rename(path, `${path}.moved`)],
    ['replaced', () => rm(path).then(() => writeFile(path, ''))],
  ])('that was %s while it is written refuses lines, and says how to continue', async (_, change) => {
    const writer = await CheckpointWriter.open(path, await loadCheckpoint(path, { keepFields: false, hasher }));
    onTestFinished(() => writer.close());
    await writer.sent(sent());
    await change();
    for (const writing of [writer.sent(sent()), writer.settle(settled())]) {
      await expect(writing).rejects.toMatchObject({
        message: `${path} was removed during the run`,
        hint: expect.stringContaining('rerun with --adopt') as string,
        exitCode: EXIT.stopped,
      });
    }
  });

  it('that does not exist is empty', async () => {
    const { ledger, header, key } = await load();
    expect(header).toBeUndefined();
    expect(ledger.created(key)).toBe('none');
  });

  it('records what was settled, by type and external id', async () => {
    await write(settled(), settled({ external_id: '8', status: 'rejected', code: 'invalid_payload' }));
    const { ledger, key } = await load();
    expect(ledger.created(key)).toBe('acknowledged');
    expect(ledger.hasContent(key, SHA)).toBe(true);
    expect(ledger.hasContent(key, OTHER)).toBe(false);
    expect(ledger.created(ledger.keyOf('lead/created', '8', ''))).toBe('rejected');
    expect(ledger.created(ledger.keyOf('deal/created', '7', ''))).toBe('none');
    expect(ledger.acknowledged).toBe(1);
  });

  it('keeps an acknowledgement when a rejection of the same record follows', async () => {
    await write(settled(), settled({ status: 'rejected', content_sha: OTHER }));
    const { ledger, key } = await load();
    expect(ledger.created(key)).toBe('acknowledged');
    expect(ledger.hasContent(key, SHA)).toBe(true);
  });

  it('lists requests without an answer until the answer is recorded', async () => {
    await write(sent());
    expect((await load()).ledger.unanswered('lead/created', (await load()).key)).toMatchObject([{ sha: SHA }]);
    await write(settled());
    const { ledger, key } = await load();
    expect(ledger.unanswered('lead/created', key)).toEqual([]);
  });

  it('lets each acknowledged update be claimed once', async () => {
    const update = settled({ type: 'lead/updated', outcome: 'updated' });
    await write(update, update, settled({ type: 'lead/updated', content_sha: OTHER, status: 'rejected' }));
    const { ledger, key } = await load();
    expect(ledger.acknowledgedUpdates(key)).toBe(2);
    expect([1, 2, 3].map(() => ledger.claimUpdate(key, SHA))).toEqual([true, true, false]);
    expect(ledger.claimUpdate(key, OTHER)).toBe(false);
    expect(ledger.rejectedUpdate(key, OTHER)).toBe(true);
  });

  it('keeps the fields that if_changed sent last', async () => {
    const change = {
      type: 'lead/updated',
      code: IF_CHANGED,
      content_sha: OTHER,
      fields: { city: '89abcdef' },
    } as const;
    await write(settled(), settled(change));
    const { ledger, key } = await load(true);
    expect(ledger.hasContent(key, OTHER)).toBe(true);
    expect(ledger.hasContent(key, SHA)).toBe(false);
    expect(ledger.fields(key)).toEqual({ full_name: '01234567', city: '89abcdef' });
    expect(ledger.acknowledged).toBe(1);
    expect(ledger.claimUpdate(key, OTHER)).toBe(false);
  });

  it('cuts off a torn last line before anything is appended', async () => {
    await write(settled());
    await appendFile(path, '{"id":"22222222-2222-5222-8222-2222');
    expect((await load()).tornBytes).toBeGreaterThan(0);
    await write(settled({ external_id: '9' }));
    const lines = (await readFile(path, 'utf8')).trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as SettledLine).external_id)).toEqual(['7', '9']);
  });

  it.each([
    ['zeros', '\0\0\0\0', 1],
    ['an empty line', '', 1],
    ['half a line', JSON.stringify(settled()).slice(0, 70), 1],
    ['a line written by another program', '{"id":1}', 1],
    ['a settled line without a hash', JSON.stringify({ ...settled(), content_sha: undefined }), 1],
    ['a settled line with an unknown status', JSON.stringify({ ...settled(), status: 'maybe' }), 1],
    ['several lines', '{"id":1}\nnull\n[]', 3],
  ])(
    'that contains %s is refused with the line number, and can be loaded once it is removed',
    async (_name, damage, lines) => {
      const [first, last] = ['1', '2'].map((id) => JSON.stringify(settled({ external_id: id })));
      await writeFile(path, `${first}\n${damage}\n${last}\n`);
      const others = lines === 1 ? '' : ', and 2 more: 3, 4';
      await expect(load()).rejects.toMatchObject({
        message: `${path}:2: damaged line${others}`,
        hint: expect.stringContaining('is sent again under the same id') as string,
        exitCode: EXIT.nothingSent,
      });
      await expect(ids(2)).rejects.toThrow(`${path}:2: damaged line`);
      await writeFile(path, `${first}\n${last}\n`);
      expect((await load()).ledger.acknowledged).toBe(2);
    },
  );

  it('with a damaged header is refused with a hint to restore it', async () => {
    await writeFile(path, `{"kind":"header"}\n${JSON.stringify(settled())}\n`);
    await expect(load()).rejects.toMatchObject({
      message: `${path}:1: the header line is damaged`,
      hint: expect.stringContaining('restore the file from a backup') as string,
      exitCode: EXIT.nothingSent,
    });
  });

  it('restores ids.csv, including ids with characters that some programs treat as line breaks', async () => {
    await write(settled({ external_id: 'a\u2028b' }), settled({ external_id: 'c', entity_id: null }));
    await appendFile(path, '{"id":"torn');
    expect(await ids()).toBe('type,external_id,service_id\nlead/created,a\u2028b,e1\n');
  });

  it('appends to a complete ids.csv and writes an incomplete one again', async () => {
    await write(settled({ external_id: 'a' }), settled({ external_id: 'b', status: 'rejected', entity_id: null }));
    const whole = 'type,external_id,service_id\nlead/created,a,e1\n';
    const mine = whole.replace('e1', 'as it stood');
    for (const [before, after] of [
      [mine, mine],
      [`${mine}lead/created,torn`, whole],
      [mine.slice(0, -1), whole],
      ['type,external_id,service_id\n', whole],
      [`${mine}lead/created,too many,e2\n`, whole],
      ['', whole],
    ] as const) {
      await writeFile(`${path}.ids`, before);
      expect(await ids()).toBe(after);
    }
  });

  it('can have lines of several megabytes, and a torn last line of that size', async () => {
    const [first, last] = ['1', '2'].map((id) => JSON.stringify(settled({ external_id: id })));
    for (const length of [1 << 20, 5_000_000]) {
      const long = JSON.stringify(settled({ external_id: '3', fields: { note: 'x'.repeat(length) } }));
      await writeFile(path, `${first}\n${long}\n${last}\n${'y'.repeat(length)}`);
      const { ledger, tornBytes } = await load();
      expect(ledger.acknowledged).toBe(3);
      expect(tornBytes).toBe(length);
    }
  });

  it('is read completely when it takes several pieces', async () => {
    const lines = Array.from({ length: 20_000 }, (_, index) => JSON.stringify(settled({ external_id: `é${index}` })));
    await writeFile(path, `${lines.join('\n')}\n`);
    const { ledger } = await load();
    expect(ledger.acknowledged).toBe(20_000);
    expect(ledger.created(ledger.keyOf('lead/created', 'é19999', ''))).toBe('acknowledged');
  });
});
