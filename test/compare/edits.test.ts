/** `if_edited`: a second export, after people have worked in the service. */
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Summary } from '../../src/report/summary.ts';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../src/commands/sandbox/index.ts';
import { backfill, environmentOf, FAST, files, sandbox, workspace } from '../e2e/harness.ts';
import { migrate, type Options } from '../faults/in-process.ts';
import { send } from '../sandbox/client.ts';

const FIRST = 'id,name,email,city\n1,Ada,Ada@example.test,Bari\n2,Bob,bob@example.test,Rome\n';
const CHANGED = FIRST.replace('Ada,Ada@example.test', 'Ada L.,new@example.test');
const GONE = FIRST.replace(/1,.*\n/, '');

function mapping(policies: string, ifChanged: string): string {
  return `version: 1
migration: cutover
sources:
  people: { path: people.csv }
events:
  - type: lead/created
    source: people
    if_contact_exists: ignore
    if_changed: ${ifChanged}
    ${policies}
    data: { external_id: id, full_name: name, email: email, custom_params: { city: city } }
`;
}

interface Place {
  readonly service: Sandbox;
  readonly cwd: string;
  /** With this export. */
  readonly run: (people: string, options?: Options) => Promise<Summary>;
  /** Somebody edits record 1. */
  readonly edit: (fields: object) => Promise<void>;
  /** Fields of record 1. */
  readonly shown: () => unknown;
  /** The data of the events of the last run. */
  readonly sent: () => unknown[];
  /** Lines of a file in the state directory, without the header and service ids. */
  readonly lines: (name: string, folder?: string) => Promise<string[]>;
  readonly requests: () => string[];
}

const STATE = '.backfill/cutover';

/** After the run of the first export. */
async function migrated(policies = '', given?: Sandbox, ifChanged = 'update'): Promise<Place> {
  const service = given ?? (await sandbox());
  const cwd = await workspace();
  let seen = 0;
  const place: Place = {
    service,
    cwd,
    run: async (people, options) => {
      seen = service.requests().length;
      await files(cwd, { 'mapping.yaml': mapping(policies, ifChanged), 'people.csv': people });
      return migrate(service, join(cwd, 'mapping.yaml'), options);
    },
    edit: async (fields) => {
      expect((await send(service, 'lead/updated', { external_id: '1', ...fields })).status).toBe(200);
    },
    shown: () => service.state().leads.find(({ externalId }) => externalId === '1'),
    sent: () =>
      service
        .requests()
        .slice(seen)
        .flatMap(({ method, body }) => (method === 'POST' ? [(body as { data: unknown }).data] : [])),
    lines: async (name, folder = STATE) => {
      const text = await readFile(join(cwd, folder, name), 'utf8');
      return text
        .trim()
        .split('\n')
        .slice(1)
        .map((line) => line.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, ''));
    },
    requests: () =>
      service
        .requests()
        .slice(seen)
        .map(({ path }) => path),
  };
  expect(await place.run(FIRST)).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 2 } });
  return place;
}

/** The same service after record 1 was deleted there, which the sandbox has no route for. */
async function withoutRecord(policies = ''): Promise<Place> {
  const journal = join(await workspace(), 'journal.ndjson');
  const options: SandboxOptions = { journal, rate: { requests: 100_000, seconds: 1 } };
  const before = await startSandbox(options);
  const place = await migrated(policies, before);
  const port = Number(new URL(before.baseUrl).port);
  const [apiKey, ingestToken] = [before.apiKey.reveal(), before.ingestToken.reveal()];
  const id = before.state().leads.find(({ externalId }) => externalId === '1')!.id;
  await before.close();
  const lines = (await readFile(journal, 'utf8')).split('\n').filter((line) => !line.includes(id));
  await writeFile(journal, lines.join('\n'));
  const after = await startSandbox({ ...options, port, apiKey, ingestToken });
  onTestFinished(() => after.close());
  let seen = 0;
  return {
    ...place,
    service: after,
    run: async (people, given) => {
      seen = after.requests().length;
      await files(place.cwd, { 'people.csv': people });
      return migrate(after, join(place.cwd, 'mapping.yaml'), given);
    },
    sent: () =>
      after
        .requests()
        .slice(seen)
        .filter(({ method }) => method === 'POST'),
    requests: () =>
      after
        .requests()
        .slice(seen)
        .map(({ path }) => path),
  };
}

