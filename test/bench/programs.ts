/**
 * Programs for comparison, and single parts of this program: `programs.mjs NAME ARGUMENT...`. Each is as short as one
 * would write it by hand.
 */
import { createReadStream, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type * as events from '../../src/plan/events.ts';
import type * as identities from '../../src/core/identity.ts';
import type * as core from '../../src/core/known.ts';
import type * as wants from '../../src/plan/known/wanted.ts';
import type * as sending from '../../src/send/log.ts';
import type * as directories from '../../src/files/state-dir.ts';
import type * as checkpoints from '../../src/store/checkpoint.ts';
import type * as plans from '../../src/survey/plan-file.ts';
import type * as policies from '../../src/mapping/policies.ts';

const programs: Record<string, (...args: string[]) => Promise<void>> = {
  /** Bare csv-parse, arrays. */
  async csv(path = '') {
    const { parse } = await import('csv-parse');
    let cells = 0;
    for await (const row of createReadStream(path).pipe(parse({ bom: true }))) cells += (row as string[]).length;
    say(cells);
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

  /** Writes the checkpoint that a run leaves which has sent every event of the last dry run's plan. */
  async acknowledge(directory = '', migration = '', baseUrl = '', dist = '') {
    const { StateDir } = (await import(`${dist}/files/state-dir.js`)) as typeof directories;
    const { openCheckpoint, openFieldHasher } = (await import(`${dist}/store/checkpoint.js`)) as typeof checkpoints;
    const { openPlan } = (await import(`${dist}/survey/plan-file.js`)) as typeof plans;
    const { SendLog } = (await import(`${dist}/send/log.js`)) as typeof sending;
    const { answered, opened, NOTHING_KNOWN } = (await import(`${dist}/core/known.js`)) as typeof core;
    const { wantedOf } = (await import(`${dist}/plan/wanted.js`)) as typeof wants;
    const { EVENT_ROWS, pagesOf } = (await import(`${dist}/plan/events.js`)) as typeof events;
    const identity = (await import(`${dist}/core/identity.js`)) as typeof identities;
    const { policiesOf } = (await import(`${dist}/mapping/policies.js`)) as typeof policies;
    const state = await StateDir.existing(directory);
    openCheckpoint(state).close();
    const db = openPlan(state, await StateDir.existing(`${directory}/dry-run`));
    const hasher = openFieldHasher(db, { dryRun: false });
    const log = new SendLog(db, hasher);
    const all = Array.from({ length: 50 }, () => policiesOf({ type: 'lead/created' }));
    const rows = `${EVENT_ROWS} where e.id > ? order by e.id limit 500`;
    db.transaction(() => {
      const account = { pipelines: [], users: [] } as unknown as sending.RunStart['account'];
      log.begin({ migration, baseUrl, account, mappingSha256: '', inputs: [], isAdopted: false });
      for (const page of pagesOf<events.EventRow>(db, rows)) {
        for (const row of page) {
          const { type, entity, external_id: id, data: content } = row;
          const wanted = wantedOf(row, all, hasher);
          const eventId = identity.eventId({ migration, type, externalId: id!, content });
          const record = { entity, external_id: id!, type, wanted };
          const request = { kind: 'create', id: eventId, fields: Object.fromEntries(wanted.fields) } as const;
          const delivery = {
            id: eventId,
            type,
            externalId: id!,
            content,
            mayHaveArrivedBefore: false,
            wasRejected: false,
            place: 1,
          };
          const answer = {
            ...({ kind: 'acknowledged', outcome: 'created', serviceId: eventId } as const),
            ...{ deduplicated: false, mayHaveArrived: false, attempts: 1 },
          };
          const circumstances = { content: wanted.content, isShown: () => true, isAdopted: false };
          log.opened(record, opened(NOTHING_KNOWN, request), delivery);
          const known = answered(NOTHING_KNOWN, request, answer, circumstances);
          log.answered(record, known, delivery, answer, { isAcknowledged: true, code: undefined });
        }
      }
    });
    db.close();
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

function say(result: string | number): void {
  process.stdout.write(`${result}\n`);
}

const [name = '', ...args] = process.argv.slice(2);
await programs[name]!(...args);
