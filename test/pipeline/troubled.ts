/** An export in which everything happens that happens to records, larger than a second thread needs to be of use. */
/** Leads, deals and comments of one source. */
export const MAPPING = `version: 1
migration: threads
defaults: { region: IT, timezone: Europe/Rome }
sources: { records: { path: FILE } }
events:
  - type: lead/created
    source: records
    occurred_at: { from: date, apply: [{ date: yyyy-MM-dd }] }
    data:
      external_id: id
      full_name: name
      email: email
      phone_number: { from: phone, apply: [phone] }
      custom_params: { note: note, amount: { from: amount, on_error: omit, apply: [number] } }
  - type: deal/created
    source: records
    when: { from: deal, present: true }
    data: { external_id: deal, lead_external_id: id, stage_name: stage, owner_name: owner }
  - type: comment/created
    source: records
    data: { content: note, lead_external_id: id }
    when: { from: id, matches: '7$' }
`;

/** A record with one of everything that happens to records. */
function record(index: number): Record<string, string> {
  const one = (of: number, value: string, otherwise = ''): string => (index % of === 1 ? value : otherwise);
  return {
    id: one(97, '', one(89, 'L-5', `L-${index}`)),
    name: one(53, 'Łukasz 🙂\nsecond line', one(31, 'broken \ud83d', `Name ${index}`)),
    email: one(47, 'no address', one(41, 'shared@a.test', `user${index}@a.test`)),
    phone: one(43, '12', `+39 06 ${10_000_000 + index}`),
    date: one(37, '31.02.2020', '2020-03-29'),
    note: `"a note" of record ${index}, ${'with some text '.repeat(8)}`,
    amount: one(29, 'many', one(23, '1234567890.12345678901', `${index}.50`)),
    deal: one(2, `D-${index}`),
    stage: one(61, 'Nowhere', 'New'),
    owner: one(59, 'Nobody', 'Ada'),
  };
}

export function recordsOf(count: number): readonly Record<string, string>[] {
  return Array.from({ length: count }, (_, index) => record(index));
}

const RECORDS = recordsOf(25_000);
const COLUMNS = Object.keys(RECORDS[0]!);

export function csv(records: readonly Record<string, string>[] = RECORDS): string {
  const lines = records.map((one, index) => {
    const cells = COLUMNS.map((column) => `"${one[column]!.replaceAll('"', '""')}"`);
    if (index % 500 === 77) cells.pop();
    return (index % 700 === 5 ? [...cells, 'surplus'] : cells).join(',');
  });
  return [COLUMNS.join(','), ...lines].join('\r\n');
}

export const FORMS: readonly (readonly [name: string, text: () => string])[] = [
  ['records.csv', csv],
  ['records.json', () => JSON.stringify(RECORDS)],
  [
    'records.ndjson',
    () =>
      RECORDS.map((one, index) => {
        if (index % 400 === 9) return '{"id": "cut off';
        // A number that a JavaScript number does not hold.
        return JSON.stringify(one).replace(/("amount":)"(\d+\.\d+)"/, index % 3 === 0 ? '$1$2' : '$&');
      }).join('\n'),
  ],
];