describe('a record that the export', () => {
  describe('has unchanged', () => {
    it('costs nothing if it is unchanged in the service', async () => {
      const { run, requests, lines } = await migrated();
      expect(await run(FIRST)).toMatchObject({
        exit: { code: 0 },
        changes: { new: 0, changed: 0, edited: 0, in_conflict: 0, gone: 0 },
      });
      expect(requests().filter((path) => path.startsWith('/leads'))).toEqual([]);
      expect(await lines('changes.csv')).toEqual([]);
    });

    it('keeps the edit that somebody made in the service', async () => {
      const { run, edit, sent, shown } = await migrated();
      await edit({ full_name: 'Ada Lovelace' });
      expect(await run(FIRST)).toMatchObject({ exit: { code: 0 }, changes: { changed: 0 } });
      expect(sent()).toEqual([]);
      expect(shown()).toMatchObject({ fullName: 'Ada Lovelace' });
    });

    it('stays deleted if it was deleted in the service', async () => {
      const { run, sent } = await withoutRecord();
      expect(await run(FIRST)).toMatchObject({ exit: { code: 0 }, changes: { changed: 0 } });
      expect(sent()).toEqual([]);
    });
  });

  describe('has changed', () => {
    it('is updated with only its changed fields if it is unchanged in the service, in whatever form that shows it', async () => {
      const { run, edit, sent, shown, lines } = await migrated();
      // The service may normalise what it stores.
      await edit({ full_name: ' Ada ', email: 'ADA@example.test' });
      const dry = await run(CHANGED, { dryRun: true });
      expect(dry.changes).toMatchObject({ new: 0, changed: 1, edited: 0, in_conflict: 0, gone: 0 });
      expect(sent()).toEqual([]);
      const listed = await lines('changes.csv', `${STATE}/dry-run`);
      expect(listed).toEqual([
        'lead,1,,email,ADA@example.test,new@example.test,changed',
        'lead,1,,full_name," Ada ",Ada L.,changed',
      ]);
      expect(await run(CHANGED)).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 2 } });
      expect(sent()).toEqual([{ external_id: '1', full_name: 'Ada L.', email: 'new@example.test' }]);
      expect(await lines('changes.csv')).toEqual(listed);
      expect(shown()).toMatchObject({ fullName: 'Ada L.', email: 'new@example.test', customParams: { city: 'Bari' } });
      expect(await run(CHANGED)).toMatchObject({ exit: { code: 0 }, changes: { changed: 0 } });
      expect(sent()).toEqual([]);
    });

    it('keeps what somebody edited in another field, and gets its changed fields', async () => {
      const { run, edit, sent, shown, lines } = await migrated();
      await edit({ full_name: 'Ada Lovelace' });
      const summary = await run(FIRST.replace('Ada@example.test', 'new@example.test'));
      expect(summary.changes).toMatchObject({ changed: 1, edited: 1, in_conflict: 0 });
      expect(sent()).toEqual([{ external_id: '1', email: 'new@example.test' }]);
      expect(shown()).toMatchObject({ fullName: 'Ada Lovelace', email: 'new@example.test' });
      expect(await lines('changes.csv')).toEqual([
        'lead,1,,email,Ada@example.test,new@example.test,changed',
        'lead,1,,full_name,Ada Lovelace,Ada,edited',
      ]);
    });

    it('keeps the value of the service if the same field was edited there, and lists the conflict in every run (keep)', async () => {
      const { run, edit, sent, shown, lines } = await migrated();
      await edit({ full_name: 'Ada Lovelace' });
      const conflict = 'lead,1,,full_name,Ada Lovelace,Ada L.,"conflict, kept"';
      const summary = await run(CHANGED);
      expect(summary.changes).toMatchObject({ changed: 1, edited: 1, in_conflict: 1 });
      expect(sent()).toEqual([{ external_id: '1', email: 'new@example.test' }]);
      expect(await lines('changes.csv')).toContain(conflict);
      expect(await run(CHANGED)).toMatchObject({ exit: { code: 0 }, changes: { in_conflict: 1 } });
      expect(sent()).toEqual([]);
      expect(await lines('changes.csv')).toEqual([conflict]);
      expect(shown()).toMatchObject({ fullName: 'Ada Lovelace', email: 'new@example.test' });
    });

    it('gets the value of the export if the same field was edited in the service (overwrite)', async () => {
      const { run, edit, shown, lines, sent } = await migrated('if_edited: overwrite');
      await edit({ full_name: 'Ada Lovelace', custom_params: { city: 'Milan' } });
      expect((await run(CHANGED)).changes).toMatchObject({ in_conflict: 1 });
      expect(shown()).toMatchObject({ fullName: 'Ada L.', customParams: { city: 'Milan' } });
      expect(await lines('changes.csv')).toContain('lead,1,,full_name,Ada Lovelace,Ada L.,"conflict, overwritten"');
      await run(CHANGED);
      expect(sent()).toEqual([]);
    });

    it.each([
      [
        'the new value of the service is read once',
        'update',
        FIRST.replace('Ada,', 'Ada L.,'),
        { full_name: 'Ada L.' },
        1,
      ],
      [
        'the new value of the service is read once',
        '[full_name]',
        FIRST.replace('Ada,', 'Ada L.,'),
        { full_name: 'Ada L.' },
        1,
      ],
    ])('with %s (if_changed: %s): the next run makes no request about it', async (_, policy, next, edited, reads) => {
      const { run, edit, sent, requests } = await migrated('', undefined, policy);
      if (Object.keys(edited).length > 0) await edit(edited);
      await run(next, { dryRun: true });
      expect(await run(next)).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 2 } });
      expect(requests().filter((path) => path.startsWith('/leads'))).toHaveLength(reads);
      expect(sent()).toEqual([]);
      expect(await run(next)).toMatchObject({
        exit: { code: 0 },
        events: { acknowledged: 2 },
        changes: { changed: 0 },
      });
      expect(requests().filter((path) => path.startsWith('/leads'))).toEqual([]);
      await run(FIRST.replace('Ada,', 'Ada M.,'));
      expect(requests().filter((path) => path.startsWith('/leads'))).toHaveLength(1);
    });

    it('and lost a value is reported as emptied by every run, with the value that stays', async () => {
      const { run, sent, lines } = await migrated('', undefined, 'update');
      const emptied = FIRST.replace('Ada@example.test', '');
      for (let n = 0; n < 2; n += 1) {
        expect(await run(emptied)).toMatchObject({
          exit: { code: 1, reason: 'emptied' },
          events: { acknowledged: 2, changed: 1 },
          warnings_by_code: { emptied: 1 },
        });
        expect(sent()).toEqual([]);
        expect(await lines('changes.csv')).toEqual(['lead,1,,email,Ada@example.test,,emptied']);
      }
      expect(await run(FIRST)).toMatchObject({ exit: { code: 0 }, changes: { changed: 0 } });
    });

    it('and lost a value is not reported under `if_changed: ignore`', async () => {
      const { run } = await migrated('', undefined, 'ignore');
      const summary = await run(FIRST.replace('Ada@example.test', ''));
      expect(summary).toMatchObject({ exit: { code: 0 }, events: { changed: 0 } });
    });

    it.each([
      ['the letter case of an address', FIRST.replace('Ada@example.test', 'ADA@example.test')],
      ['a line break', FIRST.replace('Ada,', '"Ada\nL",')],
    ])('in %s alone is sent', async (_, next) => {
      const { run, sent } = await migrated('', undefined, 'update');
      expect(await run(next)).toMatchObject({ exit: { code: 0 } });
      expect(sent()).toHaveLength(1);
    });

    it('is an error, and no new record, if it was deleted in the service', async () => {
      const { run, sent, lines, service } = await withoutRecord();
      const summary = await run(CHANGED);
      expect(summary).toMatchObject({ exit: { code: 1 }, errors_by_code: { deleted_in_service: 1 } });
      expect(sent()).toEqual([]);
      expect(service.state().leads.map(({ externalId }) => externalId)).toEqual(['2']);
      expect(await lines('changes.csv')).toEqual(['lead,1,,,,,deleted']);
    });
  });

  describe('no longer has', () => {
    it.each([
      ['unchanged', false],
      ['edited', true],
    ])('stays as it is in the service, %s, and is listed', async (_, isEdited) => {
      const { run, edit, sent, shown, lines, cwd } = await migrated();
      if (isEdited) await edit({ full_name: 'Ada Lovelace' });
      expect(await run(GONE, { yes: true })).toMatchObject({ exit: { code: 0 }, changes: { gone: 1 } });
      expect(sent()).toEqual([]);
      expect(shown()).toMatchObject({ fullName: isEdited ? 'Ada Lovelace' : 'Ada' });
      expect(await lines('gone.csv')).toEqual(['lead,1,,']);
      expect((await stat(join(cwd, STATE, 'gone.csv'))).mode & 0o777).toBe(0o600);
    });

    it('stays deleted if it was deleted in the service, and is listed', async () => {
      const { run, sent, lines } = await withoutRecord();
      expect(await run(GONE, { yes: true })).toMatchObject({ exit: { code: 0 }, changes: { gone: 1 } });
      expect(sent()).toEqual([]);
      expect(await lines('gone.csv')).toEqual(['lead,1,,']);
    });
  });
});

