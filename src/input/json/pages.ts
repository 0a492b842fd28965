/** Whether a JSON document is one page of an API response that announces more pages. The keys around the records tell. */

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

/** Collects the values around the records. */
export class PageSigns {
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
