// Lost without it: damage of other programs could be migrated without a word.
import { expect, it } from 'vitest';
import { mapping, project } from '../e2e/harness.ts';
import { profileOf } from './surveying.ts';

const MAPPING = `events:
  - type: lead/created
    source: it
    data: { external_id: ID, full_name: Name, custom_params: { note: Note } }
`;

async function damageOf(notes: readonly string[]): Promise<unknown> {
  const lines = notes.map((note, n) => `${n + 1},Ann,"${note.replaceAll('"', '""')}"`);
  const { damage } = await profileOf({ mapping: MAPPING, export: `ID,Name,Note\n${lines.join('\n')}\n` });
  return damage.map(({ kind, column, count, of, example, line }) => [kind, column, count, of, example, line]);
}

it.each([
  ['JosÃ© MÃ¼ller', 'wrong_encoding'],
  ['It was donâ€™t', 'wrong_encoding'],
  ['Ð˜Ð²Ð°Ð½', 'wrong_encoding'],
  ['Â© 2024', 'wrong_encoding'],
  ['???? ?????', 'wrong_encoding'],
  ['R&amp;D', 'html_entities'],
  ['Caf&eacute;', 'html_entities'],
  ['&#8364; 5', 'html_entities'],
])('%s is damaged: %s', async (note, kind) => {
  expect(await damageOf(['plain', note, 'R&D, José', note])).toEqual([[kind, 'Note', 2, 4, note, 3]]);
});

it.each([
  ['[html_to_text]', 'R&amp;amp;D', 'R&amp;D', 'encoded_twice'],
  ['[html_to_text]', '<p>Caf&amp;eacute;</p>', 'Caf&eacute;', 'encoded_twice'],
  ['[uppercase]', 'r&amp;d', 'R&AMP;D', 'html_entities'],
  ['[html_to_text, html_to_text]', 'R&amp;amp;D', undefined, undefined],
  ['[html_to_text]', 'R&amp;D', undefined, undefined],
])('`html_to_text` is not advised where it is set: %s of %s', async (apply, note, example, kind) => {
  const mapping = MAPPING.replace('note: Note', `note: { from: Note, apply: ${apply} }`);
  const { damage } = await profileOf({ mapping, export: `ID,Name,Note\n1,Ann,${note}\n` });
  expect(damage.map((each) => [each.kind, each.example])).toEqual(kind === undefined ? [] : [[kind, example]]);
});

it.each(['José Müller', 'NÃO', 'SÃO PAULO', 'what???', 'R&D; S&P', 'a&b;c', 'Â', 'âge', 'Ñandú'])(
  '%s is not',
  async (note) => {
    expect(await damageOf([note])).toEqual([]);
  },
);

async function pairOf(people: readonly string[], notes: readonly string[]) {
  const { service, summary, stored } = await project({
    'mapping.yaml': mapping({
      people:
        'type: lead/created, data: { external_id: id, full_name: name, phone_number: { from: phone, apply: [{ phone: { region: IT } }] } }',
      notes: 'type: comment/created, data: { external_id: id, content: text, lead_external_id: person }',
    }),
    'people.csv': ['id,name,phone', ...people, ''].join('\n'),
    'notes.csv': ['id,text,person', ...notes, ''].join('\n'),
  });
  return { service, summary: await summary(), errors: () => stored('errors.csv') };
}

it('ids and phone numbers that a data frame wrote as decimals are read without `.0`, and that is said', async () => {
  const { service, summary } = await pairOf(
    ['51000301,Ada,3331234567.0', '51000302,Grace,'],
    ['n1,Called,51000301.0', 'n2,Wrote,', 'n3,Met,51000302.0'].filter((line) => !line.endsWith(',')),
  );
  expect(summary).toMatchObject({ exit: { code: 0 }, warnings_by_code: { ids_as_decimals: 2 } });
  expect(service.state().comments.map(({ externalId }) => externalId)).toEqual(['n1', 'n3']);
  expect(service.state().leads.map(({ phoneNumber }) => phoneNumber)).toEqual(['+393331234567', null]);
});

it.each([
  ['7', '007'],
  ['AB7', 'ab7'],
  ['7', '7.0'],
  ['Jose\u0301', 'Jos\u00e9'],
  ['A 7', 'A\u200b7'],
])('a missing parent `%s` is named beside `%s`, which differs only by damage', async (wanted, present) => {
  const { summary, errors } = await pairOf([`${present},Ada,`, 'x.0y,Grace,'], [`n1,Called,${wanted}`]);
  expect(summary.errors_by_code).toEqual({ parent_missing: 1 });
  expect(await errors()).toContain(`the input has \`${present}\``);
});
