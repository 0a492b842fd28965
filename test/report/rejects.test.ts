// Lost without it: a file of a person in `rejects/` could be overwritten, or a skipped row not be listed.
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { StateDir } from '../../src/files/state-dir.ts';
import { writeRejects } from '../../src/report/files/rejects.ts';
import { openPlan } from '../../src/survey/plan-file.ts';
import { mapping, project, rowsIn, summaryOf } from '../e2e/harness.ts';
import { folderWith } from '../input/reading.ts';
import { StateOf } from '../state.ts';

/** A state directory with one reject, of a source `it`. */
async function stateWith(content: string, folder = folderWith({})): Promise<StateDir> {
  const given = await StateOf.create(folder);
  given.source('it', ['ID']);
  given.problem(given.event('lead/created', null, null, { state: 'invalid', raw: [content] }), 'bad', 'bad');
  return given.close();
}

/** Writes the rejects with this content, as the end of a run does. */
async function publish(state: StateDir, content: string): ReturnType<typeof writeRejects> {
  const db = openPlan(state, state);
  db.run('update record set raw = ?', JSON.stringify([content]));
  try {
    return await writeRejects(db, state);
  } finally {
    db.close();
  }
}

function read(state: StateDir, name = 'it.csv'): string {
  return readFileSync(join(state.path, 'rejects', name), 'utf8');
}

function visible(state: StateDir): string[] {
  return readdirSync(join(state.path, 'rejects')).sort();
}

describe('rejects', () => {
  it('are readable only by their owner, and nothing else is left beside them', async () => {
    const state = await stateWith('a');
    const before = readdirSync(state.path);
    expect(await publish(state, 'a')).toEqual([]);
    expect(statSync(join(state.path, 'rejects')).mode & 0o777).toBe(0o700);
    expect(visible(state)).toEqual(['it.csv']);
    expect(statSync(join(state.path, 'rejects/it.csv')).mode & 0o777).toBe(0o600);
    const isOfDatabase = (name: string): boolean => /-(?:wal|shm)$/.test(name);
    expect(
      readdirSync(state.path)
        .filter((name) => !isOfDatabase(name))
        .sort(),
    ).toEqual([...before.filter((name) => !isOfDatabase(name)), 'rejects'].sort());
  });

  it('go back to their usual name once it is free, and leave no older ones', async () => {
    const state = await stateWith('a');
    mkdirSync(join(state.path, 'rejects'));
    writeFileSync(join(state.path, 'rejects/it.csv'), 'mine');
    await publish(state, 'a');
    expect(visible(state)).toEqual(['it.2.csv', 'it.csv']);
    expect(read(state)).toBe('mine');
    writeFileSync(join(state.path, 'rejects/mine.csv'), 'mine');
    rmSync(join(state.path, 'rejects/it.csv'));
    await publish(state, 'b');
    expect(visible(state)).toEqual(['it.csv', 'mine.csv']);
  });
});

/** Rows that become no event: said by source and reason, listed one by one, and never called "no problems". */
const MAPPING = mapping({
  people:
    'type: lead/created, when: { all: [{ from: kind, equals: lead }, { from: name, not_in: [P0, P9] }] }, ' +
    'data: { external_id: id, full_name: name }',
  log: 'type: comment/created, each: notes, if_parent_missing: skip, data: { external_id: id, content: text, lead_external_id: $.lead }',
}).replace('log.csv', 'log.json');
const PEOPLE = `id,name,kind\n${Array.from({ length: 10 }, (_, n) => `${n},P${n},${n < 3 ? 'other' : 'lead'}\n`).join('')}Total,10,\n`;
const LOG = JSON.stringify([
  { lead: '5', notes: [{ id: 'a', text: 'kept' }] },
  { lead: '6', notes: [] },
  { lead: '77', notes: [{ id: 'b', text: 'of nobody' }] },
]);

it('rows that are skipped are counted by source and reason, on the screen, in the summary, in left_out.csv and on the page', async () => {
  const { run, stored } = await project({ 'mapping.yaml': MAPPING, 'people.csv': PEOPLE, 'log.json': LOG });
  const ended = await run('--dry-run');
  const summary = summaryOf(ended);
  expect(summary.records).toMatchObject({ read: 14, mapped: 7, skipped: 7 });
  expect(summary.skipped).toEqual({ people: { when: 4, footer: 1 }, log: { each: 1, orphan: 1 } });
  expect(summary.warnings_by_code).toMatchObject({ rows_skipped: 7 });
  expect(ended.stderr).not.toContain('no problems');
  expect(ended.stderr).toMatch(/Rows skipped[^]*people +`kind` is not `lead` \(2\), [^]* 4 +11\n[^]*log .* 1 +3\n/);
  // The comment whose parent is not sent is one of them, and no value that was left out.
  expect(ended.stderr).not.toContain('(record)');
  const listed = await stored('dry-run/left_out.csv');
  expect(listed.trim().split(/\r?\n/)).toHaveLength(8);
  expect(listed).toMatch(/^people,.*people\.csv,12,,,,.*totals/m);
  // Each condition that does not hold is named.
  expect(listed).toMatch(/^people,.*people\.csv,2,0,,,.*`when`\): `kind` is not `lead`; `name` is `P0` or `P9`/m);
  expect(listed).toMatch(/^people,.*people\.csv,3,1,,,.*`when`\): `kind` is not `lead`"?$/m);
  expect(listed).toMatch(/^people,.*people\.csv,11,9,,,.*`when`\): `name` is `P0` or `P9`/m);
  const page = await stored('dry-run/report.html');
  expect(page).toContain('<h2 id="skipped-title">');
  expect(page).toContain('Nothing: every record can be sent. “Rows skipped” lists those that become none.');
  expect(page.replace(/<[^>]*>|\s+/g, ' ')).toMatch(/people\.csv +11 +6 leads ready to send, 5 skipped/);
});

