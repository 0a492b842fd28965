import type { JsonValue } from '../json.ts';
import type { Fault } from './fault.ts';

/** Marks a text that several records match with different values. */
export const SEVERAL = Symbol('several');

export type LookedUp = JsonValue | Fault | typeof SEVERAL | undefined;

/** What a lookup gives for each text it matches. `undefined` among the values: the record is there and has no value. */
export class LookupValues extends Map<string, LookedUp> {}
