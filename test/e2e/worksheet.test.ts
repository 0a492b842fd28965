// Lost without it: names that people filled in could be lost or go to the wrong stage.
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { mapping, project, summaryOf } from './harness.ts';

const MAPPING = mapping(
  {
    deals:
      'type: deal/created, stage_pipeline: pipeline, data: { external_id: id, title: title, stage_name: stage, owner_name: owner }',
  },
  'references:\n  owners: { Gone Rep: null }\n',
);

const FILES = {
  'mapping.yaml': MAPPING,
  'deals.csv': `id,title,pipeline,stage,owner
1,A,Verkauf,Gewonnen,Ada Lovelace
2,B,Verkauf,Negotation,Old Rep
3,C,Verkauf,Negotation,Gone Rep
`,
};

describe('references.csv', () => {
  it('is written by a dry run, filled in, named in the mapping, and then resolves the names', async () => {
    const { service, run, summary, write, read, state, stored } = await project(FILES);
    const first = await run('--dry-run');
    expect(first.code, first.stderr).toBe(1);
    const { pipelines, users } = service.account;
    const deals = pipelines.filter(({ type }) => type === 'DEAL');
    const stages = deals.flatMap(({ name, stages: list }) => list.map((stage) => `${name} / ${stage.name}`)).join('; ');
    // Two users have one name, and one of them no address.
    const owners = users
      .map(({ id, names: [name], email }) => (name !== 'Marco Rossi' ? name : (email ?? `${name} (${id})`)))
      .join('; ');
    expect((await stored('dry-run/references.csv')).split('\n')).toEqual([
      '\ufeffkind,pipeline,old_name,records,suggestion,new_name,choices',
      'pipeline,,Verkauf,3,,,Sales; Partners',
      `stage,Verkauf,Negotation,2,Negotiation,,${stages}`,
      `stage,Verkauf,Gewonnen,1,Won,,${stages}`,
      `owner,,Old Rep,1,,,${owners}`,
      `owner,,Ada Lovelace,1,,Ada Lovelace,${owners}`,
      `owner,,Gone Rep,1,,(omit),${owners}`,
      '',
    ]);

    const filled = (await stored('dry-run/references.csv'))
      .replace('Verkauf,3,,', 'Verkauf,3,,Sales')
      .replace('2,Negotiation,', '2,Negotiation,Negotiation')
      .replace('1,Won,', '1,,Won')
      .replace('Old Rep,1,,', 'Old Rep,1,,grace@example.test')
      .replaceAll('; ', ' | ')
      .replaceAll(',', ';');
    await write({ 'names.csv': filled });
    await write({ 'mapping.yaml': MAPPING.replace('references:\n', 'references:\n  file: names.csv\n') });
    const sent = await run();
    expect(sent.code, sent.stderr).toBe(0);
    const sales = pipelines.find(({ name }) => name === 'Sales')!.stages;
    const arrived = service
      .state()
      .deals.map(({ stageId, ownerId }) => [
        sales.find(({ id }) => id === stageId)?.name,
        users.find(({ id }) => id === ownerId)?.names[0],
      ]);
    expect(arrived).toEqual([
      ['Won', 'Ada Lovelace'],
      ['Negotiation', 'Grace Hopper'],
      ['Negotiation', undefined],
    ]);
    expect(await read('names.csv')).toBe(filled);
    expect(existsSync(state('references.csv'))).toBe(false);

    expect(await summary()).toMatchObject({ events: { changed: 0 } });
    await write({ 'names.csv': filled.replace('grace@', 'ada@') });
    expect(await summary()).toMatchObject({ events: { changed: 1 } });
  });

  it('is written where the mapping says, gets new names as rows, and messages name its lines', async () => {
    const { run, write, edit, read, state } = await project({
      ...FILES,
      'mapping.yaml': MAPPING.replace('  owners: { Gone Rep: null }', '  file: names.csv'),
    });
    const first = await run('--dry-run');
    expect(first.code, first.stderr).toBe(1);
    expect(existsSync(state('dry-run/references.csv'))).toBe(false);
    expect(first.stderr).toMatch(/1 pipeline, 2 stages and 2 owners have no new name +names\.csv:2 +3\n/);
    expect(first.stderr).toContain('Wrote names.csv: 6 names, 5 of them to answer');
    expect(first.stderr).toMatch(/Next +fill in `new_name` in names\.csv, then\s+.* run mapping\.yaml .*--dry-run/);

    const filled = (await read('names.csv'))
      .replace('Verkauf,3,,', 'Verkauf,3,,Sales')
      .replace('2,Negotiation,', '2,Negotiation,Negotiation')
      .replace('1,Won,', '1,,Won')
      .replace('Gone Rep,1,,', 'Gone Rep,1,,(omit)')
      .replace('Old Rep,1,,', 'Olt Rep,1,,Grace Hopper');
    await write({ 'names.csv': filled });
    await edit('deals.csv', (text) => `${text}4,D,Verkauf,Gewonnen,New Rep\n`);
    const second = await run('--dry-run');
    expect(second.code, second.stderr).toBe(1);
    expect(await read('names.csv')).toMatch(
      new RegExp(`^${'.*\\n'.repeat(7)}owner,,New Rep,1,.*\nowner,,Old Rep,1,.*\n$`),
    );
    expect((await read('names.csv')).startsWith(filled)).toBe(true);
    expect(second.stderr).toContain('Added to names.csv: 2 new names, from line 8');
    expect(second.stderr).toMatch(/owner `New Rep` and owner `Old Rep` have no new name +names\.csv:8 +2\n/);
    expect(second.stderr).toMatch(/names\.csv[^]*line 6:\s+owner\s+`Olt Rep`/);
    expect(summaryOf(second).warnings_by_code).toMatchObject({ unmatched_answer: 1 });
  });

  it('with a mistake stops the run before anything is sent', async () => {
    const { run, posts, command } = await project({
      ...FILES,
      'mapping.yaml': MAPPING.replace('references:\n', 'references:\n  file: names.csv\n'),
      'names.csv': 'kind,pipeline,old_name,records,suggestion,new_name\nowner,,Old Rep,1,,Ada Lovelac\n',
    });
    const { code, stderr } = await run();
    expect(code).toBe(2);
    expect(stderr).toContain('names.csv:2:1 error: owner `Ada Lovelac` not found among the users [unresolved_owner]');
    expect(posts()).toBe(0);
    expect((await command('status')).stderr).not.toContain('names.csv');
  });

  it('that was filled in where it is stays, and purge deletes it and those beside it', async () => {
    const { run, edit, stored, command } = await project(FILES);
    await run('--dry-run');
    await run('--max-errors', '100%');
    const path = '.backfill/test/references.csv';
    await edit(path, (text) => text.replace('Old Rep,1,,', 'Old Rep,1,,Sales Desk'));
    const edited = await stored('references.csv');
    const { stderr } = await run('--max-errors', '100%');
    expect(stderr).toContain(
      `${path} was changed outside this program, so it was not overwritten; the new worksheet is `,
    );
    expect(await stored('references.csv')).toBe(edited);
    const purged = await command('purge', '--yes');
    expect(purged.stderr).toMatch(/^ *to delete: .*references\.2\.csv, references\.csv/m);
  });
});
