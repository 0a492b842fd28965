/**
 * Programs for comparison, and single parts of this program: `programs.mjs NAME ARGUMENT...`. Each is as short as one
 * would write it by hand.
 */
import { createReadStream, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const programs: Record<string, (...args: string[]) => Promise<void>> = {
  /** Bare csv-parse, arrays. */
  async csv(path = '') {
    const { parse } = await import('csv-parse');
    let cells = 0;
    for await (const row of createReadStream(path).pipe(parse({ bom: true }))) cells += (row as string[]).length;
    say(cells);
  },

  /** Bare JSON.parse line by line, as in Node's documentation. */
  async ndjson(path = '') {
    let records = 0;
    const lines = createInterface({ input: createReadStream(path), crlfDelay: Infinity });
    for await (const line of lines) if (JSON.parse(line)) records += 1;
    say(records);
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
