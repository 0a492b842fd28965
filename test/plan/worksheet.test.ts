// Lost without it: an answer of the worksheet could be misread or overwritten.
import { Resolver } from '../../src/survey/resolve.ts';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { References } from '../../src/mapping/mapping.ts';
import { writeWorksheet } from '../../src/survey/worksheet-file.ts';
import { worksheetRows } from '../../src/survey/worksheet-rows.ts';
import { openReferences, unmatchedAnswers } from '../../src/survey/worksheet.ts';
import { defaultAccount } from '../../src/sandbox/index.ts';
import type { Account } from '../../src/service/account.ts';
import { StateDir } from '../../src/files/state-dir.ts';
import { PLAN } from '../../src/store/plan-schema.ts';
import { Database } from '../../src/store/sqlite.ts';
import { folderWith } from '../input/reading.ts';

const HEADER = 'kind,pipeline,old_name,records,suggestion,new_name,choices';
const NONE: References = { pipelines: new Map(), stages: new Map(), stagesByPipeline: new Map(), owners: new Map() };
const AT = { file: 'mapping.yaml', line: 9, column: 9 };

function place(record: number) {
  return { source: 'deals', file: 'deals.csv', line: record + 1, record };
}

function open(
  text: string | Buffer,
  { references = NONE, account }: { references?: References; account?: Account } = {},
) {
  const path = join(folderWith({ 'names.csv': '' }), 'names.csv');
  writeFileSync(path, text);
  const mapping = { references, worksheet: { path, at: AT } };
  return openReferences(mapping, account ?? defaultAccount());
}

async function problemsOf(...rows: string[]): Promise<string> {
  const opened = open([HEADER, ...rows, ''].join('\n'));
  return opened.then(
    () => '',
    (error: Error) => error.message,
  );
}

/** The names that these stages and owners resolve to; `null` if the field is omitted. */
async function resolved(text: string | Buffer, references?: References): Promise<(string | null)[]> {
  const { resolver } = await open(text, references && { references });
  const resolutions = [
    resolver.stage('Vinta', 'Vendite', place(1)),
    resolver.stage('Persa', undefined, place(2)),
    resolver.owner('Niccolò "Nico" Rossi, jr; dr', place(3)),
    resolver.owner('=Gone', place(4)),
  ];
  return resolutions.map((resolution) =>
    resolution.kind === 'resolved' ? (resolution.target.names[0] ?? '') : resolution.kind === 'omit' ? null : '?',
  );
}

const ANSWERED = [
  ['kind', 'pipeline', 'old_name', 'records', 'suggestion', 'new_name'],
  ['pipeline', '', 'Vendite', '1', '', 'Sales'],
  ['stage', 'Vendite', 'Vinta', '1', 'Won', 'won'],
  ['stage', '', 'Persa', '1', 'Lost', 'Lost'],
  ['owner', '', 'Niccolò "Nico" Rossi, jr; dr', '1', '', 'ADA@example.test'],
  ['owner', '', "'=Gone", '1', '', '(omit)'],
];

function csv(delimiter: string, ends = '\r\n'): string {
  const cell = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  return ANSWERED.map((row) => row.map(cell).join(delimiter) + ends).join('');
}

