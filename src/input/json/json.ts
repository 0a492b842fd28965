import type { Hash } from 'node:crypto';
import { UserError } from '../../errors.ts';
import type { InputFile } from '../files.ts';
import { withKey } from '../../json.ts';
import type { FileEnd, TreeFile, TreeRecord } from '../format.ts';
import { formatPath, parsePath } from './path.ts';
import { errorWithin, JsonError, parseRecord } from './record.ts';
import { ElementScanner } from './scanner.ts';
import { SettingError, type SourceSpec } from '../source.ts';
import { openText, readText, type TextFile } from '../text/text.ts';

/** Opens a JSON file that contains an array of records, an object of them, or one record. Throws a `UserError` if it does not. */
export async function openJson(input: InputFile, spec: SourceSpec): Promise<TreeFile> {
  const { steps: path, isOne } = parsePath(spec.records);
  const { file, encoding, notices } = await openText(input, spec);
  // Without a setting, an object at the top level has the array somewhere.
  const mayBeKeyed = spec.records !== undefined && spec.records !== '' && !isOne;
  const scan = (onValue: (path: string, value: unknown) => void) =>
    new ElementScanner({ path, isOne, mayBeKeyed }, onValue);
  const form = await findRecords(
    file,
    scan(() => undefined),
  ).catch((error: unknown) => error as Error);
  if (form instanceof Error) {
    // An export of a CRM that may have other forms may also be a plain list, saved without the object around it.
    const plain =
      spec.optional && mayBeKeyed ? await openJson(input, { ...spec, records: '' }).catch(() => form) : form;
    if (plain instanceof Error) throw plain;
    return plain;
  }
  const what = isOne
    ? `one record at \`${formatPath(path)}\``
    : path.length > 0 || form === 'object'
      ? `JSON ${form} at \`${formatPath(path)}\``
      : 'JSON array';
  const within = `${formatPath(path)}.`;
  const isRead = (array: string): boolean => within.startsWith(`${array}.`);
  return { kind: 'tree', file, traits: [what, encoding], notices, read: (hash) => readJson(file, scan, isRead, hash) };
}

async function findRecords(file: TextFile, scanner: ElementScanner): Promise<'array' | 'object'> {
  try {
    for await (const chunk of readText(file)) {
      scanner.scan(chunk);
      if (scanner.found) return scanner.found;
    }
    scanner.finish();
    return scanner.found!;
  } catch (error) {
    throw located(file, error);
  }
}

async function* readJson(
  file: TextFile,
  scan: (onValue: (path: string, value: unknown) => void) => ElementScanner,
  isRead: (array: string) => boolean,
  hash: Hash,
): AsyncGenerator<readonly TreeRecord[], FileEnd, undefined> {
  const signs = new PageSigns();
  const scanner = scan((name, value) => signs.take(name, value));
  try {
    for await (const chunk of readText(file, hash)) {
      yield scanner.scan(chunk).map((element): TreeRecord => {
        const { text, line, column, key } = element;
        const parsed = parseRecord(text, element);
        if ('syntax' in parsed) throw errorWithin(text, parsed.at, parsed.syntax, line, column);
        if ('issue' in parsed) return { line, issue: parsed.issue, raw: parsed.raw };
        if (key !== undefined) return { line, raw: withKey(key, parsed.value) };
        // Of a record over several lines, the plan has a text of its own.
        return { line, raw: parsed.value, ...(/[\r\n]/.test(text) ? {} : { text }) };
      });
    }
    scanner.finish();
  } catch (error) {
    throw located(file, error);
  }
  return { more: signs.more, total: signs.total, others: scanner.arrays.filter((array) => !isRead(array)) };
}

function located(file: TextFile, error: unknown): unknown {
  if (!(error instanceof JsonError)) return error;
  const { line, column, hint, arrays } = error;
  const message = `${file.label}:${line}:${column}: ${error.message}`;
  if (arrays.length > 0) return new SettingError('records', message, { hint: hint!, choices: arrays, cause: error });
  return new UserError(message, { ...(hint === undefined ? {} : { hint }), cause: error });
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
