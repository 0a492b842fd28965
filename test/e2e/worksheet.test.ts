import { existsSync } from 'node:fs';
import { appendFile, copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { backfill, project, summaryOf } from './harness.ts';

const MAPPING = `version: 1
migration: m
sources: { deals: { path: deals.csv } }
references:
  owners: { Gone Rep: null }
events:
  - type: deal/created
    source: deals
    data: { external_id: id, title: title, stage_name: stage, owner_name: owner }
    stage_pipeline: pipeline
`;

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
    const { service, cwd, run } = await project(FILES);
    const first = await run('--dry-run');
    expect(first.code, first.stderr).toBe(1);
    const written = join(cwd, '.backfill/m/dry-run/references.csv');
    const { pipelines, users } = service.account;
    const deals = pipelines.filter(({ type }) => type === 'DEAL');
    const stages = deals.flatMap(({ name, stages: list }) => list.map((stage) => `${name} / ${stage.name}`)).join('; ');
    // Two users have one name, and one of them no address.
    const owners = users
      .map(({ id, names: [name], email }) => (name !== 'Marco Rossi' ? name : (email ?? `${name} (${id})`)))
      .join('; ');
    expect((await readFile(written, 'utf8')).split('\n')).toEqual([
      '\ufeffkind,pipeline,old_name,records,suggestion,new_name,choices',
      'pipeline,,Verkauf,3,,,Sales; Partners',
      `stage,Verkauf,Negotation,2,Negotiation,,${stages}`,
      `stage,Verkauf,Gewonnen,1,Won,,${stages}`,
      `owner,,Old Rep,1,,,${owners}`,
      `owner,,Ada Lovelace,1,,Ada Lovelace,${owners}`,
      `owner,,Gone Rep,1,,(omit),${owners}`,
      '',
    ]);

    const filled = (await readFile(written, 'utf8'))
      .replace('Verkauf,3,,', 'Verkauf,3,,Sales')
      .replace('2,Negotiation,', '2,Negotiation,Negotiation')
      .replace('1,Won,', '1,,Won')
      .replace('Old Rep,1,,', 'Old Rep,1,,grace@example.test')
      .replaceAll('; ', ' | ')
      .replaceAll(',', ';');
    await writeFile(join(cwd, 'names.csv'), filled);
    await writeFile(join(cwd, 'mapping.yaml'), MAPPING.replace('references:\n', 'references:\n  file: names.csv\n'));
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
    expect(await readFile(join(cwd, 'names.csv'), 'utf8')).toBe(filled);
    expect(existsSync(join(cwd, '.backfill/m/references.csv'))).toBe(false);

    expect(summaryOf(await run())).toMatchObject({ mapping_changed: false, events: { changed: 0 } });
    await writeFile(join(cwd, 'names.csv'), filled.replace('grace@', 'ada@'));
    expect(summaryOf(await run())).toMatchObject({ mapping_changed: true, events: { changed: 1 } });
  });

  it('is written where the mapping says, gets new names as rows, and messages name its lines', async () => {
    const { cwd, run } = await project({
      ...FILES,
      'mapping.yaml': MAPPING.replace('  owners: { Gone Rep: null }', '  file: names.csv'),
    });
    const file = join(cwd, 'names.csv');
    const first = await run('--dry-run');
    expect(first.code, first.stderr).toBe(1);
    expect(existsSync(join(cwd, '.backfill/m/dry-run/references.csv'))).toBe(false);
    expect(first.stderr).toMatch(/owner `Gone Rep` has no new name +names\.csv:5/);
    expect(first.stderr).toMatch(/Next +fill in `new_name` in names\.csv, then\s+.* run mapping\.yaml .*--dry-run/);

    const filled = (await readFile(file, 'utf8'))
      .replace('Verkauf,3,,', 'Verkauf,3,,Sales')
      .replace('2,Negotiation,', '2,Negotiation,Negotiation')
      .replace('1,Won,', '1,,Won')
      .replace('Gone Rep,1,,', 'Gone Rep,1,,(omit)')
      .replace('Old Rep,1,,', 'Olt Rep,1,,Grace Hopper');
    await writeFile(file, filled);
    await appendFile(join(cwd, 'deals.csv'), '4,D,Verkauf,Gewonnen,New Rep\n');
    const second = await run('--dry-run');
    expect(second.code, second.stderr).toBe(1);
    expect(await readFile(file, 'utf8')).toMatch(
      new RegExp(`^${'.*\\n'.repeat(7)}owner,,New Rep,1,.*\nowner,,Old Rep,1,.*\n$`),
    );
    expect((await readFile(file, 'utf8')).startsWith(filled)).toBe(true);
    expect(second.stderr).toContain('Added to names.csv: 2 new names, from line 8');
    expect(second.stderr).toMatch(/owner `New Rep` has no new name +names\.csv:8/);
    expect(second.stderr).toMatch(/names\.csv[^]*line 6:\s+owner\s+`Olt Rep`/);
    expect(summaryOf(second).warnings_by_code).toMatchObject({ unmatched_answer: 1 });
  });

  it('is no change of the mapping where it was written, and where a name without an answer gets one', async () => {
    const mapping = MAPPING.replace('  owners: { Gone Rep: null }', '  file: names.csv');
    const { cwd, run } = await project({ ...FILES, 'mapping.yaml': mapping });
    const file = join(cwd, 'names.csv');
    await run('--dry-run');
    await writeFile(
      file,
      (await readFile(file, 'utf8')).replace('Verkauf,3,,', 'Verkauf,3,,Sales').replace('1,Won,', '1,,Won'),
    );
    const first = summaryOf(await run());
    expect(first.events.acknowledged).toBeGreaterThan(0);
    await writeFile(file, (await readFile(file, 'utf8')).replace('Old Rep,1,,', 'Old Rep,1,,Grace Hopper'));
    const second = summaryOf(await run());
    expect(second).toMatchObject({ mapping_changed: false, events: { changed: 0 } });
    expect(second.errors_by_code.unresolved_owner).toBeLessThan(first.errors_by_code.unresolved_owner!);
  });

  it('with a mistake stops the run before anything is sent', async () => {
    const { cwd, run, posts } = await project({
      ...FILES,
      'mapping.yaml': MAPPING.replace('references:\n', 'references:\n  file: names.csv\n'),
      'names.csv': 'kind,pipeline,old_name,records,suggestion,new_name\nowner,,Old Rep,1,,Ada Lovelac\n',
    });
    const { code, stderr } = await run();
    expect(code).toBe(2);
    expect(stderr).toContain('names.csv:2:1 error: owner `Ada Lovelac` not found among the users [unresolved_owner]');
    expect(posts()).toBe(0);
    expect((await backfill(['status', 'mapping.yaml'], { cwd })).stderr).not.toContain('names.csv');
  });

  it('that was filled in where it is stays, and purge deletes it and those beside it', async () => {
    const { cwd, run } = await project(FILES);
    await run('--dry-run');
    const state = join(cwd, '.backfill/m');
    await run('--max-errors', '100%');
    const edited = `${await readFile(join(state, 'references.csv'), 'utf8')}`.replace(
      'Old Rep,1,,',
      'Old Rep,1,,Sales Desk',
    );
    await writeFile(join(state, 'references.csv'), edited);
    const { stderr } = await run('--max-errors', '100%');
    expect(stderr).toContain(
      '.backfill/m/references.csv was changed outside this program, so it was not overwritten; the new worksheet is ',
    );
    expect(await readFile(join(state, 'references.csv'), 'utf8')).toBe(edited);
    await copyFile(join(state, 'references.csv'), join(cwd, 'names.csv'));
    const purged = await backfill(['purge', 'mapping.yaml', '--yes'], { cwd });
    expect(purged.stderr).toMatch(/^deleted .*references\.2\.csv, references\.csv/m);
  });
});