describe('a worksheet', () => {
  it.each<[string, string | Buffer]>([
    ['with commas', csv(',', '\n')],
    ['with a byte-order mark and semicolons, as a spreadsheet of many countries saves it', `\ufeff${csv(';')}`],
    ['in UTF-16 with tabs, as "Unicode text"', Buffer.from(`\ufeff${csv('\t')}`, 'utf16le')],
    ['with empty rows at its end', `${csv(';')};;;;;\r\n;;;;;\r\n`],
    ['with a further column of notes', csv(',').replace(/\r\n/g, ',"a note"\r\n').replace('"a note"', '"notes"')],
  ])('is read %s', async (_name, text) => {
    expect(await resolved(text)).toEqual(['Won', 'Lost', 'Ada Lovelace', null]);
  });

  it('answers only names that the mapping does not', async () => {
    const references = {
      ...NONE,
      stages: new Map([['vinta', 'Proposal']]),
      owners: new Map([['*', 'Sales Desk']]),
    };
    expect(await resolved(csv(','), references)).toEqual(['Proposal', 'Lost', 'Ada Lovelace', null]);
  });

  it.each<[string, string[], RegExp]>([
    [
      'an unknown kind',
      ['stages,,Won,1,,Lost'],
      /names\.csv:2:1 error: unknown kind `stages` \[unknown_kind\]\n {2}hint: did you mean `stage`\?/,
    ],
    [
      'a name that the account does not have',
      ['owner,,Rep,1,,Ada Lovelac'],
      /:2:1 error: owner `Ada Lovelac` not found among the users \[unresolved_owner\]\n.*did you mean `Ada Lovelace`\?/,
    ],
    ['a pipeline that the account does not have', ['pipeline,,Old,1,,Zzz'], /:2:1 error: pipeline `Zzz` not found/],
    [
      'a stage of another pipeline',
      ['pipeline,,Old,1,,Partners', 'stage,Old,Done,1,,Proposal'],
      /:3:1 error: stage `Proposal` not found among the stages of pipeline `Partners`/,
    ],
    [
      'an ambiguous stage',
      ['stage,,Done,1,,Won'],
      /:2:1 error: stage `Won` matches 2 stages of the deal pipelines.*\n.*`Sales \/ Won`, `Partners \/ Won`/,
    ],
    [
      'different answers to one name',
      ['stage,Sales,A,1,,Won', 'stage,Sales,A,1,,Won', 'stage,Sales,A,1,,Lost'],
      /:4:1 error: stage `A` is on line 2 already/,
    ],
    ['an answer without a name', ['owner,,,1,,Ada Lovelace'], /:2:1 error: a `new_name` without `old_name`/],
    ['a row with too many cells', ['owner,,Rep,1,,Ada Lovelace,,oops'], /:2:1 error: the row has 8 cells/],
  ])('with %s is refused with its line', async (_name, rows, expected) => {
    expect(await problemsOf(...rows)).toMatch(expected);
  });

  it('without one of its columns, or that is not UTF-8, is refused', async () => {
    await expect(open('kind,pipeline,old_name\nowner,,Rep\n')).rejects.toThrow(
      /names\.csv:1:1 error: missing column `new_name`/,
    );
    await expect(open(Buffer.from(csv(';'), 'latin1'))).rejects.toMatchObject({
      message: expect.stringMatching(/names\.csv:5 is not UTF-8/) as unknown,
      hint: expect.stringContaining('save the worksheet as CSV in UTF-8') as unknown,
    });
  });
});

