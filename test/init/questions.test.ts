/** What `init` asks, on a real terminal: what the files are, then what is not sure. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { backfill, workspace } from '../e2e/harness.ts';
import { hasTmux, onTerminal } from '../report/terminal.ts';

const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
const PEOPLE = [
  'id,full name,email,created',
  ...times(12, (n) => `P${n},Ada ${'BCDEFGHIJKLM'[n]}ell,p${n}@acme.example,2025-03-1${n % 10} 10:00`),
];
const DEALS = [
  'id,person id,title,amount,stage',
  ...times(12, (n) => `D${n},P${n},Roof of house ${n},1${n}0.50,${n % 2 ? 'New' : 'Won'}`),
];

async function exports(): Promise<string> {
  const cwd = join(await workspace(), 'acme');
  await mkdir(cwd);
  await writeFile(join(cwd, 'people.csv'), `${PEOPLE.join('\n')}\n`);
  await writeFile(join(cwd, 'deals.csv'), `${DEALS.join('\n')}\n`);
  return cwd;
}

async function until(text: () => Promise<string>, what: RegExp): Promise<string> {
  let shown = '';
  await expect.poll(async () => (shown = await text()), { timeout: 120_000 }).toMatch(what);
  return shown;
}

describe.skipIf(!hasTmux())('on a terminal (skipped without tmux)', () => {
  it('all files are on one screen; Enter takes the proposal, and each further question has its number', async () => {
    const cwd = await exports();
    const { keys, text } = await onTerminal(100, 'init people.csv deals.csv', { cwd });
    await until(
      text,
      /people\.csv \(12 records\): people[^]*deals\.csv \(12 records\): deals[^]*Is this what the files are\?/,
    );
    await keys('Enter');
    await until(text, /1 of 2: all files\n.*timezone/);
    await keys('Up', 'Enter');
    await until(text, /such as Europe/);
    await keys('E', 'u', 'r', 'o', 'p', 'e', '/', 'R', 'o', 'm', 'e', 'Enter');
    await until(text, /2 of 2: deals\.csv, deals\n.*currency[^]*USD/);
    await keys('Up', 'Enter');
    await until(text, /Type it, such as EUR/);
    await keys('S', 'E', 'K', 'Enter');
    expect(await until(text, /ended \d/)).toContain('No line is marked.');
    const written = await readFile(join(cwd, 'acme.yaml'), 'utf8');
    expect(written).toMatch(/timezone: Europe\/Rome$/m);
    expect(written).toMatch(/ {6}currency: { value: SEK }$/m);
  });

  it('who accepts what the files of a preset are keeps the preset, and its country decides the time zone', async () => {
    const cwd = await workspace('demo');
    const { keys, text } = await onTerminal(100, 'init contacts.csv deals.csv notes.csv --out acme.yaml', { cwd });
    await until(text, /notes\.csv \(27 records\): notes[^]*Is this what the files are\?/);
    await keys('Enter');
    await until(text, /1 of 2: all files\n.*region/);
    await keys('Enter');
    await until(text, /2 of 2: all files\n.*timezone/);
    await keys('Enter');
    expect(await until(text, /ended \d/)).toContain('No line is marked.');
    expect(await readFile(join(cwd, 'acme.yaml'), 'utf8')).toMatch(
      /timezone: Europe\/Rome$[^]*origin: { value: hubspot }/m,
    );
  });

  it('a file is changed on a screen of its own, and Backspace goes back, also to the files', async () => {
    const cwd = await exports();
    const { keys, text } = await onTerminal(100, 'init people.csv deals.csv --out other.yaml', { cwd });
    await until(text, /Is this what the files are\?/);
    await keys('Down', 'Down', 'Enter');
    await until(text, /title: Roof of house 0[^]*What are these records\?/);
    await keys('BSpace');
    await until(text, /What are these records\?[^]*Is this what the files are\?/);
    await keys('Down', 'Down', 'Enter');
    await until(text, /What are these records\?[^]*What are these records\?/);
    await keys('Down', 'Down', 'Down', 'Enter');
    await until(text, /deals\.csv \(12 records\): none of these/);
    await keys('Enter');
    await until(text, /1 of 1: all files/);
    await keys('Enter');
    await until(text, /ended 0/);
    expect(await readFile(join(cwd, 'other.yaml'), 'utf8')).not.toContain('deal/created');
  });

  it.each([
    ['Ctrl-C', ['C-c'], 0],
    ['Ctrl-D', ['C-d'], 0],
    ['Ctrl-C twice at once', ['C-c', 'C-c'], 130],
  ])('%s writes what is decided, marks the rest and shows the cursor again', async (_, stop, code) => {
    const cwd = await exports();
    const { keys, text, cursorIsShown } = await onTerminal(100, 'init people.csv deals.csv', { cwd });
    await until(text, /Is this what the files are\?/);
    await keys('Enter');
    await until(text, /1 of 2/);
    await keys('Enter');
    await until(text, /2 of 2/);
    await keys(...stop);
    const ended = await until(text, /ended \d/);
    expect([0, code]).toContain(Number(/ended (\d+)/.exec(ended)![1]));
    const written = await readFile(join(cwd, 'acme.yaml'), 'utf8');
    expect(written).toMatch(/timezone: UTC$/m);
    expect(written).toMatch(/# currency: .* # set this/);
    expect(await cursorIsShown()).toBe(true);
  });

  it('keys that are pressed while it computes are not shown, and answer the questions that come', async () => {
    const cwd = await exports();
    await writeFile(
      join(cwd, 'more.csv'),
      `id,note\n${times(60_000, (n) => `${n},Called about roof ${n}`).join('\n')}\n`,
    );
    const { keys, text } = await onTerminal(100, 'init people.csv deals.csv more.csv', { cwd });
    await until(text, /reading the exports/);
    await keys('Enter', 'Enter', 'Enter');
    expect(await until(text, /ended \d/)).not.toContain('^M');
  });

  it('a terminal that says it has no columns has 80', async () => {
    const cwd = await exports();
    const { keys, text, resize } = await onTerminal(100, 'init people.csv deals.csv', { cwd, env: { COLUMNS: '0' } });
    await until(text, /Is this what the files are\?/);
    await resize(90);
    await keys('C-c');
    await until(text, /ended 0/);
  });

  it('what takes long is shown, and Ctrl-C ends it: the mapping is written untried, and nothing else is left, not even by SIGKILL', async () => {
    const cwd = await exports();
    const temporary = await workspace();
    const rows = times(300_000, (n) => `P${n},Ada Bell ${n},p${n}@acme.example`).join('\n');
    await writeFile(join(cwd, 'many.csv'), `id,full name,email\n${rows}\n`);
    const env = { TMPDIR: temporary };
    const { keys, text } = await onTerminal(100, 'init many.csv --yes --out acme.yaml', { cwd, env });
    await until(text, /trying the mapping on all records/);
    await keys('C-c');
    expect(await until(text, /ended \d/)).toMatch(
      /not tried on all records: interrupted by Ctrl-C \(SIGINT\)\nended 130/,
    );
    expect(await readdir(temporary)).toEqual([]);
    expect(await readFile(join(cwd, 'acme.yaml'), 'utf8')).toContain('lead/created');
    const killed = await onTerminal(100, 'init many.csv --yes --out killed.yaml & sleep 3; kill -9 $!; wait', {
      cwd,
      env,
    });
    await until(killed.text, /ended \d/);
    await until(async () => (await readdir(temporary)).join(), /^$/);
  });
});

it('answers on the command line are checked: each wrong one says what is possible', async () => {
  const cwd = await exports();
  const init = (...answers: string[]) =>
    backfill(['init', 'people.csv', 'deals.csv', '--yes', ...answers.flatMap((each) => ['--answer', each])], { cwd });
  const right = await init('people=leads', 'deals.deal.currency=chf', 'deals.deal.title=stage', 'timezone=Europe/Rome');
  expect(right.stdout).toMatch(/title: stage/);
  expect(right.stdout).toMatch(/currency: { value: CHF }$/m);
  const wrong = await Promise.all([
    init('deals.deal.amout=amount'),
    init('people=persons'),
    init('deals.deal.title=titel'),
    init('timezone=Rome'),
  ]);
  expect(wrong.map(({ code }) => code)).toEqual([2, 2, 2, 2]);
  expect(wrong.map(({ stderr }) => /hint: [^`]*(?:`deals`[^`]*)?`([\w.]+)`/.exec(stderr)?.[1])).toEqual([
    'deals.deal.amount',
    'leads',
    'yes',
    'yes',
  ]);
});
