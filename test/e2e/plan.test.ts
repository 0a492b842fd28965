// Lost without it: another plan could be sent than the one that was approved.
import { appendFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.ts';
import { useFastClock } from '../clock.ts';
import { mapping, project, rowsIn, type Body, type Project } from './harness.ts';

useFastClock();

interface Line extends Pick<Body, 'type' | 'occurred_at'> {
  readonly external_id?: string;
  readonly data: JsonObject;
  readonly source: string;
  readonly file: string;
  readonly line: number;
  readonly record: number;
  readonly raw: readonly string[];
}

/** The events that could be sent. */
async function planIn(directory: string): Promise<Line[]> {
  const rows = await rowsIn<Line & { data: string; raw: string }>(
    directory,
    `select * from events where state not in ('invalid', 'duplicate')`,
  );
  return rows.map((row) => ({
    ...row,
    data: JSON.parse(row.data) as JsonObject,
    raw: JSON.parse(row.raw) as string[],
  }));
}

function essence({ type, occurred_at, data }: Pick<Body, 'type' | 'occurred_at' | 'data'>): string {
  return JSON.stringify([type, occurred_at ?? null, data]);
}

const PEOPLE = ['1,Ann,5.10', '2,Bob,7', '3,Cid,00123', '4,Dan,9'];
const csv = (rows: readonly string[]): string => `id,name,size\n${rows.join('\n')}\n`;

/** Four people. `rewrite`: with these rows in their place; `digest`: of the plan of a dry run now. */
async function people() {
  const data = 'external_id: id, full_name: name, custom_params: { size: size }';
  const p = await project({
    'mapping.yaml': mapping({ people: `type: lead/created, data: { ${data} }` }),
    'people.csv': csv(PEOPLE),
  });
  return {
    ...p,
    rewrite: (rows: readonly string[]) => p.write({ 'people.csv': csv(rows) }),
    digest: () => digestOf(p),
  };
}

async function digestOf({ summary }: Project): Promise<string> {
  return (await summary('--dry-run')).plan.digest!;
}

describe('plan.db', () => {
  it('has every event that can be sent, exactly as it is sent, together with its record', async () => {
    const { summary: run, sent, state, read } = await project('demo');
    const summary = await run();
    const plan = await planIn(state());
    expect(sent().length).toBe(summary.this_run.events_sent);
    const planned = plan.map(essence);
    expect(
      sent()
        .map(essence)
        .filter((event) => !planned.includes(event)),
    ).toEqual([]);
    const { total, duplicates, invalid } = summary.events;
    expect(plan).toHaveLength(total - duplicates - invalid);
    expect(summary.plan).toMatchObject({ events: plan.length });
    for (const { external_id: id, data } of plan) expect(id).toBe(data.external_id);
    const first = plan.find(({ line }) => line === 2)!;
    expect(first).toMatchObject({ source: 'contacts', file: 'contacts.csv', record: 1 });
    expect((await read('contacts.csv')).split('\n')[first.line - 1]).toContain(first.raw[0]);
    expect((await stat(state('plan.db'))).mode & 0o777).toBe(0o600);
  });
});

describe('--plan', () => {
  it('sends the plan with the digest that the dry run printed, and resumes it', async () => {
    const { run, summary, stoppedAfter } = await people();
    const { stderr } = await run('--dry-run');
    const [, digest = ''] = /--plan ([0-9a-f]{12})\b/.exec(stderr)!;
    expect(stderr).toContain(`plan ${digest}`);
    const first = await stoppedAfter(2, '--plan', digest);
    expect(first.exit.code).toBe(3);
    expect(first.events.acknowledged).toBeLessThan(4);
    expect(await summary('--plan', digest)).toMatchObject({
      exit: { code: 0 },
      events: { acknowledged: 4 },
      plan: { digest, events: 4 },
    });
  });

  it('has the same digest for any order of the rows, and with additional rows that are not sent', async () => {
    const { digest, rewrite } = await people();
    const first = await digest();
    for (const [rows, isSame] of [
      [[...PEOPLE].reverse(), true],
      [[...PEOPLE, '2,Bob,7'], true],
      [[...PEOPLE, '5,Eve,1'], false],
      [PEOPLE.map((row) => row.replace('Bob', 'Rob')), false],
    ] as const) {
      await rewrite(rows);
      expect((await digest()) === first, rows.join()).toBe(isSame);
    }
  });

  it('sends nothing of another plan, and reports the difference', async () => {
    const { cwd, digest, rewrite, run, posts } = await people();
    const plan = ['--plan', await digest()];
    await appendFile(join(cwd, 'people.csv'), '9,Zoe,1\n');
    expect((await run(...plan)).stderr).toContain('events added: 1, removed: 0, changed: 0');
    await rewrite(['1,Ann,5.10', '2,Rob,7', '5,Eve,1', '6,Fay,2', '4,Dan,9']);
    for (const options of [[], ['--dry-run']]) {
      const ended = await run(...plan, ...options);
      expect(ended.code).toBe(2);
      expect(ended.stderr).toContain('events added: 2, removed: 1, changed: 1');
    }
    expect(posts()).toBe(0);
    await rewrite(PEOPLE);
    expect((await run(...plan)).code).toBe(0);
  });

  it.each([
    ['abcdefabcdef', 'no stored plan has that digest'],
    ['yes', '12 hexadecimal digits'],
  ])('is refused if it is %s', async (digest, why) => {
    const { run, posts } = await people();
    const refused = await run('--plan', digest);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(why);
    expect(posts()).toBe(0);
  });
});
