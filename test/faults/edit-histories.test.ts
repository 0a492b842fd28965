/** Histories of a cutover: exports that change, people who edit records in the service, lost answers and kills. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import type { Summary } from '../../src/report/summary.ts';
import type { FaultPlan, Sandbox } from '../../src/sandbox/index.ts';
import { files } from '../e2e/harness.ts';
import { send } from '../sandbox/client.ts';
import { migrate } from './in-process.ts';
import { forgetLastAnswer, ingested, inScene, UNSTOPPED } from './scene.ts';

/** HISTORIES runs more of them, HISTORIES_SEED others. */
const RUNS = Number(process.env.HISTORIES ?? 10);
const SEED = Number(process.env.HISTORIES_SEED ?? 1);

const MAPPING = `version: 1
migration: edits
sources:
  leads: { path: leads.csv }
events:
  - type: lead/created
    source: leads
    if_contact_exists: ignore
    if_changed: update
    data: { external_id: id, full_name: full_name, email: email, custom_params: { city: city } }
`;

const STATE = '.backfill/edits';
const IDS = ['1', '2', '3'];
/** City is a custom field, which the service does not show. */
const FIELDS = ['full_name', 'email', 'city'] as const;
const EDITABLE = ['full_name', 'email'] as const;
type Field = (typeof FIELDS)[number];

interface Day {
  /** What changes in the export before the run: a field of a record gets its next version. */
  readonly changes: readonly (readonly [id: string, field: Field])[];
  /** What people edit after the run. */
  readonly edits: readonly (readonly [id: string, field: (typeof EDITABLE)[number]])[];
  readonly faults: FaultPlan['rules'];
  readonly requests: number | undefined;
  readonly kill: boolean;
}

const fault = fc
  .record({
    kind: fc.constantFrom('status', 'status_after', 'drop_before', 'drop_after'),
    probability: fc.constantFrom(0.2, 0.5),
  })
  .map(({ kind, probability }) => {
    // Later attempts succeed: an event that is rejected although it arrived is another matter.
    const when = { probability, delivery: { from: 1, to: 3 } };
    return (kind.startsWith('status') ? { kind, status: 503, when } : { kind, when }) as FaultPlan['rules'][number];
  });

const day: fc.Arbitrary<Day> = fc.record({
  changes: fc.array(fc.tuple(fc.constantFrom(...IDS), fc.constantFrom(...FIELDS)), { maxLength: 4 }),
  edits: fc.array(fc.tuple(fc.constantFrom(...IDS), fc.constantFrom(...EDITABLE)), { maxLength: 2 }),
  faults: fc.array(fault, { maxLength: 2 }),
  requests: fc.option(fc.integer({ min: 3, max: 8 }), { nil: undefined }),
  kill: fc.boolean(),
});

/** The export and the service as the history goes on. */
class Story {
  readonly versions = new Map<string, number>();
  /** The last value that somebody gave a field in the service, and what was there before the first edit. */
  readonly edited = new Map<string, { value: string; before: unknown }>();
  #edits = 0;

  value(id: string, field: Field): string {
    const version = this.versions.get(`${id} ${field}`) ?? 0;
    return field === 'email' ? `e${id}v${version}@example.test` : `${field}${id}v${version}`;
  }

  change(id: string, field: Field): void {
    const key = `${id} ${field}`;
    this.versions.set(key, (this.versions.get(key) ?? 0) + 1);
  }

  async write(cwd: string): Promise<void> {
    const rows = IDS.map((id) => [id, ...FIELDS.map((field) => this.value(id, field))].join(','));
    await files(cwd, { 'mapping.yaml': MAPPING, 'leads.csv': `id,${FIELDS.join(',')}\n${rows.join('\n')}\n` });
  }

  async edit(service: Sandbox, id: string, field: (typeof EDITABLE)[number]): Promise<void> {
    const before = shown(service, id);
    if (!before) return;
    this.#edits += 1;
    const value = field === 'email' ? `human${this.#edits}@example.test` : `Human ${this.#edits}`;
    const first = this.edited.get(`${id} ${field}`);
    this.edited.set(`${id} ${field}`, { value, before: first ? first.before : before[field] });
    const answer = await send(service, 'lead/updated', { external_id: id, [field]: value });
    expect(answer.status).toBe(200);
  }
}

function shown(service: Sandbox, id: string): Readonly<Record<Field, unknown>> | undefined {
  const lead = service.state().leads.find(({ externalId }) => externalId === id);
  return lead && { full_name: lead.fullName, email: lead.email, city: (lead.customParams as { city: unknown }).city };
}

/** No backoff. */
beforeEach(() => {
  const random = vi.spyOn(Math, 'random').mockReturnValue(0);
  onTestFinished(() => random.mockRestore());
});

it(`loses no edit of the service and no change of the export, and lists every conflict (seed ${SEED})`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(day, { minLength: 2, maxLength: 4 }), fc.nat(1000), async (days, seed) => {
      await inScene({}, async ({ service, cwd }) => {
        const story = new Story();
        const run = (options = {}) => migrate(service, join(cwd, 'mapping.yaml'), { ...UNSTOPPED, ...options });
        for (const [at, { changes, edits, faults, requests, kill }] of days.entries()) {
          for (const [id, field] of changes) story.change(id, field);
          await story.write(cwd);
          service.setFaults({ seed: seed + at, rules: faults });
          await run(requests === undefined ? {} : { maxRequests: String(requests) });
          if (kill) forgetLastAnswer(join(cwd, STATE));
          service.setFaults({ rules: [] });
          for (const [id, field] of edits) await story.edit(service, id, field);
        }
        let last: Summary | undefined;
        for (let count = 0, before = -1; ingested(service).length > before; count += 1) {
          expect(count).toBeLessThan(5);
          before = ingested(service).length;
          last = await run();
        }
        expect(last?.exit).toEqual({ code: 0, reason: 'done' });

        const listed = await readFile(join(cwd, STATE, 'changes.csv'), 'utf8');
        for (const id of IDS) {
          for (const field of FIELDS) {
            const edit = story.edited.get(`${id} ${field}`);
            const exported = story.value(id, field);
            expect(shown(service, id)![field]).toBe(edit?.value ?? exported);
            if (!edit || edit.before === exported) continue;
            const line = listed.split('\n').find((each) => new RegExp(`^lead,${id},[^,]+,${field},`).test(each));
            expect(line).toContain(`,${edit.value},${exported},"conflict, kept"`);
          }
        }
      });
    }),
    { numRuns: RUNS, seed: SEED, endOnFailure: true },
  );
});
