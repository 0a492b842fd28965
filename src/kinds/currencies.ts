/** The currency codes of ISO 4217, past ones included: deals of many years are in the money of their time. */
import { createRequire } from 'node:module';
import type * as currencyCodes from 'currency-codes';

/**
 * Codes that `currency-codes` lacks, because it has only list one of 2024-06-25. XAD and XCG were added after that. The others are those of
 * ISO 4217, list three, "Codes for historic denominations of currencies & funds"
 * (https://www.six-group.com/en/products-services/financial-information/market-reference-data/data-standards.html).
 */
const MORE =
  'XAD XCG ' +
  'ADP AFA ALK AOK AON AOR ARA ARP ARY ATS AYM AZM BAD BEC BEF BEL BGJ BGK BGL BOP BRB BRC BRE BRN BRR BUK BYB BYR CHC ' +
  'CSD CSJ CSK CUC CYP DDM DEM ECS ECV EEK ESA ESB ESP FIM FRF GEK GHC GHP GNE GNS GQE GRD GWE GWP HRD HRK IEP ILP ILR ' +
  'ISJ ITL LAJ LSM LTL LTT LUC LUF LUL LVL LVR MGF MLF MRO MTL MTP MVQ MXP MZE MZM NIC NLG PEH PEI PES PLZ PTE RHD ROK ' +
  'ROL RUR SDD SDP SIT SKK SLL SRG STD SUR TJR TMM TPE TRL UAK UGS UGW USS UYN UYP VEB VEF VNC XEU XFO XFU XRE YDD YUD ' +
  'YUM YUN ZAL ZMK ZRN ZRZ ZWC ZWD ZWL ZWN ZWR';

interface Currencies {
  readonly codes: ReadonlySet<string>;
  /** By their names in ISO 4217, in lower case. */
  readonly byName: ReadonlyMap<string, string>;
}

let loaded: Currencies | undefined;

/** The list is loaded only when it is needed. */
function currencies(): Currencies {
  if (loaded === undefined) {
    const library = createRequire(import.meta.url)('currency-codes') as typeof currencyCodes;
    const byName = new Map(library.data.map(({ currency, code }) => [currency.toLowerCase(), code]));
    loaded = { codes: new Set([...library.codes(), ...MORE.split(' ')]), byName };
  }
  return loaded;
}

/** Whether a code is in ISO 4217, now or in the past. */
export function isCurrency(code: string): boolean {
  return currencies().codes.has(code);
}

/** The code of a currency by its name in ISO 4217: `Pound Sterling`. */
export function currencyNamed(name: string): string | undefined {
  return currencies().byName.get(name.toLowerCase());
}

/** Currencies that share a sign; the first is by far the most common, unless it is `?`. */
const SIGNS: Readonly<Record<string, string>> = {
  $:
    'USD ARS AUD BBD BMD BND BSD BZD CAD CLP COP CUP DOP FJD GYD HKD JMD KYD LRD MXN NAD NIO NZD SBD SGD SRD TTD TWD UYU XCD ' +
    'ZWL ECS ESC MXP',
  US$: 'USD',
  R$: 'BRL BRR BRE BRN BRC BRB',
  A$: 'AUD',
  AU$: 'AUD',
  C$: 'CAD NIO',
  CA$: 'CAD',
  NZ$: 'NZD',
  HK$: 'HKD',
  NT$: 'TWD',
  S$: 'SGD',
  '€': 'EUR',
  '£': 'GBP EGP FKP GIP IEP LBP SDG SHP SSP SYP CYP MTL ITL TRL',
  '₤': '? ITL TRL GBP',
  '¥': 'JPY CNY',
  // What `¥` becomes where Shift-JIS is read.
  '\\': 'JPY',
  円: 'JPY',
  元: 'CNY TWD',
  원: 'KRW KPW',
  '￥': 'JPY CNY',
  '₽': 'RUB RUR',
  '₹': 'INR',
  '₺': 'TRY TRL',
  '₴': 'UAH',
  '₩': 'KRW KPW',
  '₪': 'ILS ILR',
  '₱': 'PHP CUP',
  '฿': 'THB',
  '₫': 'VND',
  đ: 'VND',
  vnđ: 'VND',
  '₦': 'NGN',
  '₡': 'CRC SVC',
  '₲': 'PYG',
  '₵': 'GHS GHC',
  '₸': 'KZT',
  '₼': 'AZN',
  '₾': 'GEL',
  '₮': 'MNT',
  '₭': 'LAK',
  '₨': '? INR LKR MUR NPR PKR SCR',
  '﷼': '? IRR OMR QAR SAR YER',
  zł: 'PLN PLZ',
  Kč: 'CZK CSK',
  zl: 'PLN PLZ',
  rp: 'IDR',
  Ft: 'HUF',
  kr: '? DKK ISK NOK SEK EEK',
  lei: 'RON ROL MDL',
  лв: 'BGN BGL BGJ KGS UZS',
  руб: 'RUB RUR BYN BYR BYB',
  р: 'RUB RUR BYN BYR BYB',
  грн: 'UAH',
  tl: 'TRY TRL',
  rs: '? INR LKR MUR NPR PKR SCR',
  тг: 'KZT',
  din: '? RSD CSD YUM DZD TND IQD JOD KWD BHD LYD',
  дин: 'RSD CSD YUM',
  ден: 'MKD',
};

