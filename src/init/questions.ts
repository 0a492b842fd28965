/** What the user answers: what each file is, then what is not sure. Answers have names, so that `--answer` can give them, too. */
import { UserError } from '../errors.ts';
import { isCurrency } from '../kinds/currencies.ts';
import { kindOf } from '../kinds/index.ts';
import { countryCode } from '../mapping/transforms/countries.ts';
import { didYouMean } from '../problem.ts';
import type { Ask, Question, QuestionAnswer } from '../report/print/ask.ts';
import { counted } from '../report/words/numbers.ts';
import { isZone } from './decide/defaults.ts';
import type { EntryDraft, Field, MappingDraft } from './decide/draft.ts';
import type { Column, Table } from './facts/facts.ts';
import type { KindAnswers } from './decide/kinds.ts';
import { FIELD_OF, ROLES, type RecordKind, type Role } from './know/roles.ts';
import { EXAMPLES, FILE_KINDS, WITHOUT } from './know/texts.ts';
import { flow } from './lines/lines.ts';

const nameOf = ({ source, list }: Table): string => (list === undefined ? source : `${source}#${list}`);
const fieldName = (field: Field, entry?: EntryDraft): string =>
  entry ? `${nameOf(entry.table)}.${entry.kind}.${field.key}` : field.key;

export class Answers implements KindAnswers {
  readonly #given: ReadonlyMap<string, string>;
  readonly #asked: [name: string, text: string][] = [];
  #file: string | undefined;

  constructor(given: ReadonlyMap<string, string> = new Map()) {
    this.#given = given;
  }

  get(name: string): string | undefined {
    return this.#asked.findLast(([each]) => each === name)?.[1] ?? this.#given.get(name);
  }

  kindsOf(table: Table): readonly RecordKind[] | undefined {
    const name = nameOf(table);
    const text = this.get(name);
    if (text === undefined) return undefined;
    return (FILE_KINDS[text] ?? refuse(name, text, 'this is not a possible answer', Object.keys(FILE_KINDS)))[1];
  }

  rolesOf(table: Table, kind: RecordKind): ReadonlyMap<Role, Column | undefined> {
    const roles = new Map<Role, Column | undefined>();
    for (const role of (Object.keys(ROLES) as Role[]).filter((each) => ROLES[each].kinds.includes(kind))) {
      const text = this.get(`${nameOf(table)}.${kind}.${FIELD_OF[role]}`);
      const column = table.columns.find(({ name }) => name === text);
      if (column && ![...roles.values()].includes(column)) roles.set(role, column);
    }
    return roles;
  }

