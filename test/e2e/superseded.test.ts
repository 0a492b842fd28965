import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { verify } from '../../src/commands/verify.ts';
import type { Summary } from '../../src/report/summary.ts';
import type { RequestEntry } from '../../src/sandbox/index.ts';
import { PLAN } from '../../src/store/plan-schema.ts';
import { Database } from '../../src/store/sqlite.ts';
import { call, envFile } from '../commands/in-process.ts';
import { migrate, type Options } from '../faults/in-process.ts';
import { send } from '../sandbox/client.ts';
import { environmentOf, FAST, files, sandbox, start, workspace } from './harness.ts';
import type { FaultRule, FaultySandbox } from '../sandbox/faults.ts';

const MAPPING = (ifChanged: string) => `version: 1
migration: newer
defaults: { region: IT }
sources:
  changes: { path: changes.csv }
  leads: { path: leads.csv }
  deals: { path: deals.csv }
  deal_changes: { path: deal-changes.csv }
events:
  - type: lead/created
    source: leads
    if_changed: ${ifChanged}
    if_exists: update
    data: { external_id: id, full_name: name, custom_params: { city: city } }
  - type: lead/updated
    source: changes
    data:
      external_id: id
      full_name: name
      phone_number: { from: phone, on_error: reject, apply: [phone] }
      custom_params: { city: city, size: size }
  - type: deal/created
    source: deals
    data: { external_id: id, title: title, lead_external_id: lead }
  - type: deal/updated
    source: deal_changes
    data: { external_id: id, title: title, amount: amount, custom_fields: { origin: origin } }
`;

const HEADERS = {
  leads: 'id,name,city',
  changes: 'id,name,phone,city,size',
  deals: 'id,title,lead',
  'deal-changes': 'id,title,amount,origin',
};

interface Exports {
  readonly leads?: readonly string[];
  readonly changes?: readonly string[];
  readonly deals?: readonly string[];
  readonly dealChanges?: readonly string[];
  readonly ifChanged?: string;
}

interface Sent {
  readonly id: string;
  readonly data: Readonly<Record<string, unknown>>;
}

class Migration {
  readonly service: FaultySandbox;
  readonly cwd: string;
  readonly #faults: FaultRule[] = [];

  constructor(service: FaultySandbox, cwd: string) {
    this.service = service;
    this.cwd = cwd;
  }

  /** Writes these exports; a second call writes those of another day. */
  async write({ leads = ['1,Ada,Roma'], changes = [], deals = [], dealChanges = [], ifChanged = 'report' }: Exports) {
    const tables = { leads, changes, deals, 'deal-changes': dealChanges };
    const name = (table: keyof typeof HEADERS): string => [HEADERS[table], ...tables[table], ''].join('\n');
    await files(this.cwd, { 'mapping.yaml': MAPPING(ifChanged) });
    for (const table of Object.keys(HEADERS) as (keyof typeof HEADERS)[]) {
      await files(this.cwd, { [`${table}.csv`]: name(table) });
    }
  }

  /** Faults of the next run. */
  disturb(...rules: FaultRule[]): void {
    this.#faults.push(...rules);
  }

