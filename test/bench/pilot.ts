/**
 * How many faults of a mapping show in a pilot: `npx tsx test/bench/pilot.ts`. Each mapping has one fault that the survey cannot
 * detect. A fault shows if one of the chosen records makes other events than with the right mapping. The records are chosen
 * with the faulty mapping, since its author has no other.
 */
import type { Planned } from '../../src/model.ts';
import { readEvent } from '../../src/plan/events.ts';
import type { Survey } from '../../src/survey/survey.ts';
import { RARE_MAPPING, surveyRare, toSend } from '../plan/rare.ts';

const RECORDS = 30;
const DRAWS = 200;

/** What is wrong, and the text of the right mapping with what replaces it: every occurrence, or the nth (from 0). */
const FAULTS: readonly (readonly [fault: string, right: string, wrong: string, nth?: number])[] = [
  ['a wrong stage: Open', 'Open: New', 'Open: Lost'],
  ['a wrong stage: Meeting', 'Meeting: Qualified', 'Meeting: Won'],
  ['a wrong stage: Offer', 'Offer: Proposal', 'Offer: Negotiation'],
  ['a wrong stage: Haggling', 'Haggling: Negotiation', 'Haggling: Proposal'],
  ['won and lost swapped: Won', 'Closed Won: Won', 'Closed Won: Lost'],
  ['won and lost swapped: Lost', 'Closed Lost: Lost', 'Closed Lost: Won'],
  ['a wrong stage: Agreed', 'Agreed: Signed', 'Agreed: Contacted'],
  ['a wrong owner: Ada', 'Ada: ada@', 'Ada: grace@'],
  ['a wrong owner: Grace', 'Grace: grace@', 'Grace: ada@'],
  ['a wrong owner: Chiara', 'Chiara: chiara@', 'Chiara: ada@'],
  ['a wrong owner: Old Rep', 'Old Rep: marco.rossi@', 'Old Rep: ada@'],
  ['a wrong owner: Desk', 'Desk: sales@', 'Desk: ada@'],
  ['an owner who has left gets deals', 'Gone: null', 'Gone: ada@example.test'],
  ['the other time zone', 'timezone: Europe/Rome', 'timezone: America/New_York'],
  ['day and month swapped in the creation date of leads', 'dd/MM/yyyy', 'MM/dd/yyyy, dd/MM/yyyy', 0],
  ['day and month swapped in the creation date of deals', 'dd/MM/yyyy', 'MM/dd/yyyy, dd/MM/yyyy', 1],
  ['day and month swapped in the closing date', 'dd/MM/yyyy', 'MM/dd/yyyy, dd/MM/yyyy', 2],
  ['first and last name swapped', '[first, last]', '[last, first]'],
  ['the last name is missing', '[first, last]', '[first]'],
  ['names joined without a space', "join: ' '", "join: ''"],
  ['e-mail addresses not in lower case', ', apply: [lowercase]', ''],
  ['the second e-mail address is not used', 'from: [email, other_email]', 'from: email'],
  ['the landline number is not used', 'from: [mobile, phone]', 'from: mobile'],
  ['the landline number comes first', '[mobile, phone]', '[phone, mobile]'],
  ['the other region of phone numbers', 'region: IT', 'region: DE'],
  ['a wrong origin: F', 'F: fair', 'F: phone'],
  ['a wrong origin: P', 'P: phone', 'P: fair'],
  ['a wrong origin: R', 'R: referral', 'R: fair'],
  ['a wrong origin for all others', "'*': other", "'*': website"],
  ['a wrong default: country', 'default: IT', 'default: DE'],
  ['no default: country', 'from: country, default: IT', 'from: country'],
  ['a wrong column: country', '{ from: country, default: IT }', '{ from: source }'],
  ['a lost zero in postcodes', 'postcode: postcode', 'postcode: { from: postcode, apply: [number] }'],
  ['decimal comma and point swapped', "decimal: ',', group: '.'", "decimal: '.', group: ','", 0],
  [
    'decimals cut off',
    "number: { decimal: ',', group: '.' } }",
    "replace: { pattern: ',.*', with: '' } }, { number: { decimal: ',', group: '.' } }",
    0,
  ],
  ['a wrong default: currency', 'default: EUR', 'default: USD', 0],
  ['a wrong default: currency of renewals', 'default: EUR', 'default: USD', 1],
  ['every currency is EUR', 'currency: { from: currency, default: EUR }', 'currency: { value: EUR }', 0],
  ['a wrong kind: S', 'S: second', 'S: new'],
  ['other kinds are lost', "'*': '='", "'*': null"],
  ['upsells take the wrong branch of when', '[Renewal, Upsell]', '[Renewal]'],
  ['renewals take the wrong branch of when', '[Renewal, Upsell]', '[Upsell]'],
  ['the wrong pipeline: Channel', 'Channel: Partners', 'Channel: Sales'],
  ['the title of renewals without their kind', "'{kind}: {title}'", "'{title}'"],
  ['system messages become comments', 'not: { from: type, equals: System }', 'not: { from: type, equals: Call }'],
  ['calls do not become comments', 'not: { from: type, equals: System }', 'from: type, equals: Note'],
  ['comments with two parents go to the lead', 'if_both: deal', 'if_both: lead'],
  ['HTML in comments', ', apply: [html_to_text]', ''],
  ['a wrong author: GR', 'GR: Grace', 'GR: Ada'],
  ['a wrong author: CH', 'CH: Chiara', 'CH: Ada'],
  ['an author who is nobody', 'XX: null', 'XX: Ada'],
  ['long names cut off', "join: ' ' }", "join: ' ' }, { truncate: 40 }"],
];

