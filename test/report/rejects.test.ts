import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Rejects } from '../../src/report/rejects.ts';
import { StateDir } from '../../src/state-dir.ts';
import { folderWith, openIn } from '../source/reading.ts';

const FAILED = { severity: 'error', kind: 'map', code: 'bad', message: 'bad' } as const;

/** Publishes one reject with this content, as a run does. */
async function publish(folder: string, content: string): Promise<Rejects> {
  const source = await openIn(folder, 'export.csv');
  const rejects = await Rejects.begin(await StateDir.create(folder), new Map([['it', source]]));
  await rejects.add({ source: 'it', file: 'export.csv', line: 2, record: 1 }, [content], [FAILED]);
  await rejects.close();
  await rejects.publish();
  return rejects;
}

function read(folder: string, name = 'it.csv'): string {
  return readFileSync(join(folder, 'rejects', name), 'utf8');
}

function visible(folder: string): string[] {
  return readdirSync(join(folder, 'rejects')).filter((name) => !name.startsWith('.'));
}

describe('rejects', () => {
  it('are readable only by their owner, and nothing else is left beside them', async () => {
    const folder = folderWith({ 'export.csv': 'ID\n1\n' });
    const { files, beside } = await publish(folder, 'a');
    expect([...files]).toEqual([['it', join(folder, 'rejects/it.csv')]]);
    expect(beside).toEqual([]);
    expect(statSync(join(folder, 'rejects')).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(join(folder, 'rejects'))) {
      expect(statSync(join(folder, 'rejects', name)).mode & 0o777).toBe(0o600);
    }
    expect(readdirSync(folder).sort()).toEqual(['export.csv', 'rejects']);
  });

  it.each(['before', 'after'])(
    'are recognised if a kill came just %s one content replaced the other',
    async (moment) => {
      const folder = folderWith({ 'export.csv': 'ID\n1\n' });
      const hashes: string[] = [];
      const contents: string[] = [];
      for (const content of ['a', 'b']) {
        await publish(folder, content);
        contents.push(read(folder));
        hashes.push(createHash('sha256').update(read(folder)).digest('hex'));
      }
      writeFileSync(join(folder, 'rejects/it.csv'), contents[moment === 'before' ? 0 : 1]!);
      writeFileSync(join(folder, 'rejects/.written.json'), JSON.stringify({ 'it.csv': hashes }));
      await publish(folder, 'c');
      expect(visible(folder)).toEqual(['it.csv']);
      expect(read(folder)).toContain('\nc,');
    },
  );

  it.each(['', '{"it.csv":7}', '[]', 'null'])(
    'count as changed by others if the record of them is %j',
    async (text) => {
      const folder = folderWith({ 'export.csv': 'ID\n1\n' });
      await publish(folder, 'a');
      writeFileSync(join(folder, 'rejects/.written.json'), text);
      const { beside } = await publish(folder, 'b');
      expect(read(folder)).toContain('\na,');
      expect(read(folder, 'it.2.csv')).toContain('\nb,');
      expect(beside).toEqual([{ usual: join(folder, 'rejects/it.csv'), path: join(folder, 'rejects/it.2.csv') }]);
    },
  );

  it('go back to their usual name once it is free, and leave no older ones', async () => {
    const folder = folderWith({ 'export.csv': 'ID\n1\n' });
    mkdirSync(join(folder, 'rejects'));
    writeFileSync(join(folder, 'rejects/it.csv'), 'mine');
    await publish(folder, 'a');
    expect(visible(folder).sort()).toEqual(['it.2.csv', 'it.csv']);
    expect(read(folder)).toBe('mine');
    writeFileSync(join(folder, 'rejects/mine.csv'), 'mine');
    rmSync(join(folder, 'rejects/it.csv'));
    await publish(folder, 'b');
    expect(visible(folder).sort()).toEqual(['it.csv', 'mine.csv']);
  });
});