  /** The identity of the totals holds after every run. */
  async run(options: Options = {}): Promise<{ summary: Summary; sent: Sent[] }> {
    this.service.setFaults({ rules: this.#faults.splice(0) });
    const before = this.posts().length;
    const summary = await migrate(this.service, join(this.cwd, 'mapping.yaml'), options);
    const { total, acknowledged, duplicates, invalid, rejected, blocked, pending } = summary.events;
    expect(acknowledged + duplicates + invalid + rejected + blocked + pending).toBe(total);
    return {
      summary,
      sent: this.posts()
        .slice(before)
        .map(({ body }) => body as Sent),
    };
  }

  /** A further run sends nothing, and what the service has is what the plan says. */
  async expectQuiet(digest: string | null): Promise<void> {
    const { summary, sent } = await this.run();
    expect(sent).toEqual([]);
    expect(summary).toMatchObject({ exit: { code: 0 }, plan: { digest } });
    const argv = { mapping: join(this.cwd, 'mapping.yaml'), envFile: await envFile(this.service), json: true };
    const { code, stdout } = await call(verify, { ...argv, rate: '100000/1s' });
    expect(code, stdout).toBe(0);
  }

  posts(): readonly RequestEntry[] {
    return this.service.requests().filter(({ method }) => method === 'POST');
  }

  lead(id = '1') {
    return this.service.state().leads.find(({ externalId }) => externalId === id)!;
  }

  /** Whether an event of the last dry run has exactly this data. */
  planned(data: object): boolean {
    const plan = Database.read(join(this.cwd, '.backfill/newer/dry-run/plan.db'), PLAN)!;
    const found = plan.all<{ data: string }>('select data from events where data is not null');
    plan.close();
    return found.some((event) => isDeepStrictEqual(JSON.parse(event.data), data));
  }

  read(name: string): Promise<string> {
    return readFile(join(this.cwd, '.backfill/newer', name), 'utf8');
  }
}

async function migration(exports: Exports): Promise<Migration> {
  const made = new Migration(await sandbox(), await workspace());
  await made.write(exports);
  return made;
}

type Requests = { readonly from: number; readonly to: number };
const update = (type: 'lead/updated' | 'deal/updated', requests: Requests) => ({ event: { type }, requests });
const refused = (type: 'lead/updated' | 'deal/updated', nth: number): FaultRule => ({
  kind: 'status',
  status: 422,
  code: 'unresolved_reference',
  when: update(type, { from: nth, to: nth }),
});
const lost = (from: number): FaultRule => ({
  kind: 'status',
  committed: true,
  status: 503,
  when: update('lead/updated', { from, to: from + 4 }),
});

const contents = (sent: readonly Sent[]) => sent.map(({ data }) => data);

/** No backoff. */
beforeEach(() => {
  const random = vi.spyOn(Math, 'random').mockReturnValue(0);
  onTestFinished(() => random.mockRestore());
});

/** Both set the name and a custom field; each sets a field of its own. */
const OLD = '1,Old,+39 06 123456,Bari,';
const NEW = '1,New,,Pisa,10';
/** What the two make of the record, in this order. */
const BOTH = { fullName: 'New', phoneNumber: '+3906123456', customParams: { city: 'Pisa', size: '10' } };
const WHOLE_NEW = { external_id: '1', full_name: 'New', custom_params: { city: 'Pisa', size: '10' } };
/** What is left of the first once the second is acknowledged. */
const STRIPPED = { external_id: '1', phone_number: '+3906123456' };

describe('an older update that is sent after a newer one was acknowledged', () => {
  it('because it was rejected, goes without the fields of the newer one, once', async () => {
    const place = await migration({ changes: [OLD, NEW] });
    place.disturb(refused('lead/updated', 1));
    const first = await place.run();
    expect(first.summary.events).toMatchObject({ acknowledged: 2, rejected: 1 });

    const dry = await place.run({ dryRun: true });
    expect(place.planned(STRIPPED)).toBe(true);
    const { summary, sent } = await place.run({ plan: first.summary.plan.digest! });
    expect(contents(sent)).toEqual([STRIPPED]);
    expect(summary).toMatchObject({ exit: { code: 0 }, events: { total: 3, acknowledged: 3, gone: 0 } });
    expect(dry.summary.plan).toEqual(first.summary.plan);
    expect(place.lead()).toMatchObject({ ...BOTH, revision: 3 });
    await place.expectQuiet(first.summary.plan.digest);
  });

  it('because five answers to it were lost, goes without the fields of the newer ones', async () => {
    const place = await migration({ changes: [OLD, NEW, '1,,,Lodi,'] });
    place.disturb(lost(1));
    const first = await place.run();
    expect(first.summary.events).toMatchObject({ acknowledged: 3, rejected: 1 });
    const { summary, sent } = await place.run();
    expect(contents(sent)).toEqual([STRIPPED]);
    expect(summary).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 4 } });
    expect(place.lead()).toMatchObject({ ...BOTH, customParams: { city: 'Lodi', size: '10' } });
    await place.expectQuiet(first.summary.plan.digest);
  });