describe('the worksheet of a survey', () => {
  async function rowsOf(
    meet: (opened: Awaited<ReturnType<typeof open>>['resolver']) => void,
    text = `${HEADER}\n`,
    references = NONE,
  ) {
    const { resolver, answers } = await open(text, { references });
    meet(resolver);
    return worksheetRows(resolver, answers);
  }

  it.each<[string, [string, string?], string]>([
    ['a similar name', ['Negotation', 'Sales'], 'Sales / Negotiation'],
    ['the word for a deal that was won', ['Chiusa vinta', 'Sales'], 'Sales / Won'],
    ['the word for a deal that was lost', ['Verloren', 'Sales'], 'Sales / Lost'],
    ['the number of the stage', ['3 - Angebot', 'Sales'], 'Sales / Proposal'],
    ['the letters at the beginning of a name', ['Qualification', 'Sales'], 'Sales / Qualified'],
    ['the stages of the pipeline that is suggested', ['Sgned', 'Partner'], 'Signed'],
  ])('suggests stages by %s', async (_name, [stage, pipeline], expected) => {
    const rows = await rowsOf((resolver) => resolver.stage(stage, pipeline, place(1)));
    expect(rows.find(({ kind }) => kind === 'stage')).toMatchObject({
      suggestions: [expected],
      newName: '',
      isOpen: true,
    });
  });

  it('has a row for each name, resolved or not, with its number of records', async () => {
    const references = { ...NONE, owners: new Map([['*', null]]), pipelines: new Map([['Old', 'Sales']]) };
    const rows = await rowsOf(
      (resolver) => {
        for (const record of [1, 2]) {
          resolver.stage('won', 'Old', place(record));
          resolver.owner('Ada Lovelace', place(record));
        }
        const twice = place(3);
        for (let event = 0; event < 2; event += 1) resolver.stage('Nowhere', 'Old', twice);
        resolver.owner('Who', place(4));
      },
      `${HEADER}\nowner,,Ada Lovelace,9,,ADA@example.test\nowner,,Not met,9,,(OMIT)\n`,
      references,
    );
    expect(
      rows.map((row) => [row.kind, row.pipeline, row.oldName, row.records, row.suggestions, row.newName, row.isOpen]),
    ).toEqual([
      ['pipeline', '', 'Old', 3, [], 'Sales', false],
      ['stage', 'Old', 'Nowhere', 1, [], '', true],
      ['stage', 'Old', 'won', 2, [], 'Sales / Won', false],
      ['owner', '', 'Ada Lovelace', 2, [], 'ADA@example.test', false],
      ['owner', '', 'Who', 1, ['(omit)'], '', false],
      ['owner', '', 'Not met', 0, [], '(OMIT)', false],
    ]);
  });

  const row = {
    kind: 'owner',
    pipeline: '',
    records: 1,
    suggestions: [],
    newName: 'Ada Lovelace',
    choices: '',
    isOpen: false,
  } as const;
  const names = ['=HYPERLINK("x")', "'=x", 'a\nb', ' "q", ;', 'Zoë', '\t-x', '-1'].map((name) => name.trim());

  it('has no formulas, and is read again as it was written', async () => {
    const state = await StateDir.create(folderWith({}));
    const { path } = await writeWorksheet(
      { db: Database.inMemory(PLAN), output: state, named: undefined, existing: undefined },
      names.map((oldName) => ({ ...row, oldName })),
    );
    const text = readFileSync(path, 'utf8');
    expect(text.startsWith(`\ufeff${HEADER}\n`)).toBe(true);
    expect(text).not.toMatch(/,"?[=+\-@]/);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const { answers } = await open(text);
    expect(answers.map(({ oldName }) => oldName)).toEqual(names);
  });
});

describe('the worksheet that the mapping names', () => {
  const row = { kind: 'owner', pipeline: '', records: 1, suggestions: [], newName: '', choices: 'A; B' } as const;
  const owner = (oldName: string) => ({ ...row, oldName, isOpen: true });

  async function writing(named: string) {
    const output = await StateDir.create(folderWith({}));
    const db = Database.inMemory(PLAN);
    const write = async (...names: string[]) => {
      const mapping = { references: NONE, worksheet: { path: named, at: AT } };
      const { existing } = await openReferences(mapping, defaultAccount());
      return writeWorksheet({ db, output, named, existing }, names.map(owner));
    };
    return { output, db, write };
  }

  it('is written there, for nobody else to read, and what the program left in the state directory goes', async () => {
    const named = join(folderWith({}), 'names.csv');
    const { output, db, write } = await writing(named);
    await writeWorksheet({ db, output, named: undefined, existing: undefined }, [owner('Old')]);
    expect(await write()).toMatchObject({ isNamed: true, added: [] });
    expect(existsSync(named)).toBe(false);
    expect(await write('a\nb', 'c')).toMatchObject({
      path: named,
      isNamed: true,
      added: 'file',
      rows: [{ line: 2 }, { line: 4 }],
    });
    expect(statSync(named).mode & 0o777).toBe(0o600);
    expect(existsSync(output.file('references.csv'))).toBe(false);

    const before = readFileSync(named);
    expect(await write('a\nb', 'c')).toMatchObject({ added: [] });
    expect(readFileSync(named)).toEqual(before);
  });

  it.each<[string, string, 'utf8' | 'utf16le', string]>([
    [
      'semicolons and CRLF',
      '\ufeffnote;kind;old_name;pipeline;new_name\r\nx;owner;Old;;\r\n',
      'utf8',
      ';owner;"New; Rep";;\r\n',
    ],
    [
      'tabs in UTF-16',
      '\ufeffkind\tpipeline\told_name\tnew_name\r\nowner\t\tOld\t\r\n',
      'utf16le',
      'owner\t\tNew; Rep\t\r\n',
    ],
    [
      'no line end at its end',
      'kind,pipeline,old_name,new_name,records\nowner,,Old,,3',
      'utf8',
      '\nowner,,New; Rep,,1\n',
    ],
  ])('gets new names as rows of its own form: %s', async (_form, text, encoding, added) => {
    const named = join(folderWith({}), 'names.csv');
    writeFileSync(named, Buffer.from(text, encoding), { mode: 0o640 });
    const { write } = await writing(named);
    const { rows, added: lines } = await write('New; Rep', 'OLD');
    expect(readFileSync(named)).toEqual(Buffer.from(text + added, encoding));
    expect(statSync(named).mode & 0o777).toBe(0o640);
    expect(lines).toEqual([3]);
    expect(rows.map(({ oldName, line }) => [oldName, line])).toEqual([
      ['OLD', 2],
      ['New; Rep', 3],
    ]);
    expect(await write('New; Rep', 'OLD')).toMatchObject({ added: [] });
  });

  it('that cannot be written is in the state directory, and that is said', async () => {
    const named = join(folderWith({}), 'missing', 'names.csv');
    const { output, write } = await writing(named);
    const { path, isNamed, elsewhere } = await write('a');
    expect([path, isNamed]).toEqual([output.file('references.csv'), false]);
    expect(elsewhere).toContain('names.csv: ');
  });

  it('is not deleted where it lies among the files of the program', async () => {
    const output = await StateDir.create(folderWith({}));
    const db = Database.inMemory(PLAN);
    const { path: named } = await writeWorksheet({ db, output, named: undefined, existing: undefined }, [owner('a')]);
    const { existing } = await openReferences(
      { references: NONE, worksheet: { path: named, at: AT } },
      defaultAccount(),
    );
    await writeWorksheet({ db, output, named, existing }, [owner('a'), owner('b')]);
    expect(readFileSync(named, 'utf8')).toMatch(/owner,,a,.*\nowner,,b,/);
  });
});

describe('rows about names that no record has', () => {
  const at = (line: number) => ({ file: 'names.csv', line, column: 1 });
  const owner = (oldName: string, line: number) =>
    ({ kind: 'owner', pipeline: '', oldName, newName: 'Ada Lovelace', at: at(line) }) as const;

  it('are named with the name that a spreadsheet has changed', () => {
    const resolver = new Resolver(defaultAccount(), []);
    const place = { source: 's', file: 's.csv', line: 2, record: 1 };
    for (const name of ['0012', 'Ada', 'Old\u200b Rep']) resolver.owner(name, place);
    const found = unmatchedAnswers(
      [owner('12', 2), owner('ada', 3), owner('Old[U+200B] Rep', 4), owner('Nobody', 5)],
      resolver.met(),
    );
    expect(found).toMatchObject({ code: 'unmatched_answer', count: 2 });
    expect(found!.message).toContain('line 2: owner `12` (the exports have `0012`), line 5: owner `Nobody`');
    expect(unmatchedAnswers([owner('0012', 2)], resolver.met())).toBeUndefined();
    const stage = (pipeline: string) => ({ ...owner('Won', 6), kind: 'stage', pipeline }) as const;
    resolver.stage('Won', 'Sales', place);
    expect(unmatchedAnswers([stage('Sales'), stage('')], resolver.met())).toBeUndefined();
    expect(unmatchedAnswers([stage('Seles')], resolver.met())).toMatchObject({ count: 1 });
  });

  it('a name with invisible characters may be written as it is printed', () => {
    const references = {
      pipelines: new Map(),
      stages: new Map(),
      stagesByPipeline: new Map(),
      owners: new Map([['Old[U+200B] Rep', 'Ada Lovelace']]),
    };
    const resolver = new Resolver(defaultAccount(), [references]);
    expect(resolver.owner('Old\u200b Rep', { source: 's', file: 's.csv', line: 2, record: 1 }).kind).toBe('resolved');
  });
});
