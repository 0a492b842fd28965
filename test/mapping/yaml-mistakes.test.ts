import { describe, expect, it } from 'vitest';
import { parseMappingDocument } from '../../src/mapping/document.ts';

/** What is said of a text, with its place. */
function said(text: string): string[] {
  return parseMappingDocument(text, 'm.yaml').problems.map(
    ({ message, at }) => `${at!.line}:${at!.column} ${message.replaceAll('`', '')}`,
  );
}

describe('a mistake in YAML is said in plain words', () => {
  it.each([
    ['a: 1\n---\nb: 2\n', '2:1'],
    ['---\na: 1\n---\n', '3:1'],
    ['a: 1\n...\nb: 2\n', '3:1'],
  ])('%j: a second document', (text, place) => {
    expect(said(text)).toEqual([expect.stringMatching(new RegExp(`^${place} .*second YAML document`))]);
  });

  it.each([
    ['version:\u00a01\nmigration: m\n', '1:9 version:'],
    ['version: 1\nsources:\n  it:\n    path:\u00a0it.csv\n', '4:10 path:'],
    ['version: 1\nsources:\n  it: { path:\u202fit.csv }\n', '3:14 path:'],
    ['events:\n  - type:\u3000lead/created\n    source: it\n', '2:10 type:'],
    ['version\uff1a1\nmigration: m\n', '1:8 version'],
    ['path\uff1a it.csv\n', '1:5 path'],
  ])('%j: a blank, or a colon, that YAML does not take for one', (text, expected) => {
    expect(said(text)).toEqual([expect.stringContaining(expected)]);
  });

  it('a no-break space among the spaces of an indentation', () => {
    expect(said('events:\n  - type: x\n    \u00a0source: it\n')).toEqual([
      expect.stringMatching(/^3:5 a no-break space/),
    ]);
  });

  it.each(['a: x\u00a0y\n', 'a: "q:\u00a0z"\n', "a: 'q:\u00a0z'\n", '---\na: 1\n...\n', 'a: |\n  q:\u00a0z\n'])(
    '%j is none',
    (text) => {
      expect(said(text)).toEqual([]);
    },
  );
});
