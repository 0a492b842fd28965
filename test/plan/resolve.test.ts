// Lost without it: a stage or owner could go to another one of a similar name.
import { describe, expect, it } from 'vitest';
import type { References } from '../../src/mapping/mapping.ts';
import { Resolver, type Resolution } from '../../src/survey/resolve.ts';
import { defaultAccount } from '../../src/sandbox/index.ts';
import type { Account } from '../../src/service/account.ts';

const account = defaultAccount();
const PLACE = { source: 's', file: 's.csv', line: 2, record: 1 };

type Names = Readonly<Record<string, string | null>>;

function resolver(
  references: { pipelines?: Names; stages?: Names; byPipeline?: Readonly<Record<string, Names>>; owners?: Names } = {},
  of: Account | undefined = account,
): Resolver {
  const map = (names: Names = {}) => new Map(Object.entries(names));
  const built: References = {
    pipelines: map(references.pipelines),
    stages: map(references.stages),
    stagesByPipeline: new Map(Object.entries(references.byPipeline ?? {}).map(([name, names]) => [name, map(names)])),
    owners: map(references.owners),
  };
  return new Resolver(of, [built]);
}

function stageId(pipeline: string, stage: string): string {
  return account.pipelines.find(({ name }) => name === pipeline)!.stages.find(({ name }) => name === stage)!.id;
}

function userId(email: string): string {
  return account.users.find((user) => user.email === email)!.id;
}

function textOf(resolution: Resolution): string {
  if (resolution.kind === 'resolved') return resolution.target.id;
  return resolution.kind === 'failed' ? resolution.issue.code : resolution.kind;
}

describe('a stage', () => {
  it.each<[string, Parameters<typeof resolver>[0], [string, string?], string]>([
    ['is found by its exact name', {}, ['Proposal'], stageId('Sales', 'Proposal')],
    ['is found regardless of case, spacing and Unicode form', {}, ['  pROPOSAL '], stageId('Sales', 'Proposal')],
    ['is found by its id', {}, [stageId('Sales', 'Won')], stageId('Sales', 'Won')],
    ['of two pipelines is ambiguous', {}, ['Won'], 'ambiguous_stage'],
    ['of two pipelines is found with its pipeline', {}, ['Partners / Won'], stageId('Partners', 'Won')],
    ['of two pipelines is found in the given pipeline', {}, ['Won', 'Partners'], stageId('Partners', 'Won')],
    [
      'is found in the pipeline that an old name maps to',
      { pipelines: { Old: 'Sales' } },
      ['Won', 'Old'],
      stageId('Sales', 'Won'),
    ],
    ['is looked up in the map first', { stages: { Won: 'Lost' } }, ['Won', 'Sales'], stageId('Sales', 'Lost')],
    [
      'prefers the map of its pipeline',
      { stages: { Hot: 'New' }, byPipeline: { Sales: { Hot: 'Proposal' } } },
      ['Hot', 'Sales'],
      stageId('Sales', 'Proposal'),
    ],
    ['mapped to null is left out', { stages: { Won: null } }, ['Won', 'Sales'], 'omit'],
    ['that is unknown is unresolved', {}, ['Nowhere'], 'unresolved_stage'],
    [
      'that is otherwise unknown falls back to "*"',
      { stages: { '*': 'New' } },
      ['Nowhere', 'Sales'],
      stageId('Sales', 'New'),
    ],
    [
      'that exists in the account does not fall back to "*"',
      { stages: { '*': 'New' } },
      ['Won', 'Sales'],
      stageId('Sales', 'Won'),
    ],
    ['that is ambiguous does not fall back to "*"', { stages: { '*': 'New' } }, ['Won'], 'ambiguous_stage'],
    ['of a lead pipeline cannot be used for deals', {}, ['Fresh'], 'unresolved_stage'],
    ['in a pipeline that is unknown is unresolved', {}, ['Won', 'Elsewhere'], 'unresolved_pipeline'],
  ])('%s', (_name, references, [stage, pipeline], expected) => {
    expect(textOf(resolver(references).stage(stage, pipeline, PLACE))).toBe(expected);
  });

  it('that is unresolved is reported with similar names', () => {
    const resolution = resolver().stage('Negotation', 'Sales', PLACE);
    expect(resolution).toMatchObject({
      kind: 'failed',
      issue: {
        message: 'stage `Negotation` not found among the stages of pipeline `Sales`',
        hint: expect.stringContaining('`Negotiation`') as unknown,
      },
    });
  });
});

describe('an owner', () => {
  it.each<[string, Names, string, string]>([
    ['is found by name', {}, 'Ada Lovelace', userId('ada@example.test')],
    ['is found by e-mail', {}, 'ADA@example.test', userId('ada@example.test')],
    ['is found by id', {}, userId('ada@example.test'), userId('ada@example.test')],
    ['is found in another Unicode form', {}, 'Jürgen Groß'.normalize('NFD'), userId('juergen@example.test')],
    ['with the name of two users is ambiguous', {}, 'Marco Rossi', 'ambiguous_owner'],
    ['is found by its name in the map', { 'Old Rep': 'grace@example.test' }, 'Old Rep', userId('grace@example.test')],
    ['mapped to null is left out', { 'Old Rep': null }, 'Old Rep', 'omit'],
    ['that is otherwise unknown is left out by "*": null', { '*': null }, 'Who', 'omit'],
  ])('%s', (_name, owners, name, expected) => {
    expect(textOf(resolver({ owners }).owner(name, PLACE))).toBe(expected);
  });
});

it('reports that the account is unknown if there is none', () => {
  const offline = new Resolver(undefined, []);
  expect(textOf(offline.stage('Won', undefined, PLACE))).toBe('unknown_account');
  expect(offline.knows('owner_id', 'x')).toBe(true);
});

it('an id and a name of the same thing may stand together, and a name of something else is said', () => {
  const names = resolver();
  const won = stageId('Sales', 'Won');
  expect(names.disagrees('stage', won, 'Won', 'Sales')).toBeUndefined();
  expect(names.disagrees('stage', won, 'Lost', 'Sales')).toBe('Sales / Won');
  expect(names.disagrees('stage', won, 'Unheard of', 'Sales')).toBeUndefined();
  expect(names.disagrees('owner', userId('ada@example.test'), 'Ada Lovelace', undefined)).toBeUndefined();
  expect(names.disagrees('owner', userId('ada@example.test'), 'Grace Hopper', undefined)).toBe('Ada Lovelace');
});
