/** Columns that tables of this program have together, and no export has. `test/input/own-tables` compares them with what a run writes. */
const SIGNATURES: readonly (readonly string[])[] = [
  ['_file', '_line', '_error', '_row'],
  ['old_name', 'new_name', 'choices'],
  ['event_type', 'event_id', 'http_status', 'attempts'],
  ['external_id', 'field', 'original', 'reason'],
  ['source', 'file', 'line', 'record', 'reason'],
  ['external_id', 'service_id'],
  ['new: occurred_at'],
];
/** Of rejects in JSON. */
const ROW = /"_+row": ?"r[\da-f]{20}"/;

/** Whether a text begins as a table, or a file of rejects, that this program wrote; a spreadsheet may have saved it since. */
export function isOwnTable(head: string): boolean {
  const [line = ''] = head.replace(/^\ufeff/, '').split(/[\r\n]/, 1);
  if (line.startsWith('{')) return ROW.test(line);
  const names = new Set(
    line.split(/[,;\t]/).map((cell) =>
      cell
        .trim()
        .replace(/^"(.*)"$/, '$1')
        .replace(/^__+/, '_'),
    ),
  );
  return SIGNATURES.some((signature) => signature.every((name) => names.has(name)));
}
