/** `--plan DIGEST`: sends exactly what was approved after a dry run, or nothing. */
import { UserError } from '../errors.ts';
import { shaWords } from '../identity.ts';
import type { Sendable } from '../model.ts';
import { PlanDigest } from './digest.ts';
import type { Plan } from './plan.ts';
import { readPlan } from './plan-file.ts';

/** Content hashes of events by type and external id; for comments without an id, by type and content. */
type Contents = Map<string, string[]>;

/**
 * Throws a `UserError` (exit 2) unless the plan's `digest` is the `approved` one. `stored`: paths of earlier plans. If the approved
 * one is among them, the message says how many events were added, removed or changed since.
 */
export async function assertApproved(
  plan: Plan,
  digest: string,
  approved: string,
  stored: readonly string[],
): Promise<void> {
  if (digest === approved) return;
  const before = await findPlan(stored, approved);
  throw new UserError(`the plan has the digest ${digest}, not ${approved}: ${differenceText(plan, before)}`, {
    hint: 'nothing was sent; check the new plan with --dry-run, then pass its digest',
  });
}

function differenceText(plan: Plan, before: Contents | undefined): string {
  if (!before) return 'no stored plan has that digest, so the difference is unknown';
  const after: Contents = new Map();
  for (const event of plan.events()) keep(after, event);
  let [added, removed, changed] = [0, 0, 0];
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    const gone = without(before.get(key) ?? [], after.get(key) ?? []);
    const come = without(after.get(key) ?? [], before.get(key) ?? []);
    changed += Math.min(gone, come);
    added += Math.max(0, come - gone);
    removed += Math.max(0, gone - come);
  }
  return `events added: ${added}, removed: ${removed}, changed: ${changed}`;
}

/** How many of `contents` are not among `others`, where each of `others` matches once. */
function without(contents: readonly string[], others: readonly string[]): number {
  const left = [...others];
  return contents.filter((sha) => {
    const at = left.indexOf(sha);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  }).length;
}

async function findPlan(paths: readonly string[], wanted: string): Promise<Contents | undefined> {
  for (const path of paths) {
    const contents: Contents = new Map();
    const digest = new PlanDigest();
    try {
      for await (const event of readPlan(path)) {
        if (event.isDerived) continue;
        digest.add(event.type, shaWords(event.sha));
        keep(contents, event);
      }
    } catch {
      // It does not exist, or another version of the program wrote it.
      continue;
    }
    if (digest.value() === wanted) return contents;
  }
  return undefined;
}

function keep(contents: Contents, { type, externalId, sha }: Sendable): void {
  const key = externalId === undefined ? `${type} ${sha}` : `${type} ${JSON.stringify(externalId)}`;
  contents.set(key, [...(contents.get(key) ?? []), sha]);
}
