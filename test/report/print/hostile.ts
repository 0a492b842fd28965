/** A migration whose names, ids, codes and values try to break out of the page. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { EventType } from '../../../src/model.ts';
import type { Documents } from '../../../src/report/files/documents.ts';
import type { Summary } from '../../../src/report/figures/summary.ts';
import type { GivenAnswer, GivenEvent, GivenState } from '../../state.ts';

export const FIXTURES = fileURLToPath(new URL('../../../fixtures/pages/', import.meta.url));

const NAME = 'acme </style><script>document.title="owned"</script>';
const CODE = '<b>weird&code';
const CONTACTS = 'exports/contacts.csv';
const DEALS = 'exports/deals.csv';
const NOTES = 'exports/notes.json';
const RECORDS = { read: 260, mapped: 258, skipped: 1, unreadable: 1 };

const MAPPING = JSON.parse(readFileSync(`${FIXTURES}hostile.mapping.json`, 'utf8')) as Documents['mapping'];

function count<T>(times: number, make: (n: number) => T): T[] {
  return Array.from({ length: times }, (_, n) => make(n));
}

const REFUSED = { kind: 'send', code: CODE, message: '"SECRET-REPLY" is refused' };
const PARENT_FAILED = { kind: 'blocked', code: 'parent_failed', message: 'SECRET parent' };

const EVENTS: readonly GivenEvent[] = [
  {
    state: 'invalid',
    id: 'L1',
    at: `${CONTACTS}:2`,
    problem: {
      code: 'bad_date',
      field: 'occurred_at',
      message: '`SECRET-DATE` is not a date of the form `dd/MM/yyyy`',
      hint: 'near: `SECRET-HINT`',
    },
  },
  {
    state: 'invalid',
    id: 'L2<img src=x onerror=alert(1)>',
    at: `${CONTACTS}:3`,
    problem: {
      code: 'not_mapped',
      field: 'custom_params.</style>',
      message: '`SECRET </td></table><script>alert(1)</script>` is not in the map',
    },
  },
  {
    state: 'invalid',
    id: '\u202eL3\u2066',
    at: `exports/"onmouseover="alert(1).csv:4`,
    problem: { code: 'bad_date', field: 'occurred_at', message: '`SECRET \u202egnp.exe` is not a date' },
  },
  {
    state: 'acknowledged',
    id: 'L5',
    at: `${CONTACTS}:5`,
    omitted: [{ field: 'phone_number', original: 'SECRET-PHONE', code: 'bad_phone' }],
  },
  {
    state: 'acknowledged',
    id: 'L6',
    at: `${CONTACTS}:6`,
    omitted: [{ field: 'phone_number', original: 'SECRET, "two"', code: 'bad_phone' }],
  },
  {
    state: 'acknowledged',
    id: 'L7',
    at: `${CONTACTS}:7`,
    omitted: [{ field: 'email', original: 'SECRET-MAIL at home', code: 'invalid_email' }],
  },
  {
    state: 'duplicate',
    id: 'L8',
    at: `${CONTACTS}:8`,
  },
  { state: 'acknowledged', times: 117 },
  { state: 'duplicate', times: 2 },
  { type: 'deal/created', state: 'acknowledged', times: 47 },
  { type: 'deal/created', state: 'invalid', times: 5, problem: { code: 'bad_number', field: 'amount' } },
  ...count(3, (n): GivenEvent => {
    return { type: 'deal/created', state: 'rejected', id: `D${n + 50}`, at: `${DEALS}:${n + 50}`, problem: REFUSED };
  }),
  ...count(7, (n): GivenEvent => {
    const problem = { ...PARENT_FAILED, field: 'lead_external_id' };
    return {
      type: 'deal/created',
      state: 'blocked',
      id: `D${n}`,
      at: `${DEALS}:${n + 10}`,
      parent: ['lead', 'L1'],
      problem,
    };
  }),
  {
    type: 'deal/created',
    state: 'blocked',
    id: 'D30',
    at: `${DEALS}:30`,
    parent: ['lead', 'L`77'],
    problem: { kind: 'blocked', code: 'parent_missing', field: 'lead_external_id' },
  },
  { type: 'deal/created', state: 'held', times: 7, isChosen: false },
  { type: 'comment/created', state: 'acknowledged', times: 48 },
  { type: 'comment/created', state: 'rejected', times: 2, problem: REFUSED },
  ...count(12, (n): GivenEvent => {
    const problem = { ...PARENT_FAILED, field: 'deal_external_id' };
    return {
      type: 'comment/created',
      state: 'blocked',
      id: `N${n}`,
      at: `${NOTES}#${n + 40}`,
      parent: ['deal', `D${n % 3}`],
      problem,
    };
  }),
];

function answersAt(hour: string, from: number, each: number, types: readonly EventType[]): GivenAnswer[] {
  return types.map((type, n) => {
    const minute = String(from + Math.floor(n / each)).padStart(2, '0');
    const second = String((n % each) * 10).padStart(2, '0');
    const isRejected = type !== 'lead/created' && n % 20 === 4;
    const answer = { type, at: `${hour}:${minute}:${second}.000Z` };
    return isRejected ? { ...answer, status: 'rejected', code: CODE } : answer;
  });
}

export const HOSTILE: GivenState = {
  events: EVENTS,
  problems: [
    { kind: 'read', code: 'too_many_cells', message: 'the row has 11 cells: "SECRET-CELL"', at: `${CONTACTS}:99` },
    ...count(4, () => ({ code: 'extension_dropped', severity: 'warning' as const })),
    { code: '<i>odd', severity: 'warning' },
  ],
  survey: { migration: NAME, base_url: 'https://api.example.com', at: '2026-03-03T20:00:00.000Z' },
  summary: {
    migration: NAME,
    base_url: 'https://api.example.com',
    exit: { code: 1, reason: 'rejected' },
    started_at: '2026-03-03T20:00:00.000Z',
    finished_at: '2026-03-03T20:21:00.000Z',
    records: RECORDS,
    events: {
      ...{ total: 258, acknowledged: 215, duplicates: 3, invalid: 8, rejected: 5, blocked: 20, pending: 7 },
      ...{ gone: 0, changed: 0 },
    },
  },
  mapping: MAPPING,
  inputs: [
    {
      source: CONTACTS,
      label: CONTACTS,
      path: `/data/${CONTACTS}`,
      sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      rows: 126,
    },
    {
      source: '"><svg onload=alert(1)>.csv',
      label: '"><svg onload=alert(1)>.csv',
      path: '/data/"><svg onload=alert(1)>.csv',
      sha256: '60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752',
      rows: 70,
    },
  ],
  migration: { name: NAME, base_url: 'https://api.example.com', created_at: '2026-03-02T20:00:00.000Z' },
  runs: [
    {
      at: '2026-03-02T20:00:05.000Z',
      answers: answersAt(
        '2026-03-02T20',
        1,
        4,
        count(120, () => 'lead/created' as const),
      ),
    },
    {
      at: '2026-03-03T20:00:05.000Z',
      answers: answersAt('2026-03-03T20', 1, 5, [
        ...count(50, () => 'deal/created' as const),
        ...count(50, () => 'comment/created' as const),
      ]),
    },
  ],
};

/** The same with another summary. */
export function hostileWith(summary: Partial<Summary>): GivenState {
  return { ...HOSTILE, survey: { ...HOSTILE.survey, ...pick(summary) }, summary: { ...HOSTILE.summary, ...summary } };
}

function pick({ base_url: baseUrl }: Partial<Summary>): { base_url?: string | null } {
  return baseUrl === undefined ? {} : { base_url: baseUrl };
}