  it('because its row was corrected, goes without the fields of the newer one', async () => {
    const place = await migration({ changes: [OLD.replace('+39 06 123456', 'none'), NEW] });
    expect((await place.run()).summary.events).toMatchObject({ acknowledged: 2, invalid: 1 });
    const rejects = await place.read('rejects/changes.csv');
    await files(place.cwd, {
      'fixed.csv': rejects.replace('1,Old,none', '1,Old,+39 06 123456'),
      'mapping.yaml': (await readFile(join(place.cwd, 'mapping.yaml'), 'utf8')).replace(
        'path: changes.csv',
        'path: changes.csv, fixes: fixed.csv',
      ),
    });
    const { summary, sent } = await place.run();
    expect(contents(sent)).toEqual([STRIPPED]);
    expect(summary).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 3 } });
    expect(place.lead()).toMatchObject(BOTH);
    await place.expectQuiet(summary.plan.digest);
  });

  it('because it was acknowledged with other content, goes without the fields of the newer one', async () => {
    const place = await migration({ changes: [OLD, NEW] });
    await place.run();
    await place.write({ changes: [OLD.replace('123456', '654321').replace('Old', 'Older'), NEW] });
    const { summary, sent } = await place.run();
    expect(contents(sent)).toEqual([{ external_id: '1', phone_number: '+3906654321' }]);
    expect(place.lead()).toMatchObject({ ...BOTH, phoneNumber: '+3906654321' });
    expect(summary.events).toMatchObject({ acknowledged: 3, gone: 1 });
    await place.expectQuiet(summary.plan.digest);
  });

  it('of a deal goes without the fields of the newer one, custom fields included', async () => {
    const place = await migration({
      deals: ['D1,Site,1'],
      dealChanges: ['D1,Old,10,web', 'D1,New,,fair'],
    });
    place.disturb(refused('deal/updated', 1));
    const first = await place.run();
    const { summary, sent } = await place.run();
    expect(contents(sent)).toEqual([{ external_id: 'D1', amount: 10 }]);
    expect(summary).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 4 } });
    expect(place.service.state().deals).toMatchObject([
      { title: 'New', amount: 10, customFields: { origin: 'fair' }, revision: 3 },
    ]);
    await place.expectQuiet(first.summary.plan.digest);
  });

  it('is not sent if no field is left: it is a duplicate, `superseded`, and stays part of the plan', async () => {
    const place = await migration({ changes: ['1,Old,,Bari,', NEW] });
    place.disturb(refused('lead/updated', 1));
    const first = await place.run();
    for (const _ of ['this run', 'the next']) {
      const { summary, sent } = await place.run();
      expect(sent).toEqual([]);
      expect(summary).toMatchObject({
        exit: { code: 0, reason: 'done' },
        events: { total: 3, acknowledged: 2, duplicates: 1 },
        warnings_by_code: { superseded: 1 },
      });
      expect(await place.read('omitted.csv')).toMatch(/^changes,.*,2,1,\(record\),1,.*`superseded`/m);
    }
    expect(place.lead()).toMatchObject({ fullName: 'New', revision: 2 });
    await place.expectQuiet(first.summary.plan.digest);
  });
});

describe('fields that an update goes without', () => {
  it('are listed with their values, also those that it loses while events are sent', async () => {
    const place = await migration({ changes: [OLD] });
    place.disturb(refused('lead/updated', 1));
    await place.run();
    await place.write({ changes: [OLD, NEW] });
    place.disturb(refused('lead/updated', 2));
    await place.run();
    const listed = async () =>
      (await place.read('omitted.csv'))
        .split('\n')
        .slice(1, -1)
        .map((line) => /^changes,.*?,(\d+),1,([^,]+,[^,]+),.*`superseded`/.exec(line)?.slice(1));
    const lost = [
      ['2', 'custom_params.city,Bari'],
      ['2', 'full_name,Old'],
    ];
    expect(await listed()).toEqual(lost);
    const { summary, sent } = await place.run();
    expect(contents(sent)).toEqual([STRIPPED]);
    expect(await listed()).toEqual(lost);
    await place.expectQuiet(summary.plan.digest);
    expect(await listed()).toEqual([]);
  });
});

