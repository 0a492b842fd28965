/** The exports that no preset reads: what they are, their entries, and what the others are good for. */
import { basename } from 'node:path';
import { nameError } from '../mapping/names.ts';
import { numberText } from '../numbers.ts';
import { guessedEntry } from './entries.ts';
import { rolesText } from './entry-lines.ts';
import { guess, type NamedGuess } from './guess.ts';
import type { Export } from './head.ts';
import { sharedIds } from './joins.ts';
import type { ExportKind } from './nouns.ts';
import type { CrmNames } from './names.ts';
import { keyOf } from './value-text.ts';

export interface GuessedEntry extends NamedGuess {
  /** Its entry below `events:`, if its records become events. */
  readonly text: string | undefined;
  /** Whether an entry looks up its records. */
  readonly lookedUp: boolean;
  /** What it is, and what it is used for, as text. */
  readonly finding: string;
}

/** What each export is, under the name of its source. `taken`: names of sources of a preset. */
export function nameGuesses(exports: readonly Export[], names: Iterable<string>): NamedGuess[] {
  const taken = new Set(names);
  return exports.map((each) => {
    const source = sourceName(each.path, taken);
    taken.add(source);
    return { ...guess(each), source, prefix: undefined };
  });
}

/** `known`: the records of the preset's entries, to which these may refer, and the text of the entries. */
export function guessOthers(
  plain: readonly NamedGuess[],
  known: { readonly parents: readonly NamedGuess[]; readonly texts: readonly string[] },
  names: CrmNames,
): GuessedEntry[] {
  const guesses = withPeople([...known.parents, ...plain])
    .slice(known.parents.length)
    .map((each, index, all) => ({ ...each, prefix: prefixOf(each, all.slice(0, index)) }));
  const texts = guesses.map((each) => guessedEntry(each, [...known.parents, ...guesses], names));
  return guesses.map((each, index) => {
    const text = texts[index];
    const read = new RegExp(`[{\\s]source: ${each.source}(?:,|$)`, 'm');
    const others = [...known.texts, ...texts.filter((_, at) => at !== index)];
    const lookedUp = others.some((other) => other !== undefined && read.test(other));
    return { ...each, text, lookedUp, finding: findingText(each, text !== undefined, lookedUp) };
  });
}

/** Of the name of a source. */
const MOST_CHARACTERS = 40;

function sourceName(path: string, taken: ReadonlySet<string>): string {
  const plain = [...keyOf(basename(path).replace(/(?:\.\w+)+$/, ''))].slice(0, MOST_CHARACTERS).join('');
  let source = plain;
  for (let number = 2; taken.has(source) || nameError(source) !== undefined; number += 1) source = `${plain}_${number}`;
  return source;
}

/** Without an export of people, the companies become the leads. */
function withPeople(guesses: readonly NamedGuess[]): readonly NamedGuess[] {
  if (guesses.some(({ kind }) => kind === 'leads') || !guesses.some(({ kind }) => kind === 'deals')) return guesses;
  return guesses.map((each) => {
    const name = each.roles.get('company');
    if (each.kind !== 'companies' || !name) return each;
    return {
      ...each,
      kind: 'leads',
      roles: new Map([...guess(each.export, 'leads').roles, ['full_name', name], ['id', each.roles.get('id') ?? name]]),
      note: 'check: no export has people, so the companies become the leads',
    };
  });
}

/** For ids that are also those of other records of an earlier export of the same kind. */
function prefixOf(each: NamedGuess, earlier: readonly NamedGuess[]): NamedGuess['prefix'] {
  if (each.kind !== 'leads' && each.kind !== 'deals') return undefined;
  for (const other of earlier.filter(({ kind }) => kind === each.kind)) {
    const shared = sharedIds(each, other);
    if (shared === 0) continue;
    const common = each.roles.has('email') ? 'e-mail address' : 'name';
    const why = `${numberText(shared)} ids are also in ${other.source}, without one common ${common}: two number ranges, so these have a prefix`;
    return { text: `${each.source}-`, why };
  }
  return undefined;
}

function findingText({ kind, roles, export: { path } }: NamedGuess, hasEntry: boolean, lookedUp: boolean): string {
  if (kind === 'unknown')
    return `${path}: not recognised as people, deals, comments or a list of names, so it is not used`;
  const what = `${path}: recognised as ${kind}${roles.size > 0 ? `: ${rolesText(roles)}` : ''}`;
  if (hasEntry) return what;
  return `${what}; ${lookedUp ? LOOKED_UP[kind] : NOT_USED[kind]}`;
}

const LOOKED_UP: Readonly<Partial<Record<ExportKind, string>>> = {
  users: 'owners and authors are looked up in it',
  companies: 'names of companies are looked up in it, for custom fields',
  stages: 'names of stages are looked up in it',
  links: 'leads and deals are looked up in it',
};

const NOT_USED: Readonly<Record<ExportKind, string>> = {
  leads: 'not used',
  deals: 'not used',
  comments: 'not used, because it has no column with a text, or none that refers to a lead or deal',
  users: 'not used, because no column has ids of it; it helps to fill in the owners in `references.csv`',
  companies: 'not used, because leads and deals have no ids of it',
  stages: 'not used, because deals have no ids of it; it helps to fill in the stages in `references.csv`',
  links: 'not used, because no entry needs it to find its lead or deal',
  history: 'not used, because the service has only the present values',
  unknown: 'not used',
};
