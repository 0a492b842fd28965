/** Lists of names and values, `[{ name: Email, value: … }, …]`: their elements are values of the record around them. */
import { isObject, type JsonObject, type JsonValue } from '../../../json.ts';
import { textOf } from '../../../mapping/values/result.ts';
import type { Leaf, MainElement, Pair, Pairs, RawColumn, RawTable } from '../raw-table.ts';
import { meaningOf } from '../words.ts';

export const NAMES =
  /^(?:field_?)?(?:name|key|label|code|property|attribute|question|title|ref|type|_?id)$|^(?:id_?|custom_?)+field(?:_?id)?$/i;
/** Of an element that is a name and a value, and not a record with both. */
const MAX_MEMBERS = 8;
export const VALUES = /^(?:field_?)?(?:value|values|answer|text)$/i;
const EMAIL = /^\S+@\S+$/;
const PHONE = /^[+(\d][\d\s().\-/]{5,}$/;

/**
 * The elements of lists of names and values, `[{ name: Email, value: … }, …]`: one by one. `noted`: the names of a list.
 */
export function* pairsIn(
  lists: Iterable<readonly [path: string, list: readonly JsonValue[]]>,
  noted: (path: string) => Pairs,
): Generator<Leaf> {
  for (const [path, list] of lists) {
    const seen = new Set<string>();
    for (const [at, element] of list.entries()) {
      const pair = isObject(element) ? pairOf(element) : undefined;
      if (!pair) break;
      const { by, name, held } = pair;
      const names = noted(path);
      names.by ??= by;
      names.names.set(name, (names.names.get(name) ?? 0) + 1);
      const first = names.firsts.get(name) ?? (element as JsonObject);
      names.firsts.set(name, first);
      for (const [key, member] of Object.entries(element as JsonObject))
        if (key !== held[0] && !/(?:values?|answer|text)$/i.test(key) && !isObject(member) && member !== first[key])
          names.own.add(key);
      if (seen.has(name)) names.twice += 1;
      seen.add(name);
      const found = scalarIn(held[1], `${path}[${at}].${held[0]}`);
      if (!found) continue;
      if (EMAIL.test(found.text ?? '')) names.emails += 1;
      if (PHONE.test(found.text ?? '')) names.phones += 1;
      const place = found.name;
      const plain = place.replace(`${path}[${at}]`, path);
      yield { ...found, name: `${plain} (${name})`, label: name, place, pair: { list: path, path: plain } };
    }
  }
}

/** The name and the value of an element: its name may be one level deeper, and its value called after its type. */
function pairOf(element: JsonObject): { by: string; name: string; held: [string, JsonValue] } | undefined {
  const members = Object.entries(element) as [string, JsonValue][];
  const held =
    members.find(([key]) => key === element['type']) ??
    members
      .filter(([key]) => VALUES.test(key))
      .sort(([a, one], [b, other]) => Number(isEncoded(one)) - Number(isEncoded(other)) || b.length - a.length)[0];
  if (!held || members.length > MAX_MEMBERS) return undefined;
  const inner = members.flatMap(([key, member]) =>
    key === held[0] ? [] : namesIn(member).map((each) => ({ ...each, by: `${key}.${each.by}` })),
  );
  const [own] = [...namesIn(element).filter(({ by }) => by !== held[0]), ...inner].sort(byPlace);
  return own && { ...own, held };
}

/** Of monday.com: JSON in a text, `"{\"index\":2}"`, beside what people read. */
function isEncoded(value: JsonValue): boolean {
  return value === null || (typeof value === 'string' && /^(?:\{.*\}|\[.*\]|".*")$/s.test(value));
}

/** The names of an object, best first: a name before a code, and that before an id. */
function namesIn(holder: JsonValue): { by: string; name: string }[] {
  return Object.entries(isObject(holder) ? holder : {})
    .flatMap(([by, text]) =>
      NAMES.test(by) && (typeof text === 'string' || typeof text === 'number') ? [{ by, name: String(text) }] : [],
    )
    .sort(byPlace);
}

/** The text of a value, which may be a list or an object with the value itself. */
function scalarIn(value: JsonValue, name: string): Leaf | undefined {
  if (Array.isArray(value)) {
    const first = value.length > 0 ? scalarIn(value[0] as JsonValue, `${name}[0]`) : undefined;
    return first && { ...first, several: value.length > 1 };
  }
  if (!isObject(value)) return { name, text: textOf(value) };
  // `{ number: 12 }`
  const [only, ...others] = Object.keys(value);
  const by =
    value['value'] !== undefined ? 'value' : (namesIn(value)[0]?.by ?? (others.length === 0 ? only : undefined));
  return by === undefined ? undefined : scalarIn(value[by]!, `${name}.${by}`);
}

const NAME_KEYS = ['name', 'label', 'question', 'title', 'key', 'ref', 'type'] as const;

function byPlace(a: { readonly by: string }, b: { readonly by: string }): number {
  const placeOf = ({ by }: { readonly by: string }): number => {
    const at = NAME_KEYS.findIndex((each) => by.toLowerCase().endsWith(each));
    return at >= 0 ? at : NAME_KEYS.length + (by.toLowerCase().endsWith('field') ? 0 : 1);
  };
  return placeOf(a) - placeOf(b);
}

/** Where the values of a name are, in a list of names and values: at a place of their own, alone at their path, or beside their name. */
export function placeOf(
  { at: own, label, places, pair: { list, path } }: RawColumn & { readonly pair: Pair },
  { columns }: RawTable,
  { pairs: { by } }: RawTable,
): { readonly name: string; readonly list: string | undefined; readonly main?: MainElement } {
  const [first, ...more] = places;
  const others = [...columns.values()].filter((each) => each.at !== own && each.pair?.path === path);
  if (more.length === 0 && !others.some((each) => each.places.has(first!))) return { name: first!, list: undefined };
  if (others.length === 0) return { name: path, list };
  const at = [...places].map((place) => Number(/\[(\d+)\]/.exec(place.slice(list.length))![1]));
  const main = { flag: by!, value: label!, later: 1, most: at.length, places: at.sort((a, b) => a - b) };
  return { name: `${path} (${label!})`, list, main };
}

/**
 * Whether the elements of a list are values of the record around them: each has a name, once in a record, that others have, too, and
 * what else it has is that of all elements of the name, but for ids and times.
 */
export function isAttributes({ rows, pairs: { names, twice, emails, phones, by, own } }: RawTable): boolean {
  const found = [...names.values()].reduce((sum, n) => sum + n, 0);
  const differing = [...own].filter((key) => {
    const { concepts } = meaningOf(key);
    return (
      !concepts.has('id') && (by === 'type' || !(ABOUT.test(key) || concepts.has('date') || concepts.has('created')))
    );
  });
  return (
    found > rows.length * 0.9 &&
    names.size > 1 &&
    found >= names.size * 2 &&
    twice < found * 0.05 &&
    Math.max(emails, phones) < found &&
    differing.length < 2
  );
}

/** What stands beside a value and says something about it alone. */
export const ABOUT =
  /^(?:timestamp|versions|source(?:_?id|_?label)?|type|kind|label|primary|is_?(?:primary|default|main)|enum_?(?:code|id)|request_?id|updated_?by_?user_?id|verified|location|selected)$/i;