describe('while a newer update that was sent can no longer be mapped', () => {
  const BROKEN = NEW.replace('1,New,,', '1,New,none,');
  const BLOCKED = { exit: { code: 1 }, errors_by_code: { bad_phone: 1, later_update_invalid: 1 } };

  it('an older one waits; once it can be mapped again, the older one goes without its fields', async () => {
    const place = await migration({ changes: [OLD, NEW] });
    place.disturb(refused('lead/updated', 1));
    const first = await place.run();
    await place.write({ changes: [OLD, BROKEN] });
    for (const _ of ['this run', 'the next']) {
      const { summary, sent } = await place.run();
      expect(sent).toEqual([]);
      expect(summary).toMatchObject({ ...BLOCKED, events: { acknowledged: 2, blocked: 1 } });
    }
    expect(await place.read('errors.csv')).toMatch(/^changes,.*,2,1,lead\/updated,1,.*,blocked,later_update_invalid,/m);
    await place.write({ changes: [OLD, NEW] });
    expect(contents((await place.run()).sent)).toEqual([STRIPPED]);
    expect(place.lead()).toMatchObject(BOTH);
    await place.expectQuiet(first.summary.plan.digest);
  });

  it('an older one waits too if the newer one arrived although all its answers were lost', async () => {
    const place = await migration({ changes: [OLD, NEW] });
    place.disturb(refused('lead/updated', 1), lost(2));
    const first = await place.run();
    await place.write({ changes: [OLD, BROKEN] });
    expect((await place.run()).summary).toMatchObject({
      ...BLOCKED,
      events: { acknowledged: 1, invalid: 1, blocked: 1 },
    });
    await place.write({ changes: [OLD, NEW] });
    expect(contents((await place.run()).sent)).toEqual([WHOLE_NEW, STRIPPED]);
    expect(place.lead()).toMatchObject({ ...BOTH, revision: 3 });
    await place.expectQuiet(first.summary.plan.digest);
  });

  it('what `if_exists: update` would send waits as well', async () => {
    const foreign = await migration({ leads: [], changes: [NEW] });
    await send(foreign.service, 'lead/created', { external_id: '1' });
    await foreign.run();
    await foreign.write({ leads: ['1,Old,Roma'], changes: [BROKEN] });
    const { summary, sent } = await foreign.run();
    expect(sent).toEqual([]);
    expect(summary).toMatchObject(BLOCKED);
    await foreign.write({ leads: ['1,Old,Roma'], changes: [NEW] });
    expect((await foreign.run()).summary.exit.code).toBe(0);
    expect(foreign.lead().fullName).toBe('New');
  });

  it('an older one is sent if the newer one was never valid', async () => {
    const place = await migration({ changes: [OLD, BROKEN] });
    place.disturb(refused('lead/updated', 1));
    expect((await place.run()).summary.events).toMatchObject({ acknowledged: 1, invalid: 1, rejected: 1 });
    expect((await place.run()).summary.events).toMatchObject({ acknowledged: 2, invalid: 1 });
  });

  it('one after it is sent', async () => {
    const place = await migration({ changes: [NEW] });
    await place.run();
    await place.write({ changes: [BROKEN, OLD] });
    const { summary, sent } = await place.run();
    expect(sent).toHaveLength(1);
    expect(summary).toMatchObject({ errors_by_code: { bad_phone: 1 }, events: { acknowledged: 3, blocked: 0 } });
    expect(place.lead().fullName).toBe('Old');
  });

  it('what `if_changed` would send waits as well', async () => {
    const ifChanged = 'update';
    const place = await migration({ leads: ['1,Ada,Roma'], changes: [NEW], ifChanged });
    await place.run();
    await place.write({ leads: ['1,Ada Lovelace,Roma'], changes: [BROKEN], ifChanged });
    const { summary, sent } = await place.run();
    expect(sent).toEqual([]);
    expect(summary).toMatchObject(BLOCKED);
    expect(place.lead().fullName).toBe('New');
  });
});

