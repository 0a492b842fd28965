// Lost without it: a record that the service merged or hides could stop all others.
import { expect, it } from 'vitest';
import { FAST, mapping, project } from '../e2e/harness.ts';

it('are reported one by one, and all others are updated', async () => {
  const people = (names: string): string =>
    `id,name\n${[...names.split(',')].map((name, n) => `${n + 1},${name}\n`).join('')}`;
  const { service, summary, command, write, stored } = await project({
    'mapping.yaml': mapping({
      people:
        'type: lead/created, if_contact_exists: ignore, if_changed: update, data: { external_id: id, full_name: name }',
    }),
    'people.csv': people('Ann,Bob,Cy,Dan'),
  });
  expect(await summary()).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 4 } });
  const idOf = (externalId: string) => service.state().leads.find((lead) => lead.externalId === externalId)!.id;
  const [ann, bob, cy] = ['1', '2', '3'].map(idOf) as [string, string, string];
  service.instead.set(ann, { into: bob }).set(cy, { status: 403 });

  const verified = await command('verify', '--sample', 'all', ...FAST);
  expect(verified.code).toBe(1);
  expect(verified.stdout).toContain(`lead 1: merged into ${bob}`);
  expect(verified.stdout).toMatch(/lead 3: GET \/leads\/\S+ was refused/);

  await write({ 'people.csv': people('Ann L,Bob M,Cy N,Dan O') });
  expect(await summary()).toMatchObject({
    exit: { code: 1 },
    events: { acknowledged: 2, invalid: 2 },
    errors_by_code: { merged_in_service: 1, refused_in_service: 1 },
  });
  expect(service.state().leads.map(({ fullName }) => fullName)).toEqual(['Ann', 'Bob M', 'Cy', 'Dan O']);
  const changes = await stored('changes.csv');
  expect(changes).toContain(`lead,1,${ann},,${bob},,merged`);
  expect(changes).toContain(`lead,3,${cy},,,,refused`);
  expect(await stored('errors.csv')).toMatch(new RegExp(`merged_in_service.*${bob}`));

  for (const [record, why] of [
    ['lead:1', 'merged'],
    ['lead:3', '403'],
  ] as const) {
    const { code, stdout } = await command('explain', record, '--live');
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`In the export[\\s\\S]*not read: [\\s\\S]*${why}`));
  }
});