/** Everything that the records of the input become, by record; invalid ones become nothing. */
interface Made {
  readonly byRecord: ReadonlyMap<string, string>;
  /** These records, and those of their parents. */
  readonly parentsOf: (records: readonly string[]) => string[];
  readonly chosen: readonly string[];
  readonly hasErrors: boolean;
}

function made(survey: Survey): Made {
  const { db } = survey;
  const ids = db.all<{ id: number }>('select id from event where data is not null order by id');
  const events = ids.map(({ id }) => readEvent(db, id));
  const byRecord = new Map<string, string>();
  const recordOf = new Map<string, string>();
  const parents = new Map<string, string[]>();
  for (const event of events) {
    const record = nameOf(event);
    byRecord.set(record, `${byRecord.get(record) ?? ''}${event.type} ${event.occurredAt} ${event.content}\n`);
    recordOf.set(`${event.type.split('/')[0]}:${event.externalId}`, record);
  }
  for (const event of events) {
    if (event.parent) parents.set(nameOf(event), [`${event.parent.entity}:${event.parent.externalId}`]);
  }
  const parentsOf = (records: readonly string[]): string[] => {
    const above = records.flatMap((record) => parents.get(record) ?? []).flatMap((id) => recordOf.get(id) ?? []);
    return above.length === 0 ? [...records] : [...records, ...parentsOf(above)];
  };
  const hasErrors = db.get("select 1 from problem where severity = 'error'") !== undefined;
  return { byRecord, parentsOf, chosen: toSend(survey).map(nameOf), hasErrors };
}

function nameOf({ place }: Planned): string {
  return `${place.source} ${place.record}`;
}

function replaced(right: string, wrong: string, nth: number | undefined): string {
  const parts = RARE_MAPPING.split(right);
  if (parts.length < 2 || (nth ?? 0) > parts.length - 2) throw new Error(`not in the mapping: ${right}`);
  if (nth === undefined) return parts.join(wrong);
  return [parts.slice(0, nth + 1).join(right), parts.slice(nth + 1).join(right)].join(wrong);
}

let seed = 7_654_321;
const random = (below: number): number => (seed = (seed * 16_807) % 2_147_483_647) % below;

function drawn(records: readonly string[]): string[] {
  const left = [...records];
  return Array.from({ length: RECORDS }, () => left.splice(random(left.length), 1)[0]!);
}

const right = await surveyRare({}, made);
const shown = { pilot: 0, random: 0 };
let count = 0;
for (const [fault, before, after, nth] of FAULTS) {
  const mapping = replaced(before, after, nth);
  const pilot = await surveyRare({ pilot: String(RECORDS) }, made, mapping);
  const differs = (records: readonly string[]): boolean =>
    records.some((record) => right.byRecord.get(record) !== pilot.byRecord.get(record));
  const all = [...pilot.byRecord.keys()];
  const isDetected = pilot.hasErrors && !right.hasErrors;
  if (isDetected || !differs([...new Set([...all, ...right.byRecord.keys()])])) {
    process.stdout.write(`${isDetected ? 'detected by the survey' : 'without effect'}: ${fault}\n`);
    continue;
  }
  count += 1;
  const draws = Array.from({ length: DRAWS }, () => differs(pilot.parentsOf(drawn(all)))).filter(Boolean).length;
  const row = { pilot: Number(differs(pilot.chosen)), random: draws / DRAWS };
  for (const way of ['pilot', 'random'] as const) shown[way] += row[way];
  process.stdout.write(`${row.pilot} ${row.random.toFixed(2)}  ${fault}\n`);
}
process.stdout.write(`of ${count} faults: ${shown.pilot} in the pilot, ${shown.random.toFixed(1)} in random ones\n`);
