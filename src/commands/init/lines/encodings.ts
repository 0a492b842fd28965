/** In which code page files are read that are not UTF-8: nearly any bytes are valid in each, so the user is asked. */
import { MIXED, WESTERN } from '../../../input/text/encoding.ts';
import { openExports, type Export, type ExportOptions } from '../open-export.ts';
import { countryIn } from './region.ts';
import type { Table } from '../columns.ts';
import { nameOf } from '../fate-texts.ts';
import type { AnswerChoice, Answers } from './answers.ts';

/** The exports, read again where another code page is answered or proposed. `load`: their tables as they were read first. */
export async function askEncodings(
  exports: readonly Export[],
  load: () => readonly Table[],
  options: ExportOptions,
  answers: Answers,
): Promise<readonly Export[]> {
  const isAssumed = ({ settings: { encoding } }: Export): boolean => encoding !== undefined && encoding !== MIXED;
  if (options.encoding !== undefined || !exports.some(isAssumed)) return exports;
  const tables = load();
  const country = countryIn(tables.flatMap(({ columns }) => columns));
  const page = country === undefined ? undefined : PAGE_OF.get(country);
  const { default: iconv } = await import('iconv-lite');
  const read = new Map<string, readonly Export[]>();
  for (const each of exports) {
    const { path, settings } = each;
    if (read.has(path)) continue;
    const own = exports.filter((other) => other.path === path);
    read.set(path, own);
    if (!isAssumed(each)) continue;
    const assumed = settings.encoding!;
    const proposed = assumed === WESTERN && page !== undefined ? page : assumed;
    const of = tables.filter(({ from }) => own.includes(from));
    const isTold = (word: string): boolean => iconv.decode(iconv.encode(word, assumed), OTHER) !== word;
    const examples = wordsIn(of, isTold).map((word) => iconv.encode(word, assumed));
    const readAs = (name: string): string => examples.map((bytes) => iconv.decode(bytes, name)).join(' | ');
    const mistake = (text: string): string | undefined =>
      iconv.encodingExists(text) ? undefined : 'the name of an encoding, such as windows-1250';
    // Nobody can choose between two that read the same.
    const pages = [proposed, assumed, WESTERN, OTHER].map((name) => ({ name, words: readAs(name) }));
    const told = pages.filter(({ words }, at) => pages.findIndex((other) => other.words === words) === at);
    const choices: AnswerChoice<string>[] = [
      ...told.map(({ name, words }) => ({ value: name, label: `${name}: ${words}`, then: () => name })),
      { value: proposed, label: 'other: type it', mistake, then: (text: string) => text },
    ];
    const text = `${nameOf(of[0]!)}\nIt is not UTF-8. In which encoding do these read right?`;
    const answer = await answers.to({ name: `${of[0]!.source}.encoding`, text, choices, proposal: 0 });
    if (answer === undefined && proposed === assumed) continue;
    const why = `not valid UTF-8, so ${proposed} is assumed, because the country is ${country}`;
    const again = await openExports(path, { ...options, encoding: answer ?? proposed });
    read.set(path, answer === undefined ? again.map((one) => ({ ...one, reasons: [why, ...one.reasons] })) : again);
  }
  return [...read.values()].flat();
}

const EXAMPLES = 3;
/** The code page that is most often taken for the western one. */
const OTHER = 'windows-1250';

/** The first words with letters that are not ASCII; before them those that code pages read differently. */
function wordsIn(tables: readonly Table[], isTold: (word: string) => boolean): string[] {
  const values = tables.flatMap(({ columns }) => columns.flatMap((column) => column.values));
  const words = values.flatMap((value) => value.split(/[\s"'()[\],;:.!?]+/));
  const distinct = [...new Set(words.filter((word) => /[^\0-\x7f]/.test(word)).map((word) => word.slice(0, 24)))];
  return [...distinct.filter(isTold), ...distinct.filter((word) => !isTold(word))].slice(0, EXAMPLES);
}

/** The code pages of Windows by country, where they are not the western one. */
const PAGE_OF = new Map(
  Object.entries({
    'windows-1250': 'PL CZ SK HU SI HR BA RO AL',
    'windows-1251': 'RU UA BY BG MK KZ KG',
    'windows-1253': 'GR CY',
    'windows-1254': 'TR AZ',
    'windows-1255': 'IL',
    'windows-1256': 'SA AE EG JO KW LB MA DZ TN QA BH OM IQ IR',
    'windows-1257': 'EE LV LT',
    'windows-1258': 'VN',
  }).flatMap(([page, countries]) => countries.split(' ').map((country) => [country, page] as const)),
);
