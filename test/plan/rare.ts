/** A migration of 2,000 records in which most branches of the mapping are rare, surveyed in a directory of its own. */
import type { JsonObject } from '../../src/json.ts';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory } from '../directory.ts';
import { Halt } from '../../src/halt.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import { EVENT_TYPES } from '../../src/kinds/index.ts';
import { EVENT_ROWS, type EventRow } from '../../src/plan/events.ts';
import { defaultAccount } from '../../src/commands/sandbox/account.ts';
import { runSettings } from '../../src/settings/run-settings.ts';
import { StateDir } from '../../src/files/state-dir.ts';
import { openFieldHasher } from '../../src/store/checkpoint.ts';
import { beginPlan } from '../../src/survey/plan-file.ts';
import { surveyInput, type Survey } from '../../src/survey/survey.ts';

const RARE_MAPPING = `version: 1
migration: rare
defaults: { region: IT, timezone: Europe/Rome }
sources:
  leads: { path: leads.csv }
  deals: { path: deals.csv }
  notes: { path: notes.csv }
references:
  pipelines: { Direct: Sales, Channel: Partners }
  stages:
    Open: New
    Meeting: Qualified
    Offer: Proposal
    Haggling: Negotiation
    Closed Won: Won
    Closed Lost: Lost
    Agreed: Signed
  owners:
    Ada: ada@example.test
    Grace: grace@example.test
    Chiara: chiara@example.test
    Old Rep: marco.rossi@example.test
    Desk: sales@example.test
    Gone: null
events:
  - type: lead/created
    source: leads
    occurred_at: { from: created, apply: [{ date: { formats: [yyyy-MM-dd, dd/MM/yyyy, 'd MMM yyyy'] } }] }
    data:
      external_id: id
      full_name: { list: [first, last], apply: [{ join: ' ' }] }
      email: { from: [email, other_email], apply: [lowercase] }
      phone_number: { from: [mobile, phone], apply: [phone], on_error: omit }
      custom_params:
        origin: { from: source, apply: [{ map: { W: website, F: fair, P: phone, R: referral, '*': other } }] }
        country: { from: country, default: IT }
        postcode: postcode
  - type: deal/created
    source: deals
    when: { not: { from: kind, in: [Renewal, Upsell] } }
    stage_pipeline: pipeline
    occurred_at: { from: created, apply: [{ date: { formats: [yyyy-MM-dd, dd/MM/yyyy] } }] }
    data:
      external_id: id
      title: title
      amount: { from: amount, apply: [{ number: { decimal: ',', group: '.' } }] }
      currency: { from: currency, default: EUR }
      lead_external_id: lead
      stage_name: stage
      owner_name: owner
      custom_fields:
        kind: { from: kind, apply: [{ map: { N: new, S: second, '*': '=' } }] }
        close: { from: close, apply: [{ date: { formats: [dd/MM/yyyy], as: date } }] }
  - type: deal/created
    source: deals
    when: { from: kind, in: [Renewal, Upsell] }
    stage_pipeline: pipeline
    data:
      external_id: id
      title: { template: '{kind}: {title}' }
      amount: { from: amount, apply: [{ number: { decimal: ',', group: '.' } }] }
      currency: { from: currency, default: EUR }
      lead_external_id: lead
      stage_name: stage
      owner_name: owner
  - type: comment/created
    source: notes
    when: { not: { from: type, equals: System } }
    if_both: deal
    data:
      external_id: { from: id, apply: [{ prefix: note- }] }
      content: { from: text, apply: [html_to_text] }
      author_name: { from: author, apply: [{ map: { AD: Ada, GR: Grace, CH: Chiara, XX: null } }] }
      lead_external_id: lead
      deal_external_id: deal
`;

function writeRare(directory: string): string {
  for (const [name, text] of Object.entries(rareExports())) writeFileSync(join(directory, name), text);
  const path = join(directory, 'mapping.yaml');
  writeFileSync(path, RARE_MAPPING);
  return path;
}

