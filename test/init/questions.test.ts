/** What `init` asks: what each file is, then what it cannot decide. Answers are written without the mark. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { startMapping } from '../../src/commands/init/index.ts';
import { markedLines } from '../../src/mapping/marks.ts';
import type { MappingSpec } from '../../src/mapping/schema.ts';
import type { QuestionAnswer, Question } from '../../src/report/print/ask.ts';
import { workspace } from '../e2e/harness.ts';
import { hasTmux, onTerminal } from '../report/terminal.ts';
import { times } from './mapping.ts';

const PEOPLE = [
  'id,full name,email,phone,created',
  ...times(
    12,
    (n) =>
      `P${n},Ada ${'BCDEFGHIJKLM'[n]}ell,p${n}@acme.example,${n > 8 ? 'N/A' : `06 4567 102${n}`},2025-03-1${n % 10} 10:00`,
  ),
];
const DEALS = [
  'id,person id,title,amount,cost,stage',
  ...times(12, (n) => `D${n},P${n},Roof of house ${n},1${n}0.50,2${n}.00,${n % 2 ? 'New' : 'Won'}`),
];

async function exports(): Promise<string> {
  const cwd = join(await workspace(), 'acme');
  await mkdir(cwd);
  await writeFile(join(cwd, 'people.csv'), `${PEOPLE.join('\n')}\n`);
  await writeFile(join(cwd, 'deals.csv'), `${DEALS.join('\n')}\n`);
  return cwd;
}

/** Answers each question with the label that one of the patterns finds, or types a text; otherwise with the proposal; `stop`: no more. */
async function answered(...answers: (readonly [about: RegExp, label: RegExp | 'stop', text?: string])[]) {
  const cwd = await exports();
  const asked: Question[] = [];
  let isOver = false;
  const ask = async (question: Question): Promise<QuestionAnswer | undefined> => {
    if (isOver) return undefined;
    asked.push(question);
    const [, label, text] = answers.find(([about]) => about.test(question.text)) ?? [];
    isOver = label === 'stop';
    if (label === undefined || label === 'stop')
      return Promise.resolve(isOver ? undefined : { choice: question.proposal });
    const choice = question.choices.findIndex((each) => label.test(each.label));
    expect(choice, labelsOf(question).join('\n')).toBeGreaterThanOrEqual(0);
    return Promise.resolve({ choice, ...(text !== undefined && { text }) });
  };
  const { text } = await startMapping(namesIn(cwd), { out: join(cwd, 'acme.yaml'), ask });
  return { asked, text, spec: parse(text) as MappingSpec };
}

function namesIn(cwd: string): string[] {
  return ['people.csv', 'deals.csv'].map((name) => join(cwd, name));
}

function labelsOf({ choices }: Question): string[] {
  return choices.map(({ label }) => label);
}

