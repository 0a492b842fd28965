/** `init` tries its mapping itself, and leaves nothing out without a word. */
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { startMapping } from '../../src/commands/init/index.ts';
import { FIXTURES, workspace } from '../e2e/harness.ts';
import { draftOf, times } from './mapping.ts';

const person = (n: number): string => `${['Ada', 'Ben', 'Cleo', 'Dan'][n % 4]} ${['Bell', 'Cole', 'Dorn'][n % 3]}son`;
const people = ['id,full name,email', ...times(20, (n) => `P${n},${person(n)},p${n}@acme.example`)];
const note = (n: number): string => `They asked for a new offer in week ${n} and will call back`;

describe('the mapping is tried before it is written', () => {
  const reply = (n: number): object => ({ id: `M${n}`, at: `2024-03-${10 + n} 10:00`, body: note(n) });
  const tickets = Array.from({ length: 20 }, (_, n) => ({
    ...{ id: n + 1, subject: `Printer ${n}`, status: 'open' },
    messages: [reply(n)],
  }));

  it('an entry that the program refuses is commented out with the reason', async () => {
    const draft = await draftOf({ 'people.csv': people, 'tickets.json': tickets });
    expect(draft.entries).toEqual(['people: lead/created']);
    expect(draft.text).toMatch(/^ {2}# set this: this entry has a mistake: a comment needs a parent$/m);
    expect(draft.text).toMatch(/^ {2}# - type: comment\/created\n {2}# {3}source: tickets$/m);
    expect(draft.findings).toMatch(/`messages`, 20 elements: not used for comments: a comment needs a parent/);
  });

  it('no mapping is written where no entry is left, and the error says why each was refused', async () => {
    const path = join(await workspace(), 'tickets.json');
    await writeFile(path, JSON.stringify({ tickets }));
    const error = startMapping([path], {});
    await expect(error).rejects.toMatchObject({
      exitCode: 2,
      hint: expect.stringContaining('--answer tickets=leads') as string,
    });
    await expect(error).rejects.toThrow(
      /its list `messages`, 20 elements: not used for comments: a comment needs a parent/,
    );
  });

  it('entries of one type have the same policy for ids that occur twice', async () => {
    const draft = await draftOf({
      'people.csv': people,
      'rows.csv': [
        'contact name,contact email,deal name,amount,stage',
        ...times(20, (n) => `${person(n % 5)} X,x${n % 5}@bell.example,Roof ${n},1${n}0.50,${n % 2 ? 'New' : 'Won'}`),
      ],
    });
    const leads = draft.spec.events.filter(({ type }) => type === 'lead/created');
    expect(leads.map(({ duplicates }) => duplicates)).toEqual(['first', 'first']);
  });

  it('children of deleted people are no errors: deals are sent without them, comments are left out', async () => {
    const draft = await draftOf({
      'people.csv': ['id,full name,email,deleted', ...people.slice(1).map((row, n) => `${row},${n % 5 === 0}`)],
      'deals.csv': [
        'deal id,person id,title,amount,stage,owner first name,owner last name',
        ...times(
          20,
          (n) => `D${n},P${n},Roof ${n},1${n}0.50,${n % 2 ? 'New' : 'Won'},${n % 3 ? 'Rita,Falk' : 'Otto,Gram'}`,
        ),
      ],
      'notes.csv': ['person id,note,created', ...times(20, (n) => `P${n},${note(n)},2024-03-${10 + (n % 9)} 10:00`)],
    });
    expect(draft.deal).toMatchObject({ if_parent_missing: 'omit' });
    expect(draft.deal['owner_name']).toEqual({ list: ['owner first name', 'owner last name'], apply: [{ join: ' ' }] });
    expect(draft.comment).toMatchObject({ if_parent_missing: 'skip' });
    expect(draft.findings).toContain('16 leads');
    expect(draft.findings).not.toContain('parent_missing');
  });

  it('says how many records become events, cannot be sent, are skipped and cannot be read', async () => {
    const draft = await draftOf({
      'people.csv': [...people, 'P20,Eve Dorn,eve@acme.example,one,too,many', 'P3,Twice Bell,twice@acme.example'],
      'notes.csv': [
        'note id,person id,note,date',
        ...times(20, (n) => `N${n},P${n},${n < 3 ? '' : note(n)},2024-03-${10 + n}`),
      ],
    });
    expect(draft.findings).toMatch(/people\.csv: .*22 records read; 21 leads \(2 cannot be sent: 2 duplicate_/);
    expect(draft.findings).toMatch(/people\.csv: .*1 cannot be read/);
    expect(draft.findings).toMatch(/notes\.csv: .*20 records read; 17 comments.*; 3 skipped: records without a text/);
    expect(draft.remark('when')).toBe('check: skips 3 of 20: records without a text');
  });

  it('counts notes without a text apart from records without a parent, of which one is a mark', async () => {
    const head = 'note id,person id,note,date';
    const rows = (texts: number) =>
      times(20, (n) => `N${n},${n < 19 ? `P${n}` : ''},${n < texts ? '' : note(n)},2024-03-${10 + n}`);
    const draft = await draftOf({ 'people.csv': people, 'notes.csv': [head, ...rows(3)] });
    expect(draft.remark('when')).toBe('check: skips 4 of 20: 3 without a text, 1 whose lead or deal is in no export');
    const one = await draftOf({ 'people.csv': people, 'notes.csv': [head, ...rows(0)] });
    expect(one.remark('when')).toMatch(/^check: skips 1 of 20: /);
  });

  it('marks what skips records only if these are more than a tenth', async () => {
    const rows = times(20, (n) => `N${n},P${n},${n < 1 ? '' : note(n)},2024-03-${10 + n}`);
    const draft = await draftOf({ 'people.csv': people, 'notes.csv': ['note id,person id,note,date', ...rows] });
    expect(draft.remark('when')).toMatch(/^skips 1 of 20: /);
  });

  it('says why an export cannot be read to its end, and writes the mapping', async () => {
    const cwd = await workspace();
    const path = join(cwd, 'people.csv');
    const rows = times(25_000, (n) => `P${n},${person(n)},p${n}@acme.example`);
    await writeFile(path, [people[0], ...rows, 'P0,"open,p@acme.example'].join('\n'));
    const { text, failure } = await startMapping([path], { out: join(cwd, 'm.yaml') });
    expect(text).toContain('- type: lead/created');
    expect(failure?.message).toContain('people.csv:25002');
  });
});

describe('every file and every column has a fate', () => {
  it('files of people that are only looked up, or not at all, are marked', async () => {
    const draft = await draftOf({
      'deals.csv': ['id,title,amount,stage', ...times(20, (n) => `D${n},Roof ${n},1${n}0.50,${n % 2 ? 'New' : 'Won'}`)],
      'users.csv': ['user id,user name,user email', 'U1,Ann Bell,ann@bell.example', 'U2,Ben Cole,ben@bell.example'],
    });
    expect(draft.text).toMatch(
      /# check: .*users\.csv is not used, .*not carried: `user id`, `user name`, `user email`/,
    );
  });

  it('the columns of a file that is looked up are named, too', async () => {
    const draft = await draftOf({
      'deals.csv': [
        'id,title,amount,stage,owner id',
        ...times(20, (n) => `D${n},Roof ${n},1${n}0.50,${n % 2 ? 'New' : 'Won'},U${n % 2}`),
      ],
      'users.csv': ['user id,user name,user email,desk', 'U0,Ann Bell,ann@b.example,4', 'U1,Ben Cole,ben@b.example,5'],
    });
    expect(draft.text).toMatch(/users: .* # looked up by deals \(owner_name\); not carried: .*`desk`/);
    expect(draft.findings).toMatch(/users\.csv: .*2 records read; looked up by deals \(owner_name\)/);
  });

  test.each(readdirSync(join(FIXTURES, 'labelled-exports')))(
    '%s: no header is missing in the mapping',
    async (name) => {
      const folder = join(FIXTURES, 'labelled-exports', name);
      const files = readdirSync(folder).filter((file) => file.endsWith('.csv'));
      if (files.length === 0) return;
      const { text } = await startMapping(
        files.map((file) => join(folder, file)),
        {},
      );
      for (const file of files) {
        const [header = ''] = readFileSync(join(folder, file), 'utf8')
          .replace(/^\ufeff/, '')
          .split(/\r?\n/);
        const names = header.split(/[,;\t]/).map((each) => each.replace(/^"|"$/g, ''));
        if (names.every((each) => /^[\p{L}][\p{L} _]*$/u.test(each)))
          for (const each of names) expect(text).toContain(each);
      }
    },
  );
});

it('false is no value where it stands among texts, and a value of flags', async () => {
  const records = times(12, (n) => `${n}`).map((n, at) => ({
    id: at + 1,
    name: `Ada Bell${n}`,
    email: at % 3 ? `p${n}@acme.example` : false,
    partner_id: at % 2 ? [at + 40, `Acme ${n}`] : false,
    mobile: false,
    active: at % 4 > 0,
  }));
  const draft = await draftOf({ 'res.partner.json': records });
  expect(draft.spec.defaults).toMatchObject({ missing_values: ['', 'false'] });
  expect(draft.remark('missing_values')).toContain("'false' in 10 cells");
  expect(draft.remark('email')).toBe('8 e-mail addresses, 4 empty');
  expect(draft.lead['custom_params']).toMatchObject({ active: { from: 'active', default: false } });
  expect(draft.text).toContain('# empty in all records: `mobile`\n');
});
