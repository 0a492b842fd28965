import { expect, it } from 'vitest';
import { fitted } from '../../src/terminal/screen.ts';

const lines = (count: number, word: string): string =>
  Array.from({ length: count }, (_, at) => `${word} ${at}`).join('\n');
const countOf = (segments: readonly { text: string }[]): number =>
  segments
    .map(({ text }) => text)
    .join('\n')
    .split('\n').length;

it('leaves what fits as it is', () => {
  const segments = [{ text: `survey\n\nerrors\n${lines(5, 'error')}` }, { text: 'next', tone: 'command' } as const];
  const shown = fitted(segments, 60, 'report.html');
  expect(shown.map(({ text }) => text).join('\n')).toBe(segments.map(({ text }) => text).join('\n'));
  expect(shown.at(-1)).toMatchObject({ tone: 'command' });
});

it('leaves out what is extra first, then details of the longest list, then entries, and says where the rest is', () => {
  const errors = Array.from({ length: 12 }, (_, at) => `  9  code_${at}\n     where\n     hint: do`).join('\n');
  const screen = (most: number): string => {
    const shown = fitted(
      [
        { text: 'survey' },
        { text: `\n${lines(20, 'column')}`, isExtra: true },
        { text: `\nerrors\n${errors}\n\nwarnings\n${lines(3, 'warning')}\n\nreport  here` },
        { text: lines(8, 'next'), tone: 'command' },
      ],
      most,
      'report.html',
    );
    expect(countOf(shown)).toBe(most);
    return shown.map(({ text }) => text).join('\n');
  };
  const usual = screen(40);
  expect(usual).not.toContain('column');
  expect(usual).toContain('next 7');
  expect(usual).toContain('warning 2');
  expect(usual).toContain('code_0\n     where\n  9  code_1\n     where');
  expect(usual).toContain('code_10\n  9  code_11\n  … and 15 more lines: see report.html');
  expect(screen(24)).toMatch(/code_4\n {2}… 9 code_5, 9 code_6, .* and 9 code_11: see report.html/);
});

it('knows an entry by its count, however far that is indented', () => {
  const errors = `  1,000  code_0\n         where\n         hint: do\n     66  code_1\n         where\n      7  code_2\n         where`;
  const shown = fitted([{ text: `errors\n${errors}` }], 5, 'report.html');
  expect(shown.map(({ text }) => text).join('\n')).toBe(
    'errors\n  1,000  code_0\n     66  code_1\n      7  code_2\n  … and 4 more lines: see report.html',
  );
});
