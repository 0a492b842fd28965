import { comment } from './comment.ts';
import { deal } from './deal.ts';
import type { Kind } from './kind.ts';
import { lead } from './lead.ts';

let kinds: readonly Kind[] = [lead, deal, comment];
let areRead = false;

/** All kinds, parents first: the order in which they are sent (service interface, section 4.2). */
export function allKinds(): readonly Kind[] {
  areRead = true;
  return kinds;
}

/**
 * Replaces the kinds, for a program or a test that knows another service. To be called before any other module is imported, since they
 * derive schemas, options and SQL from the kinds while they are loaded.
 */
export function useKinds(others: readonly Kind[]): void {
  if (areRead) throw new Error('the kinds were read already: call useKinds before anything else is imported');
  kinds = others;
}