describe('the comparison', () => {
  it('counts records that `if_changed` only reports as changed, and says that they are not sent', async () => {
    const { cwd, run, service, sent, lines } = await migrated('', undefined, 'report');
    expect(await run(CHANGED)).toMatchObject({ exit: { reason: 'changed' }, changes: { changed: 1, reported: 1 } });
    expect(sent()).toEqual([]);
    expect(await lines('changes.csv')).toEqual([
      'lead,1,,email,,new@example.test,reported',
      'lead,1,,full_name,,Ada L.,reported',
    ]);
    const { stdout } = await backfill(['run', 'mapping.yaml', ...FAST], { cwd, env: environmentOf(service) });
    expect(stdout).toMatch(/^ {2}changed +1 /m);
    expect(stdout).toMatch(/^ {2}only reported +1 /m);
    expect(stdout).not.toMatch(/^ {2}(?:new|edited)/m);
    expect(stdout).toContain('changes.csv');
  });

  it('is printed by a dry run of the second export, with the fields that the service does not show', async () => {
    const { cwd, service, edit } = await migrated();
    await edit({ full_name: 'Ada Lovelace' });
    await writeFile(join(cwd, 'people.csv'), `${CHANGED.replace('Bari', 'Genoa')}3,New,,\n`);
    const args = ['run', 'mapping.yaml', '--dry-run', ...FAST];
    const { stdout } = await backfill(args, { cwd, env: environmentOf(service) });
    const text = stdout.replace(/\s+/g, ' ');
    expect(text).toMatch(/ new 1 changed 1 .* edited in the service 1 1 in conflict /);
    expect(text).not.toMatch(/ gone /);
    expect(text).toMatch(/ot shown by the service.*: custom_params\.city /);
  });

  it('reads single records if few have changed, and list pages if more than one in a hundred has', async () => {
    const { run, requests } = await migrated();
    const rows = (changed: number): string =>
      Array.from({ length: 300 }, (_, at) => `p${at},${at < changed ? `New ${changed}` : 'Old'} ${at},,`).join('\n');
    await run(`${FIRST}${rows(0)}\n`);
    await run(`${FIRST}${rows(2)}\n`);
    const reads = (): string[] => requests().filter((path) => path.startsWith('/leads'));
    expect(reads().map((path) => path.replace(/[^/]+$/, ''))).toEqual(['/leads/', '/leads/']);
    await run(`${FIRST}${rows(250)}\n`);
    expect(reads()).toEqual(['/leads?page=1&pageSize=100', '/leads?page=2&pageSize=100', '/leads?page=3&pageSize=100']);
  });
});