describe('a created row that is added after updates of its record were acknowledged', () => {
  /** Somebody else made the record. */
  async function place(changes: readonly string[]): Promise<Migration> {
    const made = await migration({ leads: [], changes });
    await send(made.service, 'lead/created', { external_id: '1' });
    return made;
  }

  it('overwrites none of their fields with its second request', async () => {
    const foreign = await place(['1,New,,,10']);
    expect((await foreign.run()).summary.events).toMatchObject({ acknowledged: 1 });
    await foreign.write({ leads: ['1,Old,Roma'], changes: ['1,New,,,10'] });
    const { summary, sent } = await foreign.run();
    expect(contents(sent)).toEqual([
      { external_id: '1', full_name: 'Old', custom_params: { city: 'Roma' } },
      { external_id: '1', custom_params: { city: 'Roma' } },
    ]);
    expect(summary).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 2 } });
    expect(foreign.lead()).toMatchObject({ fullName: 'New', customParams: { city: 'Roma', size: '10' } });
    await foreign.expectQuiet(summary.plan.digest);
    // Its own value of the name was never in the service, so nobody has edited it there.
    await foreign.write({ leads: ['1,Oldest,Roma'], changes: ['1,New,,,10'], ifChanged: 'update' });
    expect((await foreign.run()).summary).toMatchObject({ exit: { code: 0 } });
    expect(foreign.lead().fullName).toBe('New');
    expect(await foreign.read('changes.csv').catch(() => '')).not.toContain('conflict');
  });

  it('is acknowledged even if they have set all its fields', async () => {
    const foreign = await place(['1,New,,Pisa,']);
    await foreign.run();
    await foreign.write({ leads: ['1,Old,Roma'], changes: ['1,New,,Pisa,'] });
    const { summary, sent } = await foreign.run();
    expect(contents(sent).at(-1)).toEqual({ external_id: '1' });
    expect(summary).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 2 } });
    expect(foreign.lead()).toMatchObject({ fullName: 'New', customParams: { city: 'Pisa' } });
    await foreign.expectQuiet(summary.plan.digest);
  });
});

describe('a newer update', () => {
  it('that was never tried goes before an older one that was rejected, which then goes without its fields', async () => {
    const place = await migration({ changes: [OLD] });
    place.disturb(refused('lead/updated', 1));
    await place.run();
    await place.write({ changes: [OLD, NEW] });
    const { summary, sent } = await place.run();
    expect(contents(sent)).toEqual([WHOLE_NEW, STRIPPED]);
    expect(place.lead()).toMatchObject(BOTH);
    await place.expectQuiet(summary.plan.digest);
  });

  it('that sets all fields of an older one in the same run supersedes it', async () => {
    const place = await migration({ changes: ['1,Old,,Bari,'] });
    place.disturb(refused('lead/updated', 1));
    await place.run();
    await place.write({ changes: ['1,Old,,Bari,', NEW] });
    const { summary, sent } = await place.run();
    expect(contents(sent)).toEqual([WHOLE_NEW]);
    expect(summary).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 2, duplicates: 1 } });
    await place.expectQuiet(summary.plan.digest);
  });

  it('that is rejected as well takes nothing from the older one', async () => {
    const place = await migration({ changes: [OLD, NEW] });
    place.disturb(refused('lead/updated', 1), refused('lead/updated', 2));
    await place.run();
    place.disturb(refused('lead/updated', 2));
    const { sent } = await place.run();
    expect(sent[0]).toMatchObject({ data: { ...STRIPPED, full_name: 'Old', custom_params: { city: 'Bari' } } });
    expect((await place.run()).summary.exit.code).toBe(0);
    expect(place.lead()).toMatchObject(BOTH);
  });

  it('that arrived although all its answers were lost is asked for before the older one is sent', async () => {
    const place = await migration({ changes: [OLD, NEW] });
    place.disturb(refused('lead/updated', 1), lost(2));
    expect((await place.run()).summary.events).toMatchObject({ acknowledged: 1, rejected: 2 });
    const { summary, sent } = await place.run();
    expect(contents(sent)).toEqual([WHOLE_NEW, STRIPPED]);
    expect(summary).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 3 } });
    expect(place.lead()).toMatchObject({ ...BOTH, revision: 3 });
    await place.expectQuiet(summary.plan.digest);
  });

  it('whose answers are lost again makes the older one wait', async () => {
    const place = await migration({ changes: [OLD, NEW] });
    place.disturb(refused('lead/updated', 1), lost(2));
    await place.run();
    place.disturb(lost(1));
    const { summary, sent } = await place.run();
    expect(contents(sent)).toEqual(Array(5).fill(WHOLE_NEW));
    expect(summary).toMatchObject({ exit: { code: 1 }, events: { acknowledged: 1, rejected: 1, pending: 1 } });
    expect((await place.run()).sent).toHaveLength(2);
    expect(place.lead()).toMatchObject({ ...BOTH, revision: 3 });
  });

  it('that was acknowledged before a kill -9 keeps its fields', async () => {
    const place = await migration({ changes: [OLD] });
    place.disturb(refused('lead/updated', 1));
    await place.run();
    await place.write({ changes: [OLD, NEW] });
    // The older one goes second, and is never answered.
    place.service.setFaults({ rules: [{ kind: 'hang', committed: true, when: { requests: { from: 2, to: 2 } } }] });
    const before = place.posts().length;
    const running = start(['run', 'mapping.yaml', ...FAST], { cwd: place.cwd, env: environmentOf(place.service) });
    await expect.poll(() => place.posts().length, { timeout: 30_000 }).toBe(before + 2);
    running.child.kill('SIGKILL');
    await running.ended;

    const { summary, sent } = await place.run();
    expect(contents(sent)).toEqual([STRIPPED]);
    expect(sent[0]!.id).toBe((place.posts()[before + 1]!.body as Sent).id);
    expect(place.lead()).toMatchObject({ ...BOTH, revision: 3 });
    await place.expectQuiet(summary.plan.digest);
  });
});

