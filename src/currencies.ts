/** The currency codes of ISO 4217, past ones included: deals of many years are in the money of their time. */
import { createRequire } from 'node:module';
import type * as currencyCodes from 'currency-codes';

/**
 * What `currency-codes` lacks, as it has list one of 2024-06-25 only. XAD and XCG were added after that. The others are those of
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

let codes: ReadonlySet<string> | undefined;

/** Whether a code is in ISO 4217, now or in the past. The list is loaded only when it is needed. */
export function isCurrency(code: string): boolean {
  if (codes === undefined) {
    const library = createRequire(import.meta.url)('currency-codes') as typeof currencyCodes;
    codes = new Set([...library.codes(), ...MORE.split(' ')]);
  }
  return codes.has(code);
}

/**
 * Signs of currencies, with their code: of a sign that several share, that of the one that is by far the most common; undefined where
 * none is.
 */
export const CURRENCY_SIGNS: Readonly<Record<string, string | undefined>> = {
  $: 'USD',
  US$: 'USD',
  R$: 'BRL',
  A$: 'AUD',
  AU$: 'AUD',
  C$: 'CAD',
  CA$: 'CAD',
  NZ$: 'NZD',
  HK$: 'HKD',
  S$: 'SGD',
  '€': 'EUR',
  '£': 'GBP',
  '¥': 'JPY',
  '₽': 'RUB',
  '₹': 'INR',
  '₺': 'TRY',
  '₴': 'UAH',
  '₩': 'KRW',
  zł: 'PLN',
  Kč: 'CZK',
  Ft: 'HUF',
  kr: undefined,
  lei: 'RON',
  лв: 'BGN',
  руб: 'RUB',
  р: 'RUB',
  грн: 'UAH',
  тг: 'KZT',
  din: 'RSD',
  ден: 'MKD',
};
