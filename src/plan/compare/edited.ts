import type { Fields } from '../../service/list-page.ts';

/** How long after creating a record the service may still update it itself. */
const SETTLING_MS = 5_000;
/** Maximum difference between the clocks of this machine and the service. */
const CLOCKS_APART_MS = 60_000;

/** When we wrote a record. */
export interface LastWrite {
  /** When its last write was settled, in milliseconds since 1970. */
  readonly at: number;
  /** It was written only once, by its created event: the service's createdAt is the time of our write. */
  readonly onlyCreated: boolean;
}

/** Whether the service says that a record was updated after our last write. An edit soon after it is not noticed. */
export function wasEdited(record: Fields, written: LastWrite): boolean {
  const updated = timeOf(record.updatedAt);
  const created = timeOf(record.createdAt);
  if (written.onlyCreated && !Number.isNaN(created)) return updated - created > SETTLING_MS;
  return updated - written.at > CLOCKS_APART_MS;
}

function timeOf(value: unknown): number {
  return typeof value === 'string' ? Date.parse(value) : Number.NaN;
}
