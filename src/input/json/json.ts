import type { Hash } from 'node:crypto';
import type { InputFile } from '../files.ts';
import { withKey } from '../../json.ts';
import type { FileEnd, TreeFile, TreeRecord } from '../format.ts';
import { formatPath, parsePath, type RecordsPath } from './path.ts';
import { mistakeWithin, parseRecord } from './record.ts';
import { RecordScanner } from './scanner.ts';
import type { SourceSpec } from '../source.ts';
import { openText, readText, type TextFile } from '../text/text.ts';

/** Opens a JSON file that contains an array of records, an object of them, or one record. Throws a `UserError` if it does not. */
export async function openJson(input: InputFile, spec: SourceSpec): Promise<TreeFile> {
  const path = parsePath(spec.records);
  const { file, encoding, notices } = await openText(input, spec);
  const form = await findRecords(file, path).catch((error: unknown) => error as Error);
  if (form instanceof Error) {
    // An export of a CRM that may have other forms may also be a plain list, saved without the object around it.
    const plain =
      spec.optional && path.mayBeKeyed ? await openJson(input, { ...spec, records: '' }).catch(() => form) : form;
    if (plain instanceof Error) throw plain;
    return plain;
  }
  const at = formatPath(path.steps);
  const isPlain = path.steps.length === 0 && form === 'array';
  const what = path.isOne ? `one record at \`${at}\`` : isPlain ? 'JSON array' : `JSON ${form} at \`${at}\``;
  return { kind: 'tree', file, traits: [what, encoding], notices, read: (hash) => readJson(file, path, hash) };
}

async function findRecords(file: TextFile, path: RecordsPath): Promise<'array' | 'object'> {
  const scanner = new RecordScanner(file.label, path, () => undefined);
  for await (const chunk of readText(file)) {
    scanner.scan(chunk);
    if (scanner.found) return scanner.found;
  }
  scanner.finish();
  return scanner.found!;
}

async function* readJson(
  file: TextFile,
  path: RecordsPath,
  hash: Hash,
): AsyncGenerator<readonly TreeRecord[], FileEnd, undefined> {
  const signs = new PageSigns();
  const scanner = new RecordScanner(file.label, path, (name, value) => signs.take(name, value));
  for await (const chunk of readText(file, hash)) {
    yield scanner.scan(chunk).map((element): TreeRecord => {
      const { text, line, key } = element;
      const parsed = parseRecord(text, element);
      if ('syntax' in parsed) throw mistakeWithin(file.label, element, parsed.at, parsed.syntax);
      if ('issue' in parsed) return { line, issue: parsed.issue, raw: parsed.raw };
      if (key !== undefined) return { line, raw: withKey(key, parsed.value) };
      // Of a record over several lines, the plan has a text of its own.
      return { line, raw: parsed.value, ...(/[\r\n]/.test(text) ? {} : { text }) };
    });
  }
  scanner.finish();
  const within = `${formatPath(path.steps)}.`;
  const others = scanner.arrays.filter((array) => !within.startsWith(`${array}.`));
  return { more: signs.more, total: signs.total, others };
}

/** Keys without case and separators: `@odata.nextLink` and `next_link` end in `nextlink`. */
const NEXT =
  /^next(?:page|records|results|batch)?(?:link|url|uri|href|token|cursor|marker|offset|start|key|id)?$|^continuation(?:token)?$/;
const MORE =
  /^(?:has|is)?more(?:records|items|results|pages|data|available|toload|itemsincollection)?$|^hasnext(?:page)?$/;
const DONE = /^(?:done|islast(?:page)?|last|complete|isdone|isfinished|lastpagereached|exhausted)$/;
const PAGE = /^(?:page|currentpage|pagenumber|pageno|pageindex|number)$/;
const PAGES = /^(?:pages|totalpages|pagestotal|pagecount|lastpage|numpages|numberofpages)$/;
const TOTAL =
  /^(?:total|totalcount|totalsize|totalrecords|totalresults|totalitems|totalelements|totalhits|count|recordcount|recordstotal|numfound)$/;

/** Collects the values around the records. They tell whether a document is one page of an API response that announces more pages. */
class PageSigns {
  #more = false;
  /** The largest number of records that the document names; 0 if it names none. */
  total = 0;
  readonly #pages = new Map<string, { page?: number; pages?: number }>();

  /** `path`: to a value outside of any array. Objects are `{}`. */
  take(path: string, value: unknown): void {
    if (typeof value === 'object') return;
    const steps = path.split('.').map((step) => step.toLowerCase().replace(/[^a-z\d]/g, ''));
    const key = steps.at(-1)!;
    const isFilled = value !== false && value !== '' && value !== 0;
    if (MORE.test(key)) this.#more ||= value === true;
    else if (DONE.test(key)) this.#more ||= value === false;
    else if (steps.some((step) => NEXT.test(step))) this.#more ||= isFilled;
    else if (typeof value === 'number' && Number.isInteger(value))
      this.#number(steps.slice(0, -1).join('.'), key, value);
  }

  #number(parent: string, key: string, value: number): void {
    const found = this.#pages.get(parent) ?? {};
    this.#pages.set(parent, found);
    // Where a page is only a `number`, the first one is 0.
    if (PAGE.test(key)) found.page = value + Number(key === 'number' || key === 'pageindex');
    else if (PAGES.test(key)) found.pages = value;
    else if (TOTAL.test(key)) this.total = Math.max(this.total, value);
  }

  get more(): boolean {
    return (
      this.#more ||
      [...this.#pages.values()].some(({ page, pages }) => page !== undefined && pages !== undefined && page < pages)
    );
  }
}
