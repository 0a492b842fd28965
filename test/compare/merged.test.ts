/** Records that have changed in the export, and of which the service shows another one, or nothing. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startSandbox, type Sandbox } from '../../src/commands/sandbox/index.ts';
import { sandboxApp } from '../../src/commands/sandbox/serve.ts';
import { backfill, environmentOf, files, workspace } from '../e2e/harness.ts';
import { migrate } from '../faults/in-process.ts';

const MAPPING = `version: 1
migration: merged
sources: { people: { path: people.csv } }
events:
  - type: lead/created
    source: people
    if_contact_exists: ignore
    if_changed: update
    data: { external_id: id, full_name: name }
`;

/** By service id: what answers in place of a single record, which no list has any more. */
type Instead = Map<string, { readonly into: string } | { readonly status: number }>;

async function service(instead: Instead): Promise<Sandbox> {
  const running = await startSandbox({ rate: { requests: 100_000, seconds: 1 } }, (context) => {
    const app = sandboxApp(context);
    return async (request, env) => {
      const url = new URL(request.url);
      if (request.method !== 'GET' || !url.pathname.startsWith('/leads')) return app.fetch(request, env);
      const gone = instead.get(url.pathname.slice('/leads/'.length));
      if (gone && 'status' in gone) return Response.json({ error: 'no access' }, { status: gone.status });
      if (gone) return app.fetch(new Request(new URL(`/leads/${gone.into}`, url), request), env);
      const answer = await app.fetch(request, env);
      const body = (await answer.json()) as { leads?: { id: string }[]; total?: number };
      const leads = body.leads?.filter(({ id }) => !instead.has(id));
      return Response.json(leads ? { ...body, leads, total: leads.length } : body, { status: answer.status });
    };
  });
  onTestFinished(() => running.close());
  return running;
}

it('are reported one by one, and all others are updated', async () => {
  const instead: Instead = new Map();
  const target = await service(instead);
  const cwd = await workspace();
  await files(cwd, { 'mapping.yaml': MAPPING, 'people.csv': 'id,name\n1,Ann\n2,Bob\n3,Cy\n4,Dan\n' });
  const run = () => migrate(target, join(cwd, 'mapping.yaml'));
  expect(await run()).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 4 } });
  const idOf = (externalId: string) => target.state().leads.find((lead) => lead.externalId === externalId)!.id;
  const [ann, bob, cy] = ['1', '2', '3'].map(idOf) as [string, string, string];
  instead.set(ann, { into: bob }).set(cy, { status: 403 });

  const env = environmentOf(target);
  const verified = await backfill(['verify', 'mapping.yaml', '--sample', 'all', '--rate', '100000/1s'], { cwd, env });
  expect(verified.code).toBe(1);
  expect(`${verified.stdout}${verified.stderr}`).toContain(`lead 1: merged into ${bob}`);
  expect(`${verified.stdout}${verified.stderr}`).toMatch(/lead 3: GET \/leads\/\S+ was refused/);

  await files(cwd, { 'people.csv': 'id,name\n1,Ann L\n2,Bob M\n3,Cy N\n4,Dan O\n' });
  const summary = await run();
  expect(summary).toMatchObject({
    exit: { code: 1 },
    events: { acknowledged: 2, invalid: 2 },
    errors_by_code: { merged_in_service: 1, refused_in_service: 1 },
  });
  expect(target.state().leads.map(({ fullName }) => fullName)).toEqual(['Ann', 'Bob M', 'Cy', 'Dan O']);
  const state = join(cwd, '.backfill/merged');
  const changes = await readFile(join(state, 'changes.csv'), 'utf8');
  expect(changes).toContain(`lead,1,${ann},,${bob},,merged`);
  expect(changes).toContain(`lead,3,${cy},,,,refused`);
  expect(await readFile(join(state, 'errors.csv'), 'utf8')).toMatch(new RegExp(`merged_in_service.*${bob}`));

  for (const [record, why] of [
    ['lead:1', `merged`],
    ['lead:3', '403'],
  ] as const) {
    const { code, stdout } = await backfill(['explain', 'mapping.yaml', record, '--live'], { cwd, env });
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(new RegExp(`In the export[\\s\\S]*not read: [\\s\\S]*${why}`)),
    ]);
  }
});