describe('among updates with the same content', () => {
  it('one that a killed run sent is recognised by its id, so that all of them go in their order', async () => {
    const [roma, bari] = ['1,,,Roma,', '1,,,Bari,'];
    const place = await migration({ changes: [roma, bari, roma] });
    place.service.setFaults({
      rules: [{ kind: 'hang', committed: true, when: { event: { type: 'lead/updated' }, times: 1 } }],
    });
    const running = start(['run', 'mapping.yaml', ...FAST], { cwd: place.cwd, env: environmentOf(place.service) });
    await expect.poll(() => place.posts().length, { timeout: 30_000 }).toBe(2);
    running.child.kill('SIGKILL');
    await running.ended;

    const { summary, sent } = await place.run();
    expect(sent.map(({ data }) => data.custom_params)).toEqual([{ city: 'Roma' }, { city: 'Bari' }, { city: 'Roma' }]);
    expect(summary).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 4 } });
    expect(place.lead()).toMatchObject({ revision: 4 });
    await place.expectQuiet(summary.plan.digest);
  });

  it('an acknowledged one is recognised by its id, so that the first rejected one does not take its place', async () => {
    const [roma, bari] = ['1,,,Roma,', '1,,,Bari,'];
    const place = await migration({ changes: [roma, bari, roma] });
    place.disturb(refused('lead/updated', 1), refused('lead/updated', 2));
    expect((await place.run()).summary.events).toMatchObject({ acknowledged: 2, rejected: 2 });
    const { summary, sent } = await place.run();
    expect(sent).toEqual([]);
    expect(summary.events).toMatchObject({ acknowledged: 2, duplicates: 2 });
    expect(place.lead().customParams).toEqual({ city: 'Roma' });
    await place.expectQuiet(summary.plan.digest);
  });
});

describe('what `if_changed` sends', () => {
  it('stands for the created event, so it goes without the fields of acknowledged updates', async () => {
    const place = await migration({ leads: ['1,Ada,Roma'], changes: ['1,New,,,'], ifChanged: 'update' });
    await place.run();
    await place.write({ leads: ['1,Ada Lovelace,Bari'], changes: ['1,New,,,'], ifChanged: 'update' });
    const { summary, sent } = await place.run();
    expect(contents(sent)).toEqual([{ external_id: '1', custom_params: { city: 'Bari' } }]);
    expect(place.lead()).toMatchObject({ fullName: 'New', customParams: { city: 'Bari' } });
    await place.expectQuiet(summary.plan.digest);
  });

  it('has an id of its own, so that an update of the input with the same content is not taken for it', async () => {
    const ifChanged = 'update';
    const place = await migration({ leads: ['1,Ada,Roma'], ifChanged });
    await place.run();
    await place.write({ leads: ['1,Ada,Bari'], ifChanged });
    await place.run();
    await place.write({ leads: ['1,Ada,Bari'], changes: ['1,Grace,,Pisa,', '1,Ada,,Bari,'], ifChanged });
    const { summary } = await place.run();
    expect(place.lead()).toMatchObject({ fullName: 'Ada', customParams: { city: 'Bari' } });
    await place.expectQuiet(summary.plan.digest);
  });
});
