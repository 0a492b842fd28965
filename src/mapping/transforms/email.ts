/** What people and programs write around an e-mail address. Pure. */

/** Invisible characters: they come with copied text, and no address has them (RFC 5321, section 4.1.2). */
const INVISIBLE = /[\p{Cf}\u034f\u115f\u1160\u3164\ufe00-\ufe0f]/gu;
/** Nothing is around it. */
const BARE = /^[\w.%+-]+@[\w-]+(?:\.[\w-]+)+$/;
/** `Ada Lovelace <ada@example.test>`; the name may have anything but another address. */
const NAMED = /^[^<>@]*<([^<>]*)>$/;
const QUOTES = /^(["'])(.*)\1$/s;
const SCHEME = /^mailto:/i;
/** The separators of a list of which only one address is left, and the end of a sentence. */
const BEFORE = /[\s,;]/;
const AFTER = /[\s,;.]/;
/** More layers than any real address has; each costs another pass over the whole text. */
const MOST_LAYERS = 16;

/**
 * The address alone: without angle brackets and the name before them, `mailto:`, quotes, invisible characters, and a separator before
 * or after it. Two addresses stay two, so that they are no valid address.
 */
export function bareAddress(text: string): string {
  if (BARE.test(text)) return text;
  let bare = withoutEnds(text.replace(INVISIBLE, ''));
  for (let layer = 0; layer < MOST_LAYERS; layer += 1) {
    const before = bare;
    bare = withoutEnds(bare.replace(NAMED, '$1').replace(QUOTES, '$2'));
    if (SCHEME.test(bare)) bare = bare.replace(SCHEME, '').replace(/\?.*$/s, '');
    if (before === bare) break;
  }
  return bare;
}

/** A regular expression would look at a run of blanks within the text once for each of them. */
function withoutEnds(text: string): string {
  let [from, to] = [0, text.length];
  while (from < to && BEFORE.test(text[from]!)) from += 1;
  while (to > from && AFTER.test(text[to - 1]!)) to -= 1;
  return text.slice(from, to);
}
