import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { messageOf } from '../../src/errors.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import type { Mapping } from '../../src/mapping/mapping.ts';
import type { Invalid, Issue, Ready, Row } from '../../src/model.ts';
import { outlineOf, type Outline } from '../../src/pipeline/outline.ts';
import { noteOf } from '../../src/pipeline/profile-note.ts';
import { readThrough } from '../../src/pipeline/read.ts';
import { Resolver } from '../../src/pipeline/resolve.ts';
import { seemsLarge } from '../../src/pipeline/thread/begin.ts';
import { Packer, Unpacker } from '../../src/pipeline/thread/packed.ts';
import { readWithThread } from '../../src/pipeline/thread/read.ts';
import { NOT_HERE, packRows, packSpec } from '../../src/pipeline/thread/tasks.ts';
import { unpackSpec } from '../../src/pipeline/thread/serve.ts';
import type { MappingThread } from '../../src/pipeline/thread/thread.ts';
import type { Account } from '../../src/service/account.ts';
import { openSource } from '../../src/source/index.ts';
import type { Source } from '../../src/source/source.ts';
import { csv, FORMS, MAPPING } from './troubled.ts';

// A thread runs the program as built.
const built = '../../dist/pipeline/thread/thread.js';
const { MappingThread: Thread } = (await import(built)) as { readonly MappingThread: typeof MappingThread };

const ROOT = join(import.meta.dirname, '../..');

const ACCOUNT: Account = {
  pipelines: [{ id: 'p', name: 'Sales', type: 'DEAL', stages: [{ id: 'stage-new', name: 'New' }] }],
  users: [{ id: 'user-ada', names: ['Ada'] }],
};

interface Opened {
  readonly mapping: Mapping;
  readonly source: Source;
  readonly resolver: Resolver;
  readonly sources: ReadonlyMap<string, Source>;
}

