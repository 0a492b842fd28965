// Lost without it: the steps of migration.md could not work as they stand there.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makePlace, type Place } from './console.ts';
import { ROOT } from './root.ts';

/** The steps of the page, followed literally in an empty folder with an account. */
describe('mappings/migration.md', () => {
  const page = readFileSync(join(ROOT, 'mappings/migration.md'), 'utf8');
  const blocks = [...page.matchAll(/^ *```sh\n([^]*?)^ *```$/gm)].map(([, text]) => text!.trim());
  const [setUp] = [...page.matchAll(/^<!-- run: (.*) -->$/gm)].map(([, command]) => command!);
  let place: Place;
  let digest = '';
  const run = (command: string): Promise<string> =>
    place.run(`${command.replace('DIGEST', digest)}; echo "exit code $?"`);
  const block = (start: string): string => blocks.find((text) => text.startsWith(`npx crm-backfill ${start}`))!;

  beforeAll(async () => {
    place = await makePlace(true);
    await place.run(setUp!);
    const dryRun = await run('npx crm-backfill run acme/acme.yaml --dry-run');
    digest = /Plan ([0-9a-f]{12})/.exec(dryRun)![1]!;
  });
  afterAll(() => place.close());

  it('names the variables that the program reads', async () => {
    const names = [...blocks[0]!.matchAll(/^(\w+)=/gm)].map(([, name]) => name!);
    expect(names).toEqual(['BACKFILL_API_KEY', 'BACKFILL_INGEST_URL']);
    expect(await place.run('cut -d= -f1 .env')).toBe(`${names.join('\n')}\n`);
  });

  it('writes the plan to sign with the dry run', async () => {
    expect((await place.run('ls acme/.backfill/acme/dry-run/plan')).split('\n')).toEqual(
      expect.arrayContaining(['lead-created.csv', 'deal-created.csv', 'comment-created.csv', 'left_out.csv']),
    );
  });

  it('sends the signed plan: first a pilot, then the rest, and then nothing', async () => {
    const pilot = await run(blocks.find((text) => text.includes('--pilot'))!);
    expect(pilot).toMatch(/FINISHED|DONE/);
    const sent = Number(/(\d+) of 80 events/.exec(pilot)![1]);
    expect(sent).toBeGreaterThan(30);
    expect(sent).toBeLessThan(67);
    const rest = await run(blocks.find((text) => text.endsWith('--plan DIGEST'))!);
    expect(rest).toContain('67 of 80 events acknowledged');
    expect(rest).toContain(`${67 - sent} events sent`);
    expect(await run(blocks.find((text) => text.endsWith('--plan DIGEST'))!)).toContain('0 events sent');
  });

  it('verifies, and the report has the result', async () => {
    expect(await run(block('verify'))).toContain('match in every field');
    expect(await place.run('ls acme/.backfill/acme')).toContain('ids.csv');
    expect(await place.run('cat acme/.backfill/acme/report.html')).not.toContain('Not verified yet');
  });

  it('migrates what a newer export changes, once the mapping says so', async () => {
    await place.run("sed -i.old 's/^defaults:/defaults:\\n  if_changed: update/' acme/acme.yaml");
    await place.run("sed -i.old 's/Website relaunch/Website relaunch 2/' acme/deals.csv");
    const dryRun = await run('npx crm-backfill run acme/acme.yaml --dry-run');
    expect(dryRun).toMatch(/changed +3/);
    expect(dryRun).not.toMatch(/^ +new /m);
    const again = await run('npx crm-backfill run acme/acme.yaml');
    expect(again).toContain('3 events sent');
  });

  it('purges, and keeps what a rerun needs', async () => {
    // Without a terminal nobody can answer the question.
    expect(await run(`${block('purge')} --yes`)).toContain('exit code 0');
    const left = await place.run('ls acme/.backfill/acme');
    expect(left).toContain('checkpoint.db');
    expect(left).not.toContain('plan.db');
  });
});
