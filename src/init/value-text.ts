import { Document, visit, type ToStringOptions } from 'yaml';

/** A value of the mapping on one line, quoted where YAML needs it. */
export function flow(value: unknown): string {
  return toYaml(value, { collectionStyle: 'flow' }).replace(/\[ /g, '[').replace(/ \]/g, ']');
}

/** A column's name as a key of custom fields: `Closed Lost Reason` and `ClosedLostReason` become `closed_lost_reason`. */
export function keyOf(name: string): string {
  return plainKey(name.replace(/([\p{Ll}\d])(\p{Lu})|(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1$3 $2$4'));
}

function plainKey(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/\[\d+\]/g, '')
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/g, '');
  return plain === '' ? 'field' : plain;
}

/** A header as words in lower case, without accents and punctuation. HubSpot's tables have `property_firstname`. */
export function foldHeader(name: string): string {
  return keyOf(name)
    .replaceAll('_', ' ')
    .replace(/^propert(?:y|ies) (?:hs )?(?=.)/, '');
}

/** A header normalised for comparison of spellings: `FirstName` is another column than `First Name`. */
export function foldSpelling(name: string): string {
  return plainKey(name).replaceAll('_', ' ');
}

/** A value of the mapping over several lines. */
export function block(value: unknown): string {
  return toYaml(value, {});
}

/** Quotes texts with line breaks on one line, because block scalars are not allowed in flow collections. */
function toYaml(value: unknown, options: ToStringOptions): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value === 'string' && node.value.includes('\n')) node.type = 'QUOTE_DOUBLE';
    },
  });
  const oneLine = { lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER };
  return document.toString({ ...oneLine, singleQuote: true, ...options }).trimEnd();
}
