// Lost without it: an edit of a person in the service could be overwritten, or a change of the export be lost.
import { stat } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { mapping, project } from '../e2e/harness.ts';
import { send } from '../sandbox/client.ts';

const FIRST = 'id,name,email,city\n1,Ada,Ada@example.test,Bari\n2,Bob,bob@example.test,Rome\n';
const CHANGED = FIRST.replace('Ada,Ada@example.test', 'Ada L.,new@example.test');
const GONE = FIRST.replace(/1,.*\n/, '');

/** After the run of the first export. */
async function migrated(policies = 'if_changed: update') {
  const data = 'external_id: id, full_name: name, email: email, custom_params: { city: city }';
  const people = `type: lead/created, if_contact_exists: ignore, ${policies}, data: { ${data} }`;
  const p = await project({ 'mapping.yaml': mapping({ people }) });
  let seen = 0;
  const requested = () => p.service.requests().slice(seen);
  const shown = () => p.service.state().leads.find(({ externalId }) => externalId === '1')!;
  const place = {
    ...p,
    /** With this export. */
    run: async (exported: string, ...options: string[]) => {
      seen = p.service.requests().length;
      await p.write({ 'people.csv': exported });
      return p.summary(...options);
    },
    /** Somebody edits record 1, or deletes it. */
    edit: async (fields: object) =>
      expect((await send(p.service, 'lead/updated', { external_id: '1', ...fields })).status).toBe(200),
    remove: () => p.service.instead.set(shown().id, { status: 404 }),
    /** Record 1 as it is now. */
    shown,
    /** The paths of the last run's requests about leads, and the data of its events. */
    reads: () => requested().flatMap(({ path }) => (path.startsWith('/leads') ? [path] : [])),
    sent: () =>
      requested().flatMap(({ method, body }) => (method === 'POST' ? [(body as { data: unknown }).data] : [])),
    /** Lines of a file in the state directory, without the header and service ids. */
    lines: async (name: string) => {
      const [, ...lines] = (await p.stored(name)).trim().split('\n');
      return lines.map((line) => line.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, ''));
    },
  };
  expect(await place.run(FIRST)).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 2 } });
  return place;
}

describe('a record that the export', () => {
  describe('has unchanged', () => {
    it('costs nothing if it is unchanged in the service', async () => {
      const { run, reads, lines } = await migrated();
      expect(await run(FIRST)).toMatchObject({
        exit: { code: 0 },
        changes: { new: 0, changed: 0, edited: 0, in_conflict: 0, gone: 0 },
      });
      expect(reads()).toEqual([]);
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
      const { run, sent, remove } = await migrated();
      remove();
      expect(await run(FIRST)).toMatchObject({ exit: { code: 0 }, changes: { changed: 0 } });
      expect(sent()).toEqual([]);
    });
  });

  describe('has changed', () => {
    it('is updated with only its changed fields if it is unchanged in the service, in whatever form that shows it', async () => {
      const { run, edit, sent, shown, lines } = await migrated();
      // The service may normalise what it stores.
      await edit({ full_name: ' Ada ', email: 'ADA@example.test' });
      const dry = await run(CHANGED, '--dry-run');
      expect(dry.changes).toMatchObject({ new: 0, changed: 1, edited: 0, in_conflict: 0, gone: 0 });
      expect(sent()).toEqual([]);
      const listed = await lines('dry-run/changes.csv');
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

    it('and lost a value is reported as emptied by every run, with the value that stays', async () => {
      const { run, sent, lines } = await migrated();
      const emptied = FIRST.replace('Ada@example.test', '');
      for (let n = 0; n < 2; n += 1) {
        expect(await run(emptied)).toMatchObject({
          exit: { code: 1, reason: 'emptied' },
          events: { acknowledged: 2, changed: 1 },
          warnings_by_code: { emptied: 1 },
          changes: { changed: 1, reported: 0, not_sendable: 1 },
        });
        expect(sent()).toEqual([]);
        expect(await lines('changes.csv')).toEqual(['lead,1,,email,Ada@example.test,,emptied']);
      }
      expect(await run(FIRST)).toMatchObject({ exit: { code: 0 }, changes: { changed: 0 } });
    });

    it.each([
      ['the letter case of an address', FIRST.replace('Ada@example.test', 'ADA@example.test')],
      ['a line break', FIRST.replace('Ada,', '"Ada\nL",')],
    ])('in %s alone is sent', async (_, next) => {
      const { run, sent } = await migrated();
      expect(await run(next)).toMatchObject({ exit: { code: 0 } });
      expect(sent()).toHaveLength(1);
    });

    it('is an error, and no new record, if it was deleted in the service', async () => {
      const { run, sent, lines, remove } = await migrated();
      remove();
      const summary = await run(CHANGED);
      expect(summary).toMatchObject({ exit: { code: 1 }, errors_by_code: { deleted_in_service: 1 } });
      expect(sent()).toEqual([]);
      expect(await lines('changes.csv')).toEqual(['lead,1,,,,,deleted']);
    });
  });

  describe('no longer has', () => {
    it.each([
      ['unchanged', false],
      ['edited', true],
    ])('stays as it is in the service, %s, and is listed', async (_, isEdited) => {
      const { run, edit, sent, shown, lines, state } = await migrated();
      if (isEdited) await edit({ full_name: 'Ada Lovelace' });
      expect(await run(GONE, '--yes')).toMatchObject({ exit: { code: 0 }, changes: { gone: 1 } });
      expect(sent()).toEqual([]);
      expect(shown()).toMatchObject({ fullName: isEdited ? 'Ada Lovelace' : 'Ada' });
      expect(await lines('gone.csv')).toEqual(['lead,1,,']);
      expect((await stat(state('gone.csv'))).mode & 0o777).toBe(0o600);
    });
  });
});

describe('the comparison', () => {
  it('counts records that `if_changed` only reports as changed, and says that they are not sent', async () => {
    const { told, run, sent, lines } = await migrated('if_changed: report');
    expect(await run(CHANGED)).toMatchObject({ exit: { reason: 'changed' }, changes: { changed: 1, reported: 1 } });
    expect(sent()).toEqual([]);
    expect(await lines('changes.csv')).toEqual([
      'lead,1,,email,(not read),new@example.test,reported',
      'lead,1,,full_name,(not read),Ada L.,reported',
    ]);
    await run(FIRST.replace('Bari', 'Milan'));
    expect(await lines('changes.csv')).toEqual(['lead,1,,custom_params.city,(not shown),Milan,reported']);
    const { stdout } = await told();
    expect(stdout.replace(/\s+/g, ' ')).toContain(
      '1 acknowledged record differs from what was sent (people.csv:2: custom_params.city); changes.csv lists each field, and `if_changed: update` sends them',
    );
    expect(stdout).not.toMatch(/^ {2}(?:changed|only reported)|since it was acknowledged/m);
    expect(stdout).not.toMatch(/^ {2}(?:new|edited)/m);
    expect(stdout).toContain('changes.csv');
  });
});
