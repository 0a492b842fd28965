/**
 * Programs for comparison, and single parts of this program: `programs.mjs NAME ARGUMENT...`. Each is as short as one
 * would write it by hand.
 */
import { once } from 'node:events';
import { createReadStream, createWriteStream, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import type * as fields from '../../src/store/field-hashes.ts';
import type * as load from '../../src/checkpoint/load.ts';
import type * as mappings from '../../src/mapping/load.ts';
import type * as halting from '../../src/halt.ts';
import type * as survey from '../../src/plan/survey.ts';
import type * as options from '../../src/settings.ts';
import type * as directories from '../../src/state-dir.ts';

const programs: Record<string, (...args: string[]) => Promise<void>> = {
  /** Bare csv-parse, arrays. */
  async csv(path = '') {
    const { parse } = await import('csv-parse');
    let cells = 0;
    for await (const row of createReadStream(path).pipe(parse({ bom: true }))) cells += (row as string[]).length;
    say(cells);
  },

  /** csv-parse, and Segment's mapping-kit for the parts of the mapping that it supports. */
  async mappingKit(path = '') {
    const { parse } = await import('csv-parse');
    // Its ES modules do not load in Node.
    const { transform } = createRequire(import.meta.url)('@segment/actions-core') as {
      transform: (mapping: object, row: unknown) => object;
    };
    const mapping = {
      external_id: { '@path': '$.id' },
      full_name: { '@template': '{{first}} {{last}}' },
      email: { '@case': { operator: 'lower', value: { '@path': '$.email' } } },
      phone_number: { '@path': '$.phone' },
      custom_params: { city: { '@path': '$.city' }, note: { '@path': '$.note' }, stage: { '@path': '$.stage' } },
      occurred_at: { '@path': '$.date' },
    };
    let fields = 0;
    for await (const row of createReadStream(path).pipe(parse({ bom: true, columns: true }))) {
      fields += Object.keys(transform(mapping, row)).length;
    }
    say(fields);
  },

  /** Bare @streamparser/json over a top-level array. */
  async json(path = '') {
    const { JSONParser } = await import('@streamparser/json');
    const parser = new JSONParser({ paths: ['$.*'], keepStack: false });
    let records = 0;
    parser.onValue = () => void (records += 1);
    for await (const chunk of createReadStream(path)) parser.write(chunk as Buffer);
    say(records);
  },

  /** Bare JSON.parse line by line, as in Node's documentation. */
  async ndjson(path = '') {
    let records = 0;
    const lines = createInterface({ input: createReadStream(path), crlfDelay: Infinity });
    for await (const line of lines) if (JSON.parse(line)) records += 1;
    say(records);
  },

  /** The same, with lines split from large chunks by hand. */
  async ndjsonByHand(path = '') {
    let records = 0;
    await eachLine(path, (line) => {
      if (JSON.parse(line)) records += 1;
    });
    say(records);
  },

  /** Loads a checkpoint into a Map with JSON.parse, line by line. */
  async parseCheckpoint(path = '') {
    const settled = new Map<string, string>();
    await eachLine(path, (text) => {
      const line = JSON.parse(text) as Record<string, string>;
      if (line['kind'] === undefined) settled.set(`${line['type']} ${line['external_id']}`, line['content_sha']!);
    });
    say(settled.size);
  },

  async loadCheckpoint(path = '', dist = '') {
    const { loadCheckpoint } = (await import(`${dist}/checkpoint/load.js`)) as typeof load;
    const { FieldHasher } = (await import(`${dist}/checkpoint/field-hashes.js`)) as typeof fields;
    say((await loadCheckpoint(path, { keepFields: false, hasher: FieldHasher.random() })).ledger.settled);
  },

  /** Bytes that a survey leaves in memory, on the heap and outside it. */
  async retained(mapping = '', dist = '', directory = '') {
    const { records, plan } = await surveyed(mapping, dist, directory);
    for (let time = 0; time < 3; time += 1) globalThis.gc!();
    const { heapUsed, external, arrayBuffers } = process.memoryUsage();
    say(JSON.stringify({ events: records.mapped, bytes: heapUsed + external + arrayBuffers }));
    plan.file.close();
  },

  /** Appends to a checkpoint what a run appends if every event of the input is acknowledged. */
  async acknowledge(mapping = '', dist = '', directory = '', path = '') {
    const { plan } = await surveyed(mapping, dist, directory);
    const { FieldHasher } = (await import(`${dist}/checkpoint/field-hashes.js`)) as typeof fields;
    const hasher = FieldHasher.random();
    const file = createWriteStream(path, { flags: 'a' });
    const at = new Date().toISOString();
    let text = '';
    for (const ordinal of plan.inState('lead/created', 'ready')) {
      const event = plan.read('lead/created', ordinal);
      const id = plan.idOf(event, ordinal);
      const about = { id, type: event.type, external_id: event.externalId };
      const settled = { status: 'acknowledged', outcome: 'created', entity_id: id, code: null };
      const content = { content_sha: event.sha };
      text += `${JSON.stringify({ kind: 'sent', ...about, ...content })}\n`;
      text += `${JSON.stringify({ ...about, ...settled, ...content, fields: hasher.hashesOf(event.data), at })}\n`;
      if (text.length < 1 << 20) continue;
      if (!file.write(text)) await once(file, 'drain');
      text = '';
    }
    file.end(text);
    await once(file, 'close');
    plan.file.close();
  },

  /** A bare undici loop: posts the bodies in a file, one per line, `concurrency` at a time, and prints the seconds it took. */
  async post(path = '', url = '', concurrency = '') {
    const { Agent, request } = await import('undici');
    const bodies = readFileSync(path, 'utf8').trimEnd().split('\n');
    const dispatcher = new Agent({ connections: Number(concurrency) });
    const headers = {
      'content-type': 'application/json',
      'x-suppress-triggers': 'true',
      'x-api-key': process.env.BACKFILL_API_KEY!,
    };
    let next = 0;
    const lane = async (): Promise<void> => {
      while (next < bodies.length) {
        const body = bodies[next]!;
        next += 1;
        const reply = await request(url, { method: 'POST', body, headers, dispatcher });
        const text = await reply.body.text();
        if (reply.statusCode !== 200) throw new Error(`${reply.statusCode} ${text}`);
        JSON.parse(text);
      }
    };
    const start = performance.now();
    await Promise.all(Array.from({ length: Number(concurrency) }, lane));
    say((performance.now() - start) / 1000);
    await dispatcher.close();
  },
};

async function surveyed(mapping: string, dist: string, directory: string): Promise<survey.Survey> {
  const { loadCheckpoint } = (await import(`${dist}/checkpoint/load.js`)) as typeof load;
  const { loadMapping } = (await import(`${dist}/mapping/load.js`)) as typeof mappings;
  const { surveyInput } = (await import(`${dist}/plan/survey.js`)) as typeof survey;
  const { StateDir } = (await import(`${dist}/state-dir.js`)) as typeof directories;
  const { Halt } = (await import(`${dist}/halt.js`)) as typeof halting;
  const { runSettings } = (await import(`${dist}/settings.js`)) as typeof options;
  const { FieldHasher } = (await import(`${dist}/checkpoint/field-hashes.js`)) as typeof fields;
  const state = await StateDir.create(directory);
  const hasher = FieldHasher.random();
  return surveyInput({
    settings: runSettings({ mapping, dryRun: true, offline: true }),
    mapping: await loadMapping(mapping, { sources: new Map() }),
    account: undefined,
    checkpoint: await loadCheckpoint(state.file('checkpoint.ndjson'), { keepFields: false, hasher }),
    state,
    output: state,
    halt: new Halt(),
    contacts: undefined,
    client: undefined,
    warn: () => undefined,
    agree: async () => undefined,
  });
}

async function eachLine(path: string, take: (line: string) => void): Promise<void> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) {
    const bytes = Buffer.concat([rest, chunk as Buffer]);
    let start = 0;
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
      take(bytes.toString('utf8', start, end));
      start = end + 1;
    }
    rest = bytes.subarray(start);
  }
}

function say(result: string | number): void {
  process.stdout.write(`${result}\n`);
}

const [name = '', ...args] = process.argv.slice(2);
await programs[name]!(...args);