async function opened(name: string, text: string, mappingText = MAPPING): Promise<Opened> {
  const directory = await mkdtemp(join(tmpdir(), 'backfill-thread-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  await writeFile(join(directory, name), text);
  const path = join(directory, 'mapping.yaml');
  await writeFile(path, mappingText.replace('FILE', name));
  const mapping = await loadMapping(path);
  const source = await openSource(mapping.sources[0]!);
  const sources = new Map([[source.name, source]]);
  return { mapping, source, resolver: new Resolver(ACCOUNT, mapping.references), sources };
}

async function started(
  { mapping, sources }: Opened,
  trouble: (message: string) => void = () => undefined,
): Promise<MappingThread | undefined> {
  const thread = Thread.start({ mapping, sources, account: ACCOUNT, trouble });
  if (thread) onTestFinished(() => thread.close());
  while (thread && !thread.isReady && !thread.isLost) await setTimeout(20);
  return thread;
}

/** What is known of an event in every reading: its outline, or what there is to tell. */
interface Told {
  readonly line: number;
  readonly outline?: Outline;
  readonly issues?: readonly Issue[];
}

function told(event: Ready | Invalid, { place }: Row): Told {
  const outline = outlineOf(event);
  if (outline) return { line: place.line, outline };
  return { line: place.line, issues: event.issues, ...(event.kind === 'ready' && { note: noteOf(event) }) };
}

async function read(job: Opened, thread?: MappingThread, closeAfter = Infinity) {
  const events: Told[] = [];
  const items: [line: number, events: number][] = [];
  let [outlined, batches] = [0, 0];
  const { entries } = await job.mapping.compile(job.sources);
  const reader = {
    goesOn: () => true,
    item: ({ place }: { place: Row['place'] }, count: number) => void items.push([place.line, count]),
    event: ({ event, row }: { event: Ready | Invalid; row: Row }) => void events.push(told(event, row)),
    async batch() {
      batches += 1;
      if (batches === closeAfter) await thread?.close();
    },
  };
  const outline = (of: Outline, row: Row, whole: () => Ready): void => {
    outlined += 1;
    events.push({ line: row.place.line, outline: of });
    if (outlined % 50 === 0) expect(told(whole(), row).outline).toEqual(of);
  };
  if (thread) await readWithThread(job.source, entries, job.resolver, { ...reader, outline }, thread);
  else await readThrough(job.source, entries, job.resolver, reader);
  return { events, items, outlined, digests: job.source.digests() };
}

describe('a second thread that maps', () => {
  it.each(FORMS)('%s gives the same events in the same order', async (name, text) => {
    const job = await opened(name, text());
    const alone = await read(job);
    const helped = await read(job, await started(job));
    expect(helped.outlined).toBeGreaterThan(1000);
    expect(alone.events.filter(({ issues }) => issues).length).toBeGreaterThan(1000);
    expect({ ...helped, outlined: 0 }).toEqual(alone);
  });

  it('may be lost on the way: what it has not answered is mapped here', async () => {
    const job = await opened('records.csv', csv());
    const alone = await read(job);
    const helped = await read(job, await started(job), 8);
    expect(helped.outlined).toBeGreaterThan(0);
    expect(helped.outlined).toBeLessThan(15_000);
    expect({ ...helped, outlined: 0 }).toEqual(alone);
  });

  it('tells of a file that is damaged what one thread tells: the first fault', async () => {
    const [name, text] = FORMS[1]!;
    const fault = text().replace('"id":"L-20000"', '"id":L-20000');
    for (const damaged of [fault, fault.slice(0, -10)]) {
      const job = await opened(name, damaged);
      const alone = await read(job).catch(messageOf);
      expect(alone).toMatch(/records\.json:1:\d+: .*expected/i);
      expect(await read(job, await started(job)).catch(messageOf)).toBe(alone);
    }
  });

  it('may be begun ahead', async () => {
    const job = await opened('records.csv', csv());
    const alone = await read(job);
    Thread.begin();
    const helped = await read(job, await started(job));
    expect(helped.outlined).toBeGreaterThan(1000);
    expect({ ...helped, outlined: 0 }).toEqual(alone);
  });

  it('seems worth beginning for a mapping, or words of the command line, that name a large file', async () => {
    const { file } = (await opened('my records.csv', csv())).mapping;
    const large = join(dirname(file), 'my records.csv');
    const small = join(dirname(file), 'small.yaml');
    await writeFile(small, '{ "sources": { "a": { "path": "none.csv" }, "b": { "path": "../*.csv" } } }');
    expect(seemsLarge(file, [file, '--dry-run'])).toBe(true);
    expect(seemsLarge(small, [small, '--dry-run'])).toBe(false);
    expect(seemsLarge(small, [small, '--source', `a=${large}`])).toBe(true);
    await writeFile(small, '{ "sources": { "a": { "path": "my records.csv" } } }');
    expect(seemsLarge(small, [small])).toBe(true);
    expect(seemsLarge(join(file, 'none.yaml'), ['x\0y'])).toBe(false);
  });

  it('is not begun for a small input, for lookups and for expressions', async () => {
    const begun = async (name: string, text: string, mapping?: string): Promise<boolean> => {
      const job = await opened(name, text, mapping);
      const thread = Thread.start({ ...job, account: ACCOUNT, trouble: () => undefined });
      await thread?.close();
      return thread !== undefined;
    };
    const lookup = 'full_name: { lookup: { source: records, match: id, with: id, take: name } }';
    const expression = "full_name: { from: name, apply: [{ jsonata: '$uppercase($)' }] }";
    expect(await begun('records.csv', csv())).toBe(true);
    expect(await begun('records.csv', csv().slice(0, 100_000))).toBe(false);
    expect(await begun('records.csv', csv(), MAPPING.replace('full_name: name', lookup))).toBe(false);
    expect(await begun('records.csv', csv(), MAPPING.replace('full_name: name', expression))).toBe(false);
  });
});

describe('a message between threads', () => {
  it('leaves records out beyond a length that a text may have', () => {
    const place = { source: 's', file: 's.csv', line: 1, record: 1 };
    const items = [6, 6, 6, 6].map((mega) => ({
      ...{ kind: 'row' as const, place, issues: [] },
      raw: ['x'.repeat(mega * 1024 * 1024)],
    }));
    const rows = new Unpacker(packRows('s', items));
    for (const item of items.slice(0, 3)) {
      expect(rows.number()).toBe(1);
      expect(rows.string()).toBe(item.raw[0]);
    }
    expect(rows.number()).toBe(NOT_HERE);
    expect(rows.isDone).toBe(true);
  });

  it('brings the mapping of every fixture and preset, and constants with all their digits', async () => {
    const loaded = [];
    for (const folder of ['fixtures', 'mappings']) {
      for (const path of await readdir(join(ROOT, folder), { recursive: true })) {
        if (path.endsWith('.yaml')) loaded.push(await loadMapping(join(ROOT, folder, path)).catch(() => undefined));
      }
    }
    const constants = MAPPING.replace(
      'note: note',
      'a: { value: 5.10 }, b: { value: 9007199254740993 }, c: { value: "7" }',
    );
    const { mapping } = await opened('records.csv', csv(), constants);
    const specs = [...loaded, mapping].flatMap((each) => each?.spec ?? []);
    expect(specs.length).toBeGreaterThan(30);
    for (const spec of specs) expect(unpackSpec(packSpec(spec))).toEqual(spec);
  });

  it('gives back texts and numbers in their order', () => {
    const packer = new Packer();
    const texts = Array.from({ length: 9000 }, (_, index) => ['', 'plain', 'é', '漢字 🙂', '\ud83d'][index % 5]!);
    for (const [index, text] of texts.entries()) {
      packer.string(text);
      packer.number(index - 5000);
    }
    const unpacker = new Unpacker(packer.take());
    for (const [index, text] of texts.entries()) {
      expect(unpacker.string()).toBe(text);
      expect(unpacker.number()).toBe(index - 5000);
    }
    expect(unpacker.isDone).toBe(true);
    expect(new Unpacker(packer.take()).isDone).toBe(true);
  });
});