it('why a row is skipped is said shortly, whatever the condition is, and without a value of the record', async () => {
  const of = 'data: { external_id: id, full_name: name }';
  const when = async (condition: string): Promise<string> => {
    const { run, stored } = await project({
      'mapping.yaml': mapping({ people: `type: lead/created, when: ${condition}, ${of}` }),
      'people.csv': 'id,name,kind\n1,Ada,\n2,Bob,b\n',
    });
    await run('--dry-run');
    return /^people,.*\(`when`\): (.*?)"?$/m.exec(await stored('dry-run/left_out.csv'))?.[1] ?? '';
  };
  expect(await when('{ from: kind, in: [b, c, d, e, f] }')).toBe('`kind` is not `b`, `c`, `d` or 2 more');
  expect(await when('{ from: kind, present: true }')).toBe('`kind` has no value');
  expect(await when('{ any: [{ from: kind, matches: ^b }, { from: name, equals: Eve }] }')).toBe(
    '`kind` does not match the pattern `^b` and `name` is not `Eve`',
  );
  expect(await when('{ not: { from: name, equals: Ada } }')).toBe('`name` is `Ada`');
  expect(await when('{ any: [{ all: [{ from: kind, equals: b }, { from: id, equals: 2 }] }] }')).toBe(
    'not (`kind` is `b` and `id` is `2`)',
  );
});

it('hints look at the mapping, and at what the service keeps', async () => {
  const given = (time: string): string =>
    mapping(
      {
        people:
          'type: lead/created, data: { external_id: id, full_name: name, email: { from: mail, apply: [lowercase] }, custom_params: { mail: mail } }',
        deals:
          `type: deal/created, occurred_at: { from: at, apply: [{ date: yyyy-MM-dd }]${time} }, if_parent_missing: omit, ` +
          'data: { external_id: id, title: title, amount: { from: sum, apply: [number] }, currency: cur, lead_external_id: lead }',
      },
      'defaults: { timezone: UTC }\n',
    );
  const { run, write, state } = await project({
    'mapping.yaml': given(''),
    'people.csv': 'id,name,mail\n1,Ada,pas de mail\n',
    'deals.csv': 'id,title,sum,cur,lead,at\n1,Roof,5,EUR,1,2024-01-31\n2,Wall,,EUR,,2024-01-31\n3,Door,5,EUR,1,soon\n',
  });
  const said = async (): Promise<string> => (await run('--dry-run')).stderr.replace(/\s+/g, ' ');
  const first = await said();
  expect(first).toMatch(/bad_date hint: .* or send such records without it \(`on_error: omit` on `occurred_at`\)/);
  await write({ 'mapping.yaml': given(', on_error: omit') });
  const second = await said();
  expect(second).not.toContain('FIX FIRST');
  expect(second).toMatch(/\(deal_without_stage\) hint: map `stage_name`/);
  const hints = await rowsIn<{ code: string; hint: string }>(state('dry-run'), 'select code, hint from problem');
  const hintOf = (code: string) => hints.find((each) => each.code === code)?.hint;
  expect(hintOf('currency_without_amount')).toContain('`sum` is empty there');
  expect(hintOf('deal_without_lead')).toContain('`lead` is empty there, or names a record that is not sent');
});

const BROKEN = mapping({
  deals:
    'type: deal/created, data: { external_id: id, title: title, stage_name: "the\\nLEAK stage", owner_name: owner, ' +
    'amount: { from: amount, apply: [number] }, custom_fields: { kind: { from: kind, apply: [{ map: { a: b } }] }, fax: "fax\\nLEAK" } }',
});

const DEALS = `id,title,"the
LEAK stage",owner,amount,kind,"fax
LEAK","unused
LEAK"
1,A,"Wo
LEAK","Ada
LEAK","1
LEAK","c
LEAK",,
2,B,"Wo\rLEAK",Ada Lovelace,5,a,,
3,C,New,"Ada
LEAK",5,a,,
`;

/** Lines that begin with what follows a line break in a cell or the name of a column. */
function broken(text: string): readonly string[] {
  return text.split('\n').filter((line) => /^\s*LEAK/.test(line));
}

describe('a line break in a cell or the name of a column', () => {
  it('is shown as an escape, and breaks no line of a dry run or a run', async () => {
    const { run } = await project({ 'mapping.yaml': BROKEN, 'deals.csv': DEALS });
    for (const ended of [await run('--dry-run'), await run('--max-errors', '100%', '--max-omitted', '100%')]) {
      expect(broken(ended.stderr)).toEqual([]);
      expect(ended.stderr).toContain('stage `Wo\\nLEAK`');
      expect(ended.stderr).toContain('owner `Ada\\nLEAK`');
    }
  });
});
