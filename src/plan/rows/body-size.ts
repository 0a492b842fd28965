import type { Issue } from '../../model.ts';
import { numberText } from '../../report/words/numbers.ts';
import { LIMITS } from '../../contract.ts';
import { issueOf } from '../../report/words/words.ts';

/** Size of the envelope around the data: id, type, time and flag (service interface, section 2.3). */
const ENVELOPE_BYTES = 512;

/** The issue of an event that is larger than the service accepts. `content`: the canonical JSON of its data. */
export function oversized(content: string): readonly Issue[] {
  // A UTF-16 unit has at most three bytes in UTF-8: the bytes of most events need not be counted.
  if (content.length * 3 + ENVELOPE_BYTES <= LIMITS.bodyBytes) return [];
  const bytes = Buffer.byteLength(content) + ENVELOPE_BYTES;
  if (bytes <= LIMITS.bodyBytes) return [];
  return [issueOf('body_too_large', numberText(bytes), numberText(LIMITS.bodyBytes))];
}

/** The bytes that a body with this data has left. */
export function roomIn(content: string): number {
  return LIMITS.bodyBytes - ENVELOPE_BYTES - Buffer.byteLength(content);
}
