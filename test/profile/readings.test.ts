// Lost without it: texts that can be read in two ways could be read the wrong way in silence.
import { expect, it } from 'vitest';
import { profileOf, surveyed } from './surveying.ts';

const DEAL = (amount: string) =>
  `events: [{ type: deal/created, source: it, data: { external_id: ID, title: Title, amount: ${amount}, currency: { value: EUR } } }]\n`;
const rowsOf = (cells: readonly string[]) => cells.map((cell, at) => `${at + 1},T${at},"${cell}"\n`).join('');

it.each([
  [['1.200', '950', '12.000'], '{ from: Amount, apply: [{ number: { decimal: "." } }] }', ['14150.00', '963.20']],
  [['1.200', '950', '12.000'], 'Amount', ['14150.00', '963.20']],
  [['€ 1,200', '-2,000'], '{ from: Amount, apply: [number] }', ['-800.00', '-0.80']],
  [['1.200', '950.5'], '{ from: Amount, apply: [number] }', undefined],
  [['1.200', '1.200.000'], '{ from: Amount, apply: [{ number: { decimal: "," } }] }', undefined],
  [['0.125', '0.250'], 'Amount', undefined],
  [['1,200.00', '1,200'], '{ from: Amount, apply: [number] }', undefined],
  [['1200', '950'], 'Amount', undefined],
])('amounts that are read either way are said with both totals: %j', async (cells, amount, totals) => {
  const summary = await surveyed({ mapping: DEAL(amount), export: `ID,Title,Amount\n${rowsOf(cells)}` });
  const notes = summary.profile.sources['it']!.numbers;
  expect(notes.map(({ grouped, decimal }) => [grouped, decimal])).toEqual(totals ? [totals] : []);
  expect('numbers_read_either_way' in summary.warnings_by_code).toBe(totals !== undefined);
});

const LEAD = `events:
  - type: lead/created
    source: it
    data: { external_id: ID, full_name: Name, custom_params: { city: City, vip: Vip } }
`;

it.each([
  ['Name', ['False', 'Ada', 'False'], 'False'],
  ['Name', ['nan', 'Ada', 'nan'], 'nan'],
  ['Name', ['<NA>', '<NA>'], '<NA>'],
  ['Name', ['Ada', 'None'], undefined],
  ['City', ['FALSE', 'Rome', 'FALSE'], 'FALSE'],
  ['City', ['NaT', 'NaT', 'Rome'], 'NaT'],
  ['City', ['None', 'None', 'Rome'], undefined],
  ['Vip', ['false', 'true', 'false'], undefined],
  ['Vip', ['false', 'false'], undefined],
])('a text that looks empty is said where it comes again and again: %s %j', async (column, cells, example) => {
  const lines = cells.map((cell, at) => {
    const row = { ID: `${at + 1}`, Name: 'Ann', City: '', Vip: '', [column]: cell };
    return Object.values(row).join(',');
  });
  const { damage } = await profileOf({ mapping: LEAD, export: `ID,Name,City,Vip\n${lines.join('\n')}\n` });
  const found = damage.filter(({ kind }) => kind === 'looks_empty').map((each) => [each.column, each.example]);
  expect(found).toEqual(example === undefined ? [] : [[column, example]]);
});

const COMMENT = `events:
  - type: comment/created
    source: it
    data: { external_id: id, content: text, lead_external_id: lead }
`;
const formOf = async (...texts: readonly unknown[]) => {
  const { damage } = await profileOf({
    mapping: COMMENT.replace('lead_external_id', 'deal_external_id'),
    file: 'it.json',
    export: JSON.stringify(texts.map((text, id) => ({ id, text, lead: 1 }))),
  });
  return damage.map(({ kind }) => kind);
};

it.each([
  ['{\\rtf1\\ansi Hello}', 'text_form/rtf'],
  ['[b]Hello[/b]', 'text_form/bbcode'],
  ['{"ops":[{"insert":"Hello"}]}', 'text_form/json'],
  ['[{"id":"1","type":"paragraph"}]', 'text_form/json'],
  ['Caf=C3=A9', 'text_form/quoted_printable'],
  ['Hello\\nworld', 'text_form/line_breaks'],
  ['<p>Hello</p>', 'text_form/html'],
  ['x'.repeat(255), 'text_form/cut'],
  [false, 'looks_empty'],
])('a comment in a form that nobody can read is said: %j', async (text, kind) => {
  expect(await formOf(text, 'Hello')).toEqual([kind]);
});

it.each([
  ['plain texts', ['Hello', '<Mario Rossi>', '[see above]', 'C:\\new\\file', 'a = b', '{name}']],
  ['a text of 255 characters beside a longer one', ['x'.repeat(255), 'x'.repeat(300)]],
])('a comment is not suspected: %s', async (_, texts) => expect(await formOf(...texts)).toEqual([]));

it.each([
  'MÃ¼ller',
  'O\u0092Neil',
  'Ø§Ù„',
  '×©×œ×•×',
  'Å‚Ã³dÅº',
  'ç”°ä¸',
  'ðŸ˜€',
  'Ã‰cole',
  'Î‘Î½',
  'Ayå'.replace('å', 'ÅŸe'),
])('a text that was read in the wrong encoding is said, whatever its script: %s', async (text) => {
  const { damage } = await profileOf({ mapping: LEAD, export: `ID,Name,City,Vip\n1,${text},,\n` });
  expect(damage).toMatchObject([{ kind: 'wrong_encoding' }]);
});

it.each(['«CAFÉ»', 'Müller', 'Łódź', 'São Paulo – “Ä”', 'Ýmir', 'Göteborg’s', 'ÎLE…'])(
  'a text is not suspected of it: %s',
  async (text) => {
    expect((await profileOf({ mapping: LEAD, export: `ID,Name,City,Vip\n1,${text},,\n` })).damage).toEqual([]);
  },
);
