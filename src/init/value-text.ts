import { Document, visit, type ToStringOptions } from 'yaml';

/** A value of the mapping on one line, quoted where YAML needs it. */
export function flow(value: unknown): string {
  return toYaml(value, { collectionStyle: 'flow' }).replace(/\[ /g, '[').replace(/ \]/g, ']');
}

/** A column's name as a key of custom fields: `Closed Lost Reason` becomes `closed_lost_reason`. */
export function keyOf(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/\[\d+\]/g, '')
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/g, '');
  return plain === '' ? 'field' : plain;
}

/** For comparing headers: case, accents, punctuation and repeated spaces do not count. */
export function foldHeader(name: string): string {
  return keyOf(name).replaceAll('_', ' ');
}

/** A value of the mapping over several lines. */
export function block(value: unknown): string {
  return toYaml(value, {});
}

/** Texts with line breaks go on one line with escapes: block scalars do not mix with flow. */
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
