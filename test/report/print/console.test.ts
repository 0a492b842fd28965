// Lost without it: an export could write escape sequences to a terminal.
import { Writable } from 'node:stream';
import { WriteStream } from 'node:tty';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Console, type ScreenLine } from '../../../src/report/print/console.ts';

beforeEach(() => {
  // Everything else that says something about colours: CI, COLORTERM, TMUX and the like.
  for (const name of Object.keys(process.env)) vi.stubEnv(name, undefined);
  vi.stubEnv('TERM', 'xterm');
});
afterEach(() => {
  vi.unstubAllEnvs();
});

function consoleOn(isTTY: boolean) {
  const text = { out: '', err: '' };
  const into = (name: 'out' | 'err') =>
    Object.assign(
      new Writable({
        write(chunk: Buffer, _encoding, done) {
          text[name] += chunk.toString('utf8');
          done();
        },
      }),
      { isTTY, columns: 20, getColorDepth: () => WriteStream.prototype.getColorDepth(process.env) },
    );
  const stdout = into('out');
  const console = new Console({ stdout, stderr: into('err') });
  return { console, text, resize: (columns: number) => (stdout.columns = columns) };
}

const HOSTILE = [
  ['a colour', '\u001b[31mred', '[U+001B][31mred'],
  ['a title (OSC)', '\u001b]0;owned\u0007', '[U+001B]]0;owned[U+0007]'],
  ['an escape sequence of one character', '\u009b2J', '[U+009B]2J'],
  ['a return to the start of the line', 'real\rfake', 'real[U+000D]fake'],
  ['backspaces', 'ab\b\bcd', 'ab[U+0008][U+0008]cd'],
  ['a bidirectional override', 'exe.\u202efdp', 'exe.[U+202E]fdp'],
  ['isolates', '\u2066a\u2069', '[U+2066]a[U+2069]'],
  ['invisible characters', 'a\u200b\ufeffb', 'a[U+200B][U+FEFF]b'],
  ['line and paragraph separators', 'a\u2028b\u2029c', 'a[U+2028]b[U+2029]c'],
  ['tag characters', 'a\u{e0041}', 'a[U+E0041]'],
] as const;

it.each(HOSTILE)('%s reaches neither a terminal nor the log of a job raw', (_name, given, shown) => {
  for (const isTTY of [true, false]) {
    const { console, text } = consoleOn(isTTY);
    console.say(given);
    console.complain(given);
    expect(text.err).toBe(`${shown}\n`.repeat(2));
    const overBars: string[] = [];
    console.overBars = (line) => void overBars.push(line);
    console.say(given);
    expect(overBars).toEqual([shown]);
  }
});

it.each(HOSTILE)('%s in JSON is escaped and stays the same value', (_name, given) => {
  const { console, text } = consoleOn(false);
  console.printJson(JSON.stringify({ [given]: given }));
  expect(text.out).toMatch(/^[\x20-\x7e]+\n$/);
  expect(JSON.parse(text.out)).toEqual({ [given]: given });
});

it.each(HOSTILE)('%s is shown by its code point on stdout, and unchanged in a pipe', (_name, given, shown) => {
  const terminal = consoleOn(true);
  terminal.console.print(given);
  expect(terminal.text.out).toBe(`${shown}\n`);
  const pipe = consoleOn(false);
  pipe.console.print(given);
  expect(pipe.text.out).toBe(`${given}\n`);
});

const linesOf = (text: string): ScreenLine[] => text.split('\n').map((line) => [{ text: line }]);

it('redraws over the rows of the last text on a terminal, wrapped lines included', () => {
  const { console, text } = consoleOn(true);
  console.redraw(linesOf(`one\n${'x'.repeat(45)}`));
  console.redraw(linesOf('two\u001b[2J'));
  console.redraw(linesOf('three'));
  expect(text.out).toBe(`one\n${'x'.repeat(45)}\n\u001b[4A\r\u001b[Jtwo[U+001B][2J\n\u001b[1A\r\u001b[Jthree\n`);
});

it('redraws over the rows of wide characters, which take two columns each', () => {
  const { console, text } = consoleOn(true);
  console.redraw(linesOf('顧客'.repeat(11)));
  console.redraw(linesOf('end'));
  expect(text.out).toBe(`${'顧客'.repeat(11)}\n\u001b[3A\r\u001b[Jend\n`);
});

it('redraws over the rows that the last text takes since the terminal was resized', () => {
  const { console, text, resize } = consoleOn(true);
  console.redraw(linesOf('twenty characters x\nfive'));
  resize(10);
  console.redraw(linesOf('end'));
  expect(text.out).toBe('twenty characters x\nfive\n\u001b[3A\r\u001b[Jend\n');
});

it('paints errors, warnings, endings and commands on a terminal, and nothing in a pipe', () => {
  const saying = (isTTY: boolean): string => {
    const { console, text } = consoleOn(isTTY);
    console.complain('error: no');
    console.complain('a.yml:1:2 warning: xy');
    console.say('an error: here');
    console.say('Done: all', 'done');
    console.say('  crm-backfill run a.yaml --dry-run', 'command');
    return text.err;
  };
  const plain = 'error: no\na.yml:1:2 warning: xy\nan error: here\nDone: all\n  crm-backfill run a.yaml --dry-run\n';
  expect(saying(false)).toBe(plain);
  const painted = saying(true);
  expect(stripVTControlCharacters(painted)).toBe(plain.replace(' xy', '\n  xy'));
  expect(painted.split('\n')).toEqual([
    '\u001b[31merror:\u001b[39m no',
    'a.yml:1:2 \u001b[33mwarning:\u001b[39m',
    '  xy',
    'an error: here',
    '\u001b[32mDone: all\u001b[39m',
    '\u001b[1m  crm-backfill run a.yaml --dry-run\u001b[22m',
    '',
  ]);
  vi.stubEnv('NO_COLOR', '1');
  expect(saying(true)).toBe(plain.replace(' xy', '\n  xy'));
  vi.stubEnv('NO_COLOR', undefined);
  vi.stubEnv('FORCE_COLOR', '1');
  expect(stripVTControlCharacters(saying(false))).toBe(plain);
  expect(saying(false)).toContain('\u001b[31merror:');
});

it('prints one text below the other in a pipe', () => {
  const { console, text } = consoleOn(false);
  console.redraw(linesOf('one'));
  console.redraw(linesOf('two'));
  expect(text.out).toBe('one\n\ntwo\n');
});

it('breaks lines at 80 columns where the terminal says that it has none', () => {
  const { console, resize } = consoleOn(true);
  resize(0);
  expect(console.shownColumns).toBe(80);
});
