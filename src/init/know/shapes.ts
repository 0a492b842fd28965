/** What a value can look like, the same for every language, as patterns: the share of the values of a column that do is a fact of it. */
import type { FactName } from './roles.ts';

/** In a text with a label or a name: `Ada Bell <ada@x.example>`. */
export const ADDRESS = '[^\\s<>()",;:|]+@[^\\s<>()",;:|]+';

export const PATTERNS = {
  email: /^[^\s@]{1,200}@[^\s@,;<>|]+\.[^\s@<>]+$|^.{0,100}[\s<(:;,][^\s<>()",;:|]+@[^\s<>()",;:|]+\.[^\s]+$/s,
  /** With 6 to 16 digits, perhaps several numbers. */
  phone:
    /^(?=(?:\D*\d){6,16}\D*$)(?:\+|00)?[\d\s().\-/\u00a0]{6,22}(?:\s*(?:x|ext\.?)\s*\d{1,6})?$|^(?:[+(]?(?:\d[ ().-]*){9,15}(?:[,;/|\n] *|$)){2,}$/i,
  international: /^\(?(?:\+|00)[\d\s().\-/\u00a0]{7,22}(?:$|[,;|\n]|\s*(?:x|ext\.?)\s*\d)/i,
  decimal: /[.,]\d{1,2}\D*$|[.,]\d{4,}$/,
  whole: /^-?\d+$/,
  digits: /^\d{1,7}$/,
  percent: /^\d{1,3}(?:[.,]\d+)?\s?%$/,
  hundred: /^(?:100|\d{1,2})(?:[.,]\d+)?\s?%?$/,
  padded: /^0\d/,
  zero: /^\D*0+(?:[.,]0+)?\D*$/,
  round: /^\D*\d*0(?:[.,]0+)?\D*$/,
  url: /^(?:https?:\/\/|www\.)\S+$|^[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|co|example|de|eu|fr|it|es|ru|pl|nl|se|br)(?:\/\S*)?$/i,
  file: /^(?:image|video|audio|text|application)\/[\w.+-]+$|^[^@]*\.(?:jpe?g|png|gif|webp|svg|heic|pdf|docx?|xlsx?|pptx?|csv|txt|zip|eml|mp[34]|m4a|wav|mov)(?:\?\S*)?$/i,
  uuid: /^\{?[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\}?$/i,
  /** `2-Develop` is a step; `customers/NtY1lLNKMKqrFtwJ` is the path of a record. */
  code: /^(?!\d{1,2}[-.)]\p{L}{3})(?=.*\d)(?=.*[a-z])[\w.:@-]{2,60}$|^[\w-]{15,60}$|^(?:[\w().-]+\/)+[\w-]{8,60}$/iu,
  hash: /^[\da-f]{32,64}$/i,
  flag: /^(?:0|1|true|false|yes|no|y|n|t|f|ja|nein|oui|non|si|sí|sim|não|да|нет|tak|nie|nee|nej|nei|igen|nem|ano|ne)$/i,
  html: /<(?:p|br|div|b|ul|strong|span|body)\b[^>]*>/i,
  words: /\p{L}{2}|^\p{L}\.?$|[\p{Script=Han}\p{Script=Hangul}]/u,
  /** The first and last name of a person, or one of them. */
  person:
    /^\p{Lu}[\p{L}'’.-]*,?(?: (?:\p{Lu}|d[aeiou]s?\b|v[ao]n|ten|ter|el|le|la)[\p{L}'’.-]*){1,4}$|^[\p{Script=Han}\p{Script=Hangul}]{2,4}$|^[\p{Script=Arabic}\p{Script=Hebrew}]{2,}(?: [\p{Script=Arabic}\p{Script=Hebrew}]{2,}){1,3}$|^[\p{Script=Katakana}\p{Script=Han}]{1,4}[ 　][\p{Script=Katakana}\p{Script=Han}]{1,4}$/u,
  oneName: /^\p{Lu}[\p{L}'’-]+(?:[ -]\p{Lu}[\p{L}'’-]+)?$|^[\p{Script=Han}\p{Script=Hangul}]{1,3}$/u,
  /** Several words, as in a sentence, perhaps behind its date, or fewer that end like one and not like the name of a firm. */
  prose:
    /^(?:\d[\d./: -]*[-–:] )?(?=.{25,})\S+(?:\s+\p{L}\S*){4,}|^(?:\S+\s+){2,}[\p{Ll}-]{4,}[.!?…]$|[\p{Script=Han}\p{Script=Katakana}\p{Script=Hiragana}]{9,}|\n/su,
  spaced: /\S\s+\S|[\p{Script=Han}\p{Script=Hangul}]{4,}/u,
  /** Truncated by a spreadsheet: `3.93E+11`. */
  damaged: /^[+-]?\d(?:[.,]\d+)?E[+-]\d\d$/,
} as const satisfies Partial<Record<FactName, RegExp>>;

/** Letters beside the digits must be a currency: `POT7` and `OPP00012` are no amounts. */
export const NUMBER =
  /^[-+(]?\s*(?:\p{L}{0,4}[\p{Sc}\\]?\.?)\s*-?\d[\d.,'\u00a0\u202f ]*(?:(?<=[.,])[-–—]{1,2})?\s*(?:\p{L}{0,4}\p{Sc}?\.?)\)?$/u;

export const MONEY_MARK = /^(?:[A-Za-z]{3}|\p{Sc}|[A-Z]{1,2}\$|\p{L}{2,3}\.?)$/u;
