// Lost without it: the page of the hand-over could change when it is written again.
import { expect, it } from 'vitest';
import type { PageFigures } from '../../src/report/figures/page.ts';
import { mapping, project } from './harness.ts';

const MAPPING = mapping(
  {
    people:
      'type: lead/created, when: { from: kind, equals: lead }, data: { external_id: id, full_name: { from: name, apply: [uppercase] }, email: email }',
  },
  'defaults: { timezone: America/New_York }\nreferences: { file: names.csv }\n',
);

const PEOPLE = `id,name,email,kind,fax,pager
1,Ada,a@example.com,lead,555-FAX-1,
2,Alan,not an address,lead,,
3,Grace,g@example.com,lead,555-FAX-3,
`;

const WORKSHEET = 'kind,pipeline,old_name,records,suggestion,new_name\nowner,,Old Rep,1,,\n';

/** A page as text, its rows in lines. */
function textOf(page: string): string {
  const rows = page.replace(/<style>.*?<\/style>/s, '').replace(/<\/(?:tr|p|h\d|dd|caption)>/g, '\n');
  return rows.replace(/<[^>]*>/g, ' ').replace(/[^\S\n]+/g, ' ');
}

it('is a hand-over: the mapping, what was not carried, and times in the zone of the mapping; written again, it is the same', async () => {
  const { told, command, state, stored, write } = await project({
    ...{ 'mapping.yaml': MAPPING, 'people.csv': PEOPLE, 'calls.csv': 'id\n1\n', 'names.csv': WORKSHEET },
  });
  await told();
  const written = await stored('report.html');
  const text = textOf(written);
  expect(text).toMatch(/Ended \n .* \d\d:\d\d GMT-[45]/);
  expect(text).toMatch(/Leads, from people: every row in which kind is lead/);
  expect(text).toMatch(/name name converts to upper case/);
  expect(text).toMatch(/people\.csv 3 3 leads arrived/);
  expect(text).toContain('All 3 records arrived.');
  expect(text).toMatch(/fax people 2 3/);
  expect(text).toContain('Not used and without any value: pager (people).');
  expect(text).toContain('These files beside the exports were not read: calls.csv.');
  expect(text).toMatch(/Only the e-mail address of one lead: An e-mail address is invalid. invalid_email 1 /);
  for (const value of ['555-FAX', 'not an address', 'Grace']) expect(written).not.toContain(value);
  expect(written).not.toContain('class="banner"');

  // Written again, it is about the run and not about what the mapping has become since.
  await write({ 'mapping.yaml': MAPPING.replace('uppercase', 'lowercase') });
  const again = await command('report');
  expect(again).toMatchObject({ code: 0, stdout: `${state('report.html')}\n` });
  const withoutTime = (page: string): string => page.replace(/Written .*? by/s, '');
  expect(withoutTime(await stored('report.html'))).toBe(withoutTime(written));

  // Its figures, for programs: the same numbers, and no values.
  const { code, stdout } = await command('report', '--json');
  expect(code).toBe(0);
  const figures = JSON.parse(stdout) as PageFigures & { files: { report: string } };
  expect(figures).toMatchObject({ migration: 'test', dry_run: false, verdict: { text: 'All 3 records arrived.' } });
  expect(figures.plan).toMatch(/^[0-9a-f]{12}$/);
  expect(figures.files.report).toBe(state('report.html'));
  expect(figures.tiles.map(({ count, what }) => [count, what])).toEqual([
    [3, 'arrived'],
    [0, 'to fix'],
    [0, 'not migrated by design'],
  ]);
  expect(figures.sections.map(({ id }) => id)).toEqual([
    'exports',
    'missing',
    'verified',
    'not-carried',
    'not-undone',
    'not-used',
  ]);
  expect(figures.sections[0]!.rows).toEqual([['people.csv', 3, '3 leads arrived']]);
  for (const value of ['555-FAX', 'not an address', 'Grace']) expect(stdout).not.toContain(value);
});