  /** The draft with the answers in place of doubts. */
  settle({ defaults, entries }: MappingDraft): MappingDraft {
    const settled = (entry: EntryDraft): EntryDraft => {
      return { ...entry, fields: entry.fields.map((field) => this.#settled(field, entry)) };
    };
    return { defaults: defaults.map((field) => this.#settled(field)), entries: entries.map(settled) };
  }

  #settled(field: Field, entry?: EntryDraft): Field {
    const name = fieldName(field, entry);
    const text = this.get(name);
    if (text === undefined) return field;
    const { doubt: _, ...plain } = field;
    if (text === 'yes') return { ...plain, said: entry ? plain.said : '' };
    if (text === 'out') return { ...plain, off: true, said: 'left out' };
    const choice = field.choices?.find(({ answer }) => answer.toLowerCase() === text.toLowerCase());
    const isTaken = field.columns[0]?.name === text && !field.off;
    const value = isTaken ? field.value : (choice?.value ?? typed(field.key, text, entry));
    if (value instanceof Error)
      return refuse(name, text, value.message, ['yes', 'out', ...(field.choices ?? []).map(({ answer }) => answer)]);
    return { ...plain, value: value as Field['value'], off: false, said: isTaken ? plain.said : '' };
  }

  /** Throws a `UserError` if an answer of the command line belongs to no question. */
  check({ defaults, entries }: MappingDraft, tables: readonly Table[]): void {
    const fields = entries.flatMap((entry) => entry.fields.map((field) => fieldName(field, entry)));
    const names = [...tables.map(nameOf), ...defaults.map((field) => fieldName(field)), ...fields];
    const unknown = [...this.#given.keys()].find((name) => !names.includes(name));
    if (unknown === undefined) return;
    const some = names.slice(0, MOST_NAMES).map((each) => `\`${each}\``);
    const hint = didYouMean(unknown, names) ?? `the questions are ${some.join(', ')}, …`;
    throw new UserError(`\`--answer ${unknown}=…\`: there is no such question`, { hint });
  }

  /** The fields that were answered after the files. */
  get #done(): number {
    const at = this.#asked.findIndex(([name]) => name === FILES);
    return at < 0 ? at : this.#asked.length - 1 - at;
  }

  /** Asks the next question; false where none is left, or nobody answers. */
  async ask(ask: Ask, draft: MappingDraft, tables: readonly Table[]): Promise<boolean> {
    const question = this.#done >= 0 ? this.#fieldQuestion(draft) : this.#fileQuestion(draft, tables);
    if (!question) return false;
    const answer = await ask({ ...question, hasBefore: this.#asked.length > 0 || this.#file !== undefined });
    if (!answer) return false;
    if (answer === 'back') this.#back();
    else this.#take(question, answer);
    return true;
  }

  #back(): void {
    if (this.#file !== undefined) this.#file = undefined;
    else this.#asked.pop();
  }

  /** To accept what the files are is no answer about each: what a preset knows stays its own. */
  #take({ name, choices }: Question, { choice, text }: QuestionAnswer): void {
    const { value } = choices[choice]!;
    if (name === FILES && value !== 'yes') this.#file = value;
    else {
      this.#asked.push([name, text ?? value]);
      this.#file = undefined;
    }
  }

  #fileQuestion(draft: MappingDraft, tables: readonly Table[]): Question {
    const files = filesIn(tables);
    const file = files.find(({ source }) => source === this.#file);
    if (file) {
      const choices = Object.entries(FILE_KINDS).map(([value, [label]]) => ({ value, label }));
      const proposal = choices.findIndex(({ value }) => value === kindsIn(draft, file));
      return {
        name: file.source,
        text: `${file.label}, ${counted(file.records, 'record')}:\n${rowsOf(file)}\nWhat are these records?`,
        choices,
        proposal,
      };
    }
    const labelOf = (table: Table): string =>
      `${table.label} (${counted(table.records, 'record')}): ${FILE_KINDS[kindsIn(draft, table)]![0]}`;
    const choices = [
      { value: 'yes', label: 'Yes, go on' },
      ...files.map((table) => ({ value: table.source, label: `Change ${labelOf(table)}` })),
    ];
    return {
      name: FILES,
      text: `${files.map((table) => `  ${labelOf(table)}`).join('\n')}\nIs this what the files are?`,
      choices,
      proposal: 0,
    };
  }

  #fieldQuestion({ defaults, entries }: MappingDraft): Question | undefined {
    const open = [
      ...defaults.map((field) => ({ field, entry: undefined })),
      ...entries.flatMap((entry) => entry.fields.map((field) => ({ field, entry }))),
    ].filter(({ field }) => field.doubt !== undefined);
    const [first] = open;
    if (!first) return undefined;
    const { field, entry } = first;
    const where = entry ? `${entry.table.label}, ${kindOf(entry.kind).words[1]}` : 'all files';
    const choices = choicesFor(field, entry);
    return {
      name: fieldName(field, entry),
      text: `${this.#done + 1} of ${this.#done + open.length}: ${where}\n${field.key}: ${field.said}`,
      choices,
      proposal: field.off || field.isLoose ? choices.findIndex(({ value }) => value === 'out') : 0,
    };
  }
}

const FILES = 'files';
const MOST_NAMES = 12;
function refuse(name: string, text: string, why: string, able: readonly string[]): never {
  throw new UserError(`\`--answer ${name}=${text}\`: ${why}`, {
    hint: `possible answers: ${able.map((each) => `\`${each}\``).join(', ')}`,
  });
}

const filesIn = (tables: readonly Table[]): Table[] =>
  tables.filter(({ list, records }) => list === undefined && records > 0);

function kindsIn({ entries }: MappingDraft, table: Table): string {
  const own = new Set(entries.filter((entry) => entry.table === table).map(({ kind }) => kind));
  return Object.entries(FILE_KINDS).find(([, [, kinds]]) => kinds.join() === [...own].join())?.[0] ?? 'none';
}

/** Columns of a table in a question, and characters of their values. */
const MOST_COLUMNS = 8;
const MOST_CHARACTERS = 16;

function rowsOf({ columns }: Table): string {
  const all = columns.filter(({ filled, list, pair }) => filled > 0 && list === undefined && !pair);
  const shown = all.slice(0, MOST_COLUMNS).map(({ name, examples }) => {
    return `  ${short(name, MOST_CHARACTERS * 2)}: ${shownOf(examples)}`;
  });
  const more = all.length - shown.length;
  return [...shown, ...(more > 0 ? [`  and ${counted(more, 'more column')}`] : [])].join('\n');
}

const shownOf = (values: readonly string[]): string => values.map((value) => short(value, MOST_CHARACTERS)).join(' | ');

function short(text: string, most: number): string {
  const plain = text.replace(/\s+/g, ' ');
  return plain.length > most ? `${plain.slice(0, most)}…` : plain;
}

/** The value as it is, others, then to type one, and last to leave it out. */
function choicesFor(field: Field, entry: EntryDraft | undefined): Question['choices'] {
  const { key, value, off, columns, choices = [] } = field;
  const examples = columns.length === 1 && typeof value !== 'object' ? `: ${shownOf(columns[0]!.examples)}` : '';
  const isTyped = entry === undefined || key in TYPED || entry.table.columns.length > choices.length;
  const mistake = (text: string): string | undefined => {
    const found = typed(key, text, entry);
    return found instanceof Error ? found.message : undefined;
  };
  const example =
    entry === undefined ? (EXAMPLES[key] ?? '') : key === 'currency' ? 'EUR' : (entry.table.columns[0]?.name ?? '');
  return [
    ...(off ? [] : [{ value: 'yes', label: `as proposed: ${short(flow(value), 100)}${examples}` }]),
    ...choices.filter(({ answer }) => off || answer !== value).map(({ answer, label }) => ({ value: answer, label })),
    ...(isTyped && !(key in WITHOUT) ? [{ value: example, label: 'other: type it', mistake }] : []),
    ...(key === 'external_id' || key === 'timezone'
      ? []
      : [{ value: 'out', label: `leave it out${WITHOUT[key] ?? ''}` }]),
  ];
}

/** What a text means as a value of a field that is no column; an error if it means none. */
const TYPED: Readonly<Record<string, (text: string) => unknown>> = {
  region: (text) => countryCode(text) ?? new Error('the name of a country, or its two letters, such as IT'),
  timezone: (text) => (isZone(text) ? text : new Error('a time zone is written as Europe/Rome or UTC')),
  missing_values: (text) => [
    '',
    ...text
      .split(',')
      .map((each) => each.trim())
      .filter(Boolean),
  ],
  currency: (text) => (isCurrency(text.toUpperCase()) ? { value: text.toUpperCase() } : undefined),
};

function typed(key: string, text: string, entry: EntryDraft | undefined): unknown {
  const own = TYPED[key]?.(text);
  if (own !== undefined || !entry) return own;
  const names = entry.table.columns.flatMap(({ name, pair }) => (pair ? [] : [name]));
  if (names.includes(text)) return text;
  return new Error(didYouMean(text, names) ?? `the columns are ${names.slice(0, MOST_NAMES).join(', ')}`);
}
