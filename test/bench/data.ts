/** The inputs of the benchmarks, the same on every machine. */
import { createWriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { join } from 'node:path';

const COLUMNS = 'id,first,last,email,phone,amount,date,stage,owner,city,note,extra'.split(',');

/** Minutes of an office day: no date falls into an hour that a daylight saving change skips. */
const MINUTES_A_DAY = 12 * 60;

/** Record number `index`: twelve cells, with a distinct phone number and a date in a distinct minute. */
function cells(index: number): string[] {
  const minutes = Math.floor(index / MINUTES_A_DAY) * 24 * 60 + 8 * 60 + (index % MINUTES_A_DAY);
  const date = new Date(Date.UTC(2019, 0, 1) + minutes * 60_000).toISOString();
  return [
    String(index),
    `First${index % 5000}`,
    `Last${index}`,
    `User${index}@example.test`,
    `+39 06 ${10_000_000 + index}`,
    `"${(index * 1.01).toFixed(2)}"`,
    `${date.slice(0, 10)} ${date.slice(11, 16)}`,
    ['New', 'Won', 'Lost'][index % 3]!,
    ['Ada', 'Bob'][index % 2]!,
    ['Roma', 'Milano', 'Torino'][index % 3]!,
    `some note text ${index}`,
    'x',
  ];
}

async function write(path: string, pieces: Iterable<string>): Promise<string> {
  const file = createWriteStream(path);
  let text = '';
  for (const piece of pieces) {
    text += piece;
    if (text.length < 1 << 20) continue;
    if (!file.write(text)) await once(file, 'drain');
    text = '';
  }
  file.end(text);
  await once(file, 'close');
  return path;
}

function* chained(...parts: Iterable<string>[]): Generator<string> {
  for (const part of parts) yield* part;
}

function* map(count: number, line: (index: number) => string): Generator<string> {
  for (let index = 0; index < count; index += 1) yield line(index);
}

function object(index: number): string {
  const values = cells(index).map((cell) => cell.replaceAll('"', ''));
  return JSON.stringify(Object.fromEntries(COLUMNS.map((name, at) => [name, values[at]])));
}

/** One table of this many records in each format, and a mapping of eight fields for it. */
export async function writeInput(directory: string, format: 'csv' | 'json' | 'ndjson', count: number): Promise<Input> {
  const name = `${format}-${count}`;
  const path = join(directory, `${name}.${format}`);
  if (format === 'csv') {
    await write(
      path,
      chained(
        [`${COLUMNS.join(',')}\n`],
        map(count, (index) => `${cells(index).join(',')}\n`),
      ),
    );
  } else if (format === 'ndjson')
    await write(
      path,
      map(count, (index) => `${object(index)}\n`),
    );
  else
    await write(
      path,
      map(count, (index) => `${index === 0 ? '[' : ','}\n${object(index)}${index + 1 === count ? ']' : ''}`),
    );
  const mapping = join(directory, `${name}.yaml`);
  await writeFile(mapping, mappingOf(name, path));
  return { path, mapping, name };
}

export interface Input {
  readonly path: string;
  readonly mapping: string;
  readonly name: string;
}

function mappingOf(name: string, path: string): string {
  return `version: 1
migration: bench-${name}
defaults: { region: IT, timezone: Europe/Rome }
sources: { records: { path: ${path} } }
events:
  - type: lead/created
    source: records
    occurred_at: { from: date, apply: [{ date: yyyy-MM-dd HH:mm }] }
    data:
      external_id: id
      full_name: { list: [first, last], apply: [{ join: ' ' }] }
      email: { from: email, apply: [lowercase] }
      phone_number: { from: phone, apply: [phone] }
      custom_params: { city: city, note: note, stage: stage }
`;
}

/** The bodies of this many events, as this program would send them. */
export function writeBodies(directory: string, count: number): Promise<string> {
  const lines = map(count, (index) => {
    const [id, first, last, email, , , , stage, , city, note] = cells(index);
    const data = {
      custom_params: { city, note, stage },
      email: email!.toLowerCase(),
      external_id: id,
      full_name: `${first} ${last}`,
      phone_number: `+3906${10_000_000 + index}`,
    };
    const uuid = `00000000-0000-5000-8000-${String(index).padStart(12, '0')}`;
    return `${JSON.stringify({ data, id: uuid, suppress_triggers: true, type: 'lead/created' })}\n`;
  });
  return write(join(directory, 'bodies.ndjson'), lines);
}
