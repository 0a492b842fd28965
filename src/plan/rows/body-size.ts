import { LIMITS } from '../../contract.ts';
import type { EventType } from '../../model.ts';
import type { Problem } from '../../problem.ts';
import { numberText } from '../../report/words/numbers.ts';
import { issueOf } from '../../report/words/words.ts';
import { envelope } from '../../service/envelope.ts';

/** What the envelope around the data says, but for its id. */
interface Enveloped {
  readonly type: EventType;
  readonly occurred_at?: string | null | undefined;
}

const UUID = '00000000-0000-4000-8000-000000000000';

function bytesOf(content: string, { type, occurred_at: at }: Enveloped): number {
  return Buffer.byteLength(envelope({ content, occurredAt: at ?? undefined }, UUID, type));
}

/** The issue of an event that is larger than the service accepts. `content`: the canonical JSON of its data. */
export function oversized(content: string, event: Enveloped): readonly Problem[] {
  // A UTF-16 unit has at most three bytes in UTF-8: the bytes of most events need not be counted.
  if (content.length * 4 <= LIMITS.bodyBytes) return [];
  const bytes = bytesOf(content, event);
  if (bytes <= LIMITS.bodyBytes) return [];
  return [issueOf('body_too_large', numberText(bytes), numberText(LIMITS.bodyBytes))];
}

/** The bytes that a body with this data has left. */
export function roomIn(content: string, event: Enveloped): number {
  return LIMITS.bodyBytes - bytesOf(content, event);
}