/** Signs of currencies that are words, in lower case: `kr`, `zł`. */
export const SIGN_WORDS: ReadonlySet<string> = new Set(
  Object.keys(SIGNS).flatMap((sign) => (/[\p{Sc}\\]/u.test(sign) ? [] : sign.toLowerCase())),
);
const BY_SIGN: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(SIGNS).map(([sign, codes]) => [sign.toLowerCase(), codes.split(' ')]),
);

/** A sign with the letters before it (`US$`), or a word. */
const MARK = /\p{L}{0,3}\p{Sc}|\\|\p{L}+/gu;

/** The signs (`€`, `R$`, `kr`) and ISO codes in a text, as they are written there. */
export function currencyMarks(text: string): readonly string[] {
  if (/^[\d\s.,'-]*$/.test(text)) return [];
  return (text.match(MARK) ?? []).filter((mark) => codesOf(mark) !== undefined);
}

/**
 * As in a header: `Value, ₽`, `Kwota (zł)`, `Amount (USD)`, `amountEUR`; in a name of capitals, three letters are a word, and a sign
 * that may be another word is at the end or in brackets: `Tilbud kr.`, `Pret (lei)`. The `$` of `total.$numberDecimal` is none.
 */
export function currencyMarksInName(name: string): readonly string[] {
  const words = name.replace(/\.\$(?=\p{L})/gu, '.').replace(/(?<=[\p{Ll}_])(?=\p{Lu})/gu, ' ');
  return currencyMarks(words).filter(
    (mark) =>
      /\p{Sc}|[^\0-\x7f]/u.test(mark) ||
      (/^[A-Z]{3}$/.test(mark) && /\p{Ll}/u.test(name)) ||
      (SIGN_WORDS.has(mark.toLowerCase()) && new RegExp(`.[ ([,]${mark}\\.?[)\\]]?$`, 'u').test(name)),
  );
}

/** The code that a sign or code most probably means; undefined where none is sure. */
export function likelyCurrency(mark: string): string | undefined {
  const [likely] = codesOf(mark) ?? [];
  return likely === '?' ? undefined : likely;
}

/** Whether a sign or code cannot mean a currency: `$` can be that of CAD, `€` cannot. */
export function contradicts(mark: string, currency: string): boolean {
  return codesOf(mark)?.includes(currency) === false;
}

function codesOf(mark: string): readonly string[] | undefined {
  const known = BY_SIGN.get(mark.toLowerCase());
  if (known) return known;
  const [, letters, sign] = /^(\p{L}+)(\p{Sc})?$/u.exec(mark) ?? [];
  if (letters !== undefined && isCurrency(letters)) return [letters];
  // `MX$`: the letters are not known, the sign is.
  return sign === undefined ? undefined : BY_SIGN.get(sign);
}