describe('the questions of init', () => {
  it('begin with what each file is: its records, three of them, and the guess', async () => {
    const { asked } = await answered();
    expect(asked[0]!.text).toContain('people.csv, 12 records:\n');
    expect(asked[0]!.text).toMatch(/full name: Ada [^|]+ \| Ada [^|]+ \| Ada [^|\n]+\n/);
    expect(asked[0]!.choices[asked[0]!.proposal]!.label).toMatch(/^people/);
    expect(asked[1]!.choices[asked[1]!.proposal]!.label).toMatch(/^deals/);
  });

  it('say how many columns are not shown', async () => {
    const path = join(await workspace(), 'people.csv');
    const more = times(4, (n) => `field ${n}`);
    const rows = PEOPLE.map((row, at) => `${row},${(at === 0 ? more : more.map(() => `x${at}`)).join()}`);
    await writeFile(path, `${rows.join('\n')}\n`);
    const asked: Question[] = [];
    await startMapping([path], { ask: async (question) => Promise.resolve(void asked.push(question)) });
    expect(asked[0]!.text).toContain('  field 2: x1 | x2 | x3\n  and 1 more column');
  });

  it('begin with the code page of a file that is not UTF-8: words in each reading, and that of the country first', async () => {
    const path = join(await workspace(), 'klienci.csv');
    const rows = times(12, (n) => `${n},Zażółć ${'BCDEFGHIJKLM'[n]}ęś,k${n}@acme.pl,+48 601 101 2${10 + n}`);
    await writeFile(path, iconv.encode(['id,klient,mail,telefon', ...rows].join('\n'), 'windows-1250'));
    const asked: Question[] = [];
    const ask = async (question: Question): Promise<QuestionAnswer> => {
      asked.push(question);
      return Promise.resolve({ choice: question.proposal });
    };
    const { text } = await startMapping([path], { ask });
    expect(labelsOf(asked[0]!).slice(0, 2)).toEqual([
      expect.stringMatching(/^windows-1250: Zażółć \| /),
      expect.stringMatching(/^windows-1252: Za¿ó³æ \| /),
    ]);
    expect(text).toMatch(/klienci: \{ path: .*, encoding: windows-1250 \}$/m);
    expect((await startMapping([path], {})).text).toMatch(/encoding: windows-1250 \} # check: /);
    const answer = new Map([['klienci.encoding', 'windows-1252']]);
    expect((await startMapping([path], { answer })).text).toMatch(/encoding: windows-1252 \}$/m);
  });

  it('show the figures and three values of each candidate; the last choice is to leave it out', async () => {
    const { asked } = await answered();
    const amount = asked.find(({ text }) => text.includes('\namount: '))!;
    const labels = labelsOf(amount);
    expect(labels[0]).toMatch(/^as proposed: `amount` \(.*\): 100\.50 \| 110\.50 \| 120\.50$/);
    expect(labels.join('\n')).toMatch(/^cost \(12 .*numbers.*\): 20\.00 \| 21\.00 \| 22\.00$/m);
    expect(labels.at(-1)).toBe('leave it out');
  });

  it('name the columns of a value in words; a constant is no candidate, nor is the zone of times with an offset asked for', async () => {
    const path = join(await workspace(), 'contacts.csv');
    const rows = times(
      12,
      (n) => `C${n},${n < 9 ? `Ada Bell ${n}` : ''},Acme ${n},Ada,2025-03-1${n % 10}T10:00:00Z,2025-03-01`,
    );
    await writeFile(path, ['id,name,company,nickname,created,visited', ...rows].join('\n'));
    const asked: Question[] = [];
    const ask = async (question: Question): Promise<QuestionAnswer> => {
      asked.push(question);
      return Promise.resolve({ choice: question.proposal });
    };
    const { text } = await startMapping([path], { ask, answer: new Map([['contacts', 'leads']]) });
    const labels = labelsOf(asked.find(({ name }) => name === 'contacts.lead.full_name')!);
    expect(labels[0]).toMatch(/^as proposed: `name`, else `company`: /);
    expect(labels.join('\n')).not.toContain('nickname');
    expect(asked.map(({ name }) => name)).not.toContain('timezone');
    expect(text).toMatch(/timezone: UTC # not needed: no date/);
  });

  it('are all answered by their proposals, which then have no mark', async () => {
    const [plain, { text, asked }] = [await startMapping(namesIn(await exports()), {}), await answered()];
    expect(markedLines(plain.text).length).toBeGreaterThan(1);
    expect(asked.length).toBeGreaterThan(2);
    expect(markedLines(text)).toEqual([]);
  });

  it('take another column, and leave out what is not wanted', async () => {
    const { spec, text } = await answered([/\namount: /, /^cost /], [/\ncurrency: /, /^leave it out$/]);
    const { data } = spec.events.find(({ type }) => type === 'deal/created')!;
    expect(data).toMatchObject({ amount: { from: 'cost' }, custom_fields: { amount: 'amount' } });
    expect(data).not.toHaveProperty('currency');
    expect(text).toContain('# currency: { value: EUR } # left out');
  });

  it('are about the region, the time zone and the texts without a value, too, and take what is typed', async () => {
    const { spec, text } = await answered(
      [/\nregion: /, /^other/, 'IT'],
      [/\ntimezone: /, /^as proposed: Europe.Rome/],
      [/\nmissing_values: /, /^other/, 'n/a, none'],
      [/\ncurrency: /, /^other/, 'CHF'],
      [/\namount: /, /^other/, 'cost'],
    );
    expect(spec.defaults).toEqual({ region: 'IT', timezone: 'Europe/Rome', missing_values: ['', 'n/a', 'none'] });
    expect(spec.events[1]!.data).toMatchObject({ currency: { value: 'CHF' }, amount: { from: 'cost' } });
    expect(markedLines(text)).toEqual([]);
  });

  it('are answered on the command line by their names, and the rest is marked', async () => {
    const start = async (answer: object) =>
      startMapping(namesIn(await exports()), { answer: new Map(Object.entries(answer)) });
    const spec = parse((await start({ region: 'CH', deals: 'none', timezone: 'UTC' })).text) as MappingSpec;
    expect(spec.defaults).toMatchObject({ region: 'CH', timezone: 'UTC' });
    expect(spec.events.map(({ type }) => type)).toEqual(['lead/created']);
    await expect(start({ regoin: 'CH' })).rejects.toMatchObject({ message: /regoin/, hint: /region/ });
    await expect(start({ region: 'XX' })).rejects.toThrow(/region=XX/);
  });

  it('change the evidence: a text that means no value does not count', async () => {
    const textWith = async (answer: [string, string][]) =>
      (await startMapping(namesIn(await exports()), { answer: new Map(answer) })).text;
    expect(await textWith([])).toMatch(/phone_number: .*9 phone numbers, 3 empty/);
    expect(await textWith([['missing_values', 'none']])).toMatch(/phone_number: .*9 phone numbers, 3 other/);
    expect(await textWith([['missing_values', "['', 'none']"]])).toMatch(/missing_values: \['', none\]/);
  });

  it('are about what the trial marks, too: what is left out then is tried again', async () => {
    const cwd = await exports();
    const text = (n: number) => (n < 3 ? '' : `They called in week ${n} and want a new offer`);
    const notes = times(12, (n) => `N${n},P${n},${text(n)},2025-03-1${n % 10}`);
    await writeFile(join(cwd, 'notes.csv'), ['id,person id,note,date', ...notes].join('\n'));
    const start = async (when: string) =>
      startMapping([...namesIn(cwd), join(cwd, 'notes.csv')], { answer: new Map([['notes.comment.when', when]]) });
    const [kept, out] = [await start('yes'), await start('out')];
    expect(kept.text).toMatch(/^    when: .* # skips 3 of 12/m);
    expect([kept.sources['notes']?.taken, out.sources['notes']?.taken]).toEqual([9, 12]);
  });

  it('name the columns of a file that has no header', async () => {
    const cwd = await exports();
    await writeFile(join(cwd, 'people.csv'), `${PEOPLE.slice(1).join('\n')}\n`);
    const answer = new Map([['people.read', 'No,Person,Mail,Tel,Since']]);
    const { text } = await startMapping(namesIn(cwd), { answer });
    expect(text).toMatch(/^  people: .*columns: \[No, Person, Mail, Tel, Since\] }$/m);
    expect((parse(text) as MappingSpec).events[0]!.data).toMatchObject({ external_id: 'No', full_name: 'Person' });
  });

  it('go back to the question before, which is asked again, and the others are not', async () => {
    const cwd = await exports();
    const asked: string[] = [];
    const ask = async ({ name, proposal, choices, hasBefore }: Question): Promise<QuestionAnswer | 'back'> => {
      expect(hasBefore).toBe(asked.length > 0);
      asked.push(name);
      const isFirstTime = asked.filter((each) => each === name).length === 1;
      if (name === 'region' && isFirstTime) return Promise.resolve('back');
      const none = choices.findIndex(({ value }) => value === 'none');
      return Promise.resolve({ choice: name === 'deals' && isFirstTime ? none : proposal });
    };
    const { text } = await startMapping(namesIn(cwd), { out: join(cwd, 'acme.yaml'), ask });
    expect(asked.slice(0, 5)).toEqual(['people', 'deals', 'region', 'deals', 'region']);
    expect(text).toContain('type: deal/created');
  });

  it('decide what a file is', async () => {
    const { spec } = await answered([/deals\.csv, 12 records/, /^none of these/]);
    expect(spec.events.map(({ type }) => type)).toEqual(['lead/created']);
  });

  it('end with Ctrl-C: what is decided is written, the rest is marked', async () => {
    const { spec, text } = await answered([/\namount: /, /^cost /], [/\ncurrency: /, 'stop']);
    expect(spec.events[1]!.data['amount']).toMatchObject({ from: 'cost' });
    expect(text).toMatch(/# currency: .* # set this/);
  });
});

describe.skipIf(!hasTmux())('on a terminal (skipped without tmux)', () => {
  const until = async (text: () => Promise<string>, what: RegExp): Promise<string> => {
    for (let tries = 0; ; tries += 1) {
      const shown = await text();
      if (what.test(shown)) return shown;
      if (tries > 300) throw new Error(`not shown: ${String(what)}\n${shown}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };

  it('Enter takes the proposal, an arrow another choice, and Ctrl-C writes the rest marked', async () => {
    const cwd = await exports();
    const { keys, text } = await onTerminal(100, 'init people.csv deals.csv', { cwd });
    await until(text, /people\.csv, 12 records[^]*What are these records\?[^]*people: they become leads/);
    await keys('Enter');
    await until(text, /deals\.csv, 12 records[^]*What are these records\?/);
    await keys('Enter');
    await until(text, /region: /);
    await keys('Up', 'Enter');
    await until(text, /Type it/);
    await keys('Enter');
    await until(text, /Type it[^]*region: [^]*leave it out/);
    await keys('Up', 'Enter');
    await until(text, /Type it[^]*Type it/);
    await keys('I', 'T', 'Enter');
    await until(text, /timezone: /);
    await keys('BSpace');
    await until(text, /timezone: [^]*Backspace[^]*region: [^]*leave it out/);
    await keys('Up', 'Enter');
    await until(text, /Type it[^]*Type it[^]*Type it/);
    await keys('I', 'T', 'Enter');
    await until(text, /timezone: [^]*timezone: /);
    await keys('Enter');
    await until(text, /missing_values: /);
    await keys('Enter');
    // Not the amounts of the examples above.
    await until(text, /amount: 12 numbers[^]*leave it out/);
    await keys('Down', 'Enter');
    await until(text, /currency: /);
    await keys('C-c');
    const shown = await until(text, /ended \d/);
    expect(shown).toContain('npx crm-backfill run acme.yaml --dry-run --sandbox\nended 0');
    const written = await readFile(join(cwd, 'acme.yaml'), 'utf8');
    expect(written).toMatch(/^ {6}amount: { from: cost, .*(?<!# check.*)$/m);
    expect(written).toMatch(/# currency: .* # set this/);
  });

  it('what takes long is shown, and Ctrl-C ends it: the mapping is written untried, and nothing else is left', async () => {
    const cwd = await exports();
    const temporary = await workspace();
    const rows = times(300_000, (n) => `P${n},Ada Bell ${n},p${n}@acme.example`).join('\n');
    await writeFile(join(cwd, 'many.csv'), `id,full name,email\n${rows}\n`);
    const env = { TMPDIR: temporary };
    const { keys, text } = await onTerminal(100, 'init many.csv --yes --out acme.yaml', { cwd, env });
    await until(text, /trying the mapping on all records.* \(\d+ s\)/);
    expect(await readdir(temporary)).toHaveLength(1);
    await keys('C-c');
    const shown = await until(text, /ended \d/);
    expect(shown).toMatch(/not tried on all records: interrupted by SIGINT\nended 130/);
    expect(await readdir(temporary)).toEqual([]);
    expect(await readFile(join(cwd, 'acme.yaml'), 'utf8')).toContain('lead/created');
  });

  it('nothing is asked with --yes', async () => {
    const cwd = await exports();
    const { text } = await onTerminal(100, 'init people.csv deals.csv --yes --out acme.yaml', { cwd });
    expect(await until(text, /ended \d/)).not.toContain('What are these records?');
    expect(await readFile(join(cwd, 'acme.yaml'), 'utf8')).toMatch(/amount: .* # check/);
  });
});
