// Lost without it: what is about all kinds could know leads and deals by name: a kind that `src` does not have.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DIST_WITH_COMPANIES } from './company.ts';
import { CompanyService } from './service.ts';
import { backfill, FAST, files, rowsIn, summaryOf, workspace, type Place } from '../e2e/harness.ts';

const MAPPING = `version: 1
migration: chain
sources:
  companies: { path: companies.csv }
  sizes: { path: sizes.csv }
  leads: { path: leads.csv }
  deals: { path: deals.csv }
  notes: { path: notes.csv }
events:
  - type: company/created
    source: companies
    data: { external_id: id, legal_name: name }
  - type: company/updated
    source: sizes
    data: { external_id: id, employees: { from: employees, apply: [{ number: {} }] } }
  - type: lead/created
    source: leads
    if_contact_exists: ignore
    data: { external_id: id, full_name: name, company_external_id: company }
  - type: deal/created
    source: deals
    data: { external_id: id, title: name, lead_external_id: lead }
  - type: comment/created
    source: notes
    priority: { from: urgent }
    data: { external_id: id, content: text, deal_external_id: deal }
`;

const EXPORTS = {
  'chain.yaml': MAPPING,
  'companies.csv': 'id,name\nbolt,Bolt\nacme,Acme\ncask,Cask\nlong,A name of more than twenty letters\n',
  'sizes.csv': 'id,employees\nacme,12\n',
  'leads.csv': 'id,name,company\nl1,Ann,bolt\nl2,Ben,acme\nl3,Cy,nowhere\nl4,Dee,\nl5,Eve,long\n',
  'deals.csv': 'id,name,lead\nd1,One,l1\nd2,Two,l2\n',
  'notes.csv': 'id,text,deal,urgent\nn1,Call,d1,\nn2,Now,d2,7\n',
};

const CHAIN_OF_ACME = ['company/created acme', 'lead/created l2', 'deal/created d2', 'comment/created n2'];
const CHAIN_OF_BOLT = ['company/created bolt', 'lead/created l1', 'deal/created d1', 'comment/created n1'];

async function project(service: CompanyService): Promise<Place & { readonly state: string }> {
  const cwd = await workspace();
  await files(cwd, EXPORTS);
  return { cwd, env: service.environment, dist: DIST_WITH_COMPANIES, state: join(cwd, '.backfill/chain') };
}

const run = (place: Place, ...args: readonly string[]) =>
  backfill(['run', 'chain.yaml', '--json', ...FAST, ...args], place);

