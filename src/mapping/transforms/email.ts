/** What people and programs write around an e-mail address. Pure. */

/** Characters that nobody sees: they come with copied text, and no address has them (RFC 5321, section 4.1.2). */
const INVISIBLE = /[\p{Cf}\u034f\u115f\u1160\u3164\ufe00-\ufe0f]/gu;
/** `Ada Lovelace <ada@example.test>`; the name may have anything but another address. */
const NAMED = /^[^<>@]*<([^<>]*)>$/;
const QUOTES = /^(["'])(.*)\1$/s;
const SCHEME = /^mailto:/i;
/** The separator of a list of which only one address is left, or the end of a sentence. */
const ENDS = /^[\s,;]+|[\s,;.]+$/g;

/**
 * The address alone: without angle brackets and the name before them, `mailto:`, quotes, invisible characters, and a separator before
 * or after it. Two addresses stay two, so that they are no valid address.
 */
export function bareAddress(text: string): string {
  let bare = text.replace(INVISIBLE, '').replace(ENDS, '');
  for (let before = ''; before !== bare;) {
    before = bare;
    bare = bare.replace(NAMED, '$1').replace(QUOTES, '$2').replace(ENDS, '');
    if (SCHEME.test(bare)) bare = bare.replace(SCHEME, '').replace(/\?.*$/s, '');
  }
  return bare;
}