/** 700 leads, 700 deals and 600 notes, the same every time (Park-Miller generator). What is rare is in one record of 100 to 700. */
function rareExports(): Record<string, string> {
  let seed = 1_234_567;
  const random = (below: number): number => (seed = (seed * 16_807) % 2_147_483_647) % below;
  const mostly = (usual: string, rare: readonly string[], oneIn: number): string =>
    random(oneIn) === 0 ? rare[random(rare.length)]! : usual;
  const two = (number: number): string => String(number).padStart(2, '0');
  const day = (): [string, string, string] => [String(2015 + random(10)), two(1 + random(12)), two(1 + random(28))];
  const isoDay = (): string => day().join('-');
  const slashDay = (): string => day().reverse().join('/');
  const leads = Array.from({ length: 700 }, (_, n) => {
    const created = mostly(isoDay(), [slashDay(), `${1 + random(28)} Mar 2019`], 60);
    const mobile = mostly(`+39 347 ${1_000_000 + n}`, ['', '', 'ask Ada'], 80);
    const phone = mostly('', [`06 ${6_900_000 + n}`], 40);
    const name = mostly(
      `Lead,Number${n}`,
      ['Иван,Петров', '山田,太郎', 'Maria Grazia Annunziata,Castelli di Montefiore', 'X,'],
      90,
    );
    const email = mostly(`Lead${n}@Example.test`, [''], 50);
    const other = email === '' ? `second${n}@example.test` : '';
    return [
      `L${n}`,
      name,
      email,
      other,
      mobile,
      phone,
      created,
      mostly('W', ['F', 'P', 'R', 'Fax'], 70),
      mostly('', ['CH', 'DE'], 90),
      mostly(String(10_000 + random(80_000)), ['00184', '08020'], 70),
    ].join(',');
  });
  const deals = Array.from({ length: 700 }, (_, n) => {
    const isChannel = random(60) === 0;
    const stage = isChannel
      ? mostly('Meeting', ['Agreed'], 2)
      : mostly('Open', ['Meeting', 'Offer', 'Haggling', 'Closed Won', 'Closed Lost'], 25);
    return [
      `D${n}`,
      `Deal ${n}`,
      mostly(String(100 * (1 + random(9))), ['"1.250,50"', '"12.000"', '"0,5"'], 80),
      mostly('', ['USD', 'CHF'], 120),
      `L${random(700)}`,
      isChannel ? 'Channel' : 'Direct',
      stage,
      mostly('Ada', ['Grace', 'Chiara', 'Old Rep', 'Desk', 'Gone'], 45),
      mostly('N', ['S', 'Renewal', 'Upsell', 'Swap'], 60),
      mostly(isoDay(), [slashDay()], 80),
      mostly('', [slashDay()], 50),
    ].join(',');
  });
  const notes = Array.from({ length: 600 }, (_, n) => {
    const isOnLead = random(70) === 0;
    return [
      `${n}`,
      mostly(`Called number ${n}`, ['<p>Bold <b>offer</b></p>', 'Tom &amp; Jerry', 'ok'], 90),
      mostly('AD', ['GR', 'CH', 'XX'], 60),
      mostly('Note', ['System', 'Call'], 60),
      isOnLead ? `L${random(700)}` : mostly('', ['L1'], 60),
      isOnLead ? '' : `D${random(700)}`,
    ].join(',');
  });
  const csv = (columns: string, rows: readonly string[]): string => `${columns}\n${rows.join('\n')}\n`;
  return {
    'leads.csv': csv('id,first,last,email,other_email,mobile,phone,created,source,country,postcode', leads),
    'deals.csv': csv('id,title,amount,currency,lead,pipeline,stage,owner,kind,created,close', deals),
    'notes.csv': csv('id,text,author,type,lead,deal', notes),
  };
}

/** Surveys with these options of `run` and the sandbox's account, and hands the survey to `use` while its plan is open. */
export async function surveyRare<T>(
  options: Readonly<Record<string, unknown>>,
  use: (survey: Survey) => T,
): Promise<T> {
  const directory = makeDirectory();
  try {
    const mapping = writeRare(directory);
    const state = await StateDir.create(join(directory, 'state'));
    const settings = runSettings({ mapping, dryRun: true, ...options });
    const db = beginPlan(state, state);
    const survey = await surveyInput({
      ...{ settings, mapping: await loadMapping(mapping), db, hasher: openFieldHasher(db, settings) },
      ...{ account: defaultAccount(), state, output: state, halt: new Halt(), contacts: undefined, client: undefined },
      ...{ warn: () => undefined, agree: async () => undefined },
    });
    try {
      return use(survey);
    } finally {
      survey.db.close();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

export interface PlannedEvent extends Omit<EventRow, 'data'> {
  readonly data: JsonObject;
}

/** The events that a run would send, in the order of their types and of the files. */
export function toSend({ db }: Survey): PlannedEvent[] {
  const rows = db.all<EventRow>(
    EVENT_ROWS.replace('from event e', 'from event e join json_each(?) t on t.value = e.type') +
      ` where e.state = 'ready' order by t.key, e.id`,
    JSON.stringify(EVENT_TYPES),
  );
  return rows.map((row) => ({ ...row, data: JSON.parse(row.data) as JsonObject }));
}