describe('a fourth kind of record, defined outside of the sources', () => {
  it('is surveyed, planned, ordered by its rank and sent before its children', async () => {
    const service = await CompanyService.start();
    const place = await project(service);
    const dry = summaryOf(await run(place, '--dry-run'));
    expect(dry.by_type['company/created']).toMatchObject({ total: 4, pending: 3, invalid: 1 });
    // Of its own schema: the name is too long. The lead that names it is blocked, as is the one whose company is nowhere.
    expect(dry.by_type['lead/created']).toMatchObject({ total: 5, pending: 3, blocked: 2 });
    const [fault] = await rowsIn<{ external_id: string; field: string }>(
      join(place.state, 'dry-run'),
      `select external_id, field from problems where type = 'company/created'`,
    );
    expect(fault).toEqual({ external_id: 'long', field: 'legal_name' });
    expect(service.events).toEqual([]);

    const sent = summaryOf(await run(place));
    expect(sent.plan.digest).toBe(dry.plan.digest);
    // The comment n2 is urgent, and so is all that it hangs on, four kinds up.
    const order = service.accepted();
    expect(order.slice(0, 4)).toEqual(CHAIN_OF_ACME);
    const rest = ['company/created bolt', 'company/created cask', 'lead/created l1', 'lead/created l4'];
    expect(order.slice(4).toSorted()).toEqual([...rest, 'deal/created d1', 'comment/created n1'].toSorted());
    const places = CHAIN_OF_BOLT.map((name) => order.indexOf(name));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(service.events.every(({ suppressed }) => suppressed)).toBe(true);
    expect(await rowsIn(place.state, `select name, rank from kind order by rank`)).toEqual([
      { name: 'company', rank: 0 },
      { name: 'lead', rank: 1 },
      { name: 'deal', rank: 2 },
      { name: 'comment', rank: 3 },
    ]);

    const verified = await backfill(['verify', 'chain.yaml', '--json', ...FAST], place);
    expect(verified.code, verified.stderr).toBe(0);
    const { entities } = JSON.parse(verified.stdout) as {
      entities: Record<string, { fields: Record<string, object> }>;
    };
    expect(entities['company']!.fields['employees']).toEqual({ same: 1 });
    expect(entities['lead']!.fields['company_external_id']).toEqual({ same: 2 });
  });

  it('blocks what hangs on it when it is refused, at any depth, until a rerun has it accepted', async () => {
    const service = await CompanyService.start();
    const place = await project(service);
    service.refused.add('acme');
    const first = await run(place);
    const { by_type: counts } = summaryOf(first);
    expect(counts['company/created']).toMatchObject({ acknowledged: 2, rejected: 1, invalid: 1 });
    expect(counts['deal/created']).toMatchObject({ acknowledged: 1, blocked: 1 });
    expect(counts['comment/created']).toMatchObject({ acknowledged: 1, blocked: 1 });
    expect(service.events.filter(({ status }) => status !== 200)).toMatchObject([{ external_id: 'acme' }]);
    const page = await readFile(join(place.state, 'report.html'), 'utf8');
    expect(page).toContain('company');
    expect(page).not.toContain('companies are not imported');
    const errors = await readFile(join(place.state, 'errors.csv'), 'utf8');
    expect(errors).toContain('company `acme`');

    const story = await backfill(['explain', 'chain.yaml', 'comment:n2'], place);
    expect(story.stdout).toMatch(/Parent\n\s+deal:d2 +blocked/);
    const parent = await backfill(['explain', 'chain.yaml', 'company:acme'], place);
    expect(parent.stdout).toMatch(/^REJECTED company:acme/);
    expect(parent.stdout).toContain('lead:l2');

    service.refused.clear();
    const before = service.accepted().length;
    summaryOf(await run(place));
    expect(service.accepted().slice(before)).toEqual(CHAIN_OF_ACME);
    const quiet = service.events.length;
    summaryOf(await run(place));
    expect(service.events.length).toBe(quiet);
  });

  it('is updated by what has changed, and is not sent as a whole again', async () => {
    const service = await CompanyService.start();
    const place = await project(service);
    await run(place);
    const before = service.events.length;
    const mapping = MAPPING.replaceAll('type: company/', 'if_changed: update\n    type: company/');
    await files(place.cwd, { 'chain.yaml': mapping, 'sizes.csv': 'id,employees\nacme,15\n' });
    await run(place);
    expect(service.events.slice(before)).toMatchObject([{ type: 'company/updated', external_id: 'acme', status: 200 }]);
  });

  it('can be picked and selected, and takes its family along', async () => {
    const service = await CompanyService.start();
    const place = await project(service);
    // The lead is chosen already, as a child.
    await run(place, '--pick', 'company:acme', '--pick', 'lead:l2');
    expect(service.accepted()).toEqual(CHAIN_OF_ACME);
    await run(place, '--pick', 'lead:l1');
    expect(service.accepted().slice(4)).toEqual(CHAIN_OF_BOLT);
    await run(place, '--only', 'company');
    expect(service.accepted().slice(8)).toEqual(['company/created cask']);
    const wrong = await backfill(['run', 'chain.yaml', '--pick', 'comment:n1'], place);
    expect(wrong.stderr).toContain('company:ID');
  });

  it('is part of the JSON Schema and of the messages about mappings', async () => {
    const { stdout } = await backfill(['schema'], { cwd: await workspace(), dist: DIST_WITH_COMPANIES });
    expect(stdout).toContain('company/created');
    expect(stdout).toContain('company_external_id');
    const service = await CompanyService.start();
    const place = await project(service);
    await files(place.cwd, { 'chain.yaml': MAPPING.replace('legal_name: name', 'legl_name: name') });
    const { code, stderr } = await run(place, '--dry-run');
    expect(code).toBe(2);
    expect(stderr).toContain('legal_name');
  });
});
