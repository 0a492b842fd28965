import type { Format } from './format.ts';

const TEXT = { encoding: 'name' } as const;

/** The formats of exports. Their readers are loaded only when there is such an export. */
export const FORMATS: readonly Format[] = [
  {
    name: 'csv',
    extensions: ['csv', 'tsv', 'tab', 'txt'],
    settings: {
      ...TEXT,
      delimiter: 'character',
      escape: 'character',
      quote: 'none',
      header_line: 'count',
      columns: 'names',
    },
    open: async (file, spec) => (await import('./csv/csv.ts')).openCsv(file, spec),
  },
  {
    name: 'json',
    extensions: ['json'],
    settings: { ...TEXT, records: 'name' },
    open: async (file, spec) => (await import('./json/json.ts')).openJson(file, spec),
  },
  {
    name: 'ndjson',
    extensions: ['ndjson', 'jsonl'],
    settings: TEXT,
    open: async (file, spec) => (await import('./json/ndjson.ts')).openNdjson(file, spec),
  },
  {
    name: 'xlsx',
    extensions: ['xlsx', 'xlsm'],
    settings: { sheet: 'name', header_line: 'count', columns: 'names' },
    isIn: (head) => head.toString('latin1', 0, 4) === 'PK\x03\x04' && head.includes('xl/'),
    open: async (file, spec) => (await import('./workbook/workbook.ts')).openWorkbook(file, spec),
  },
];
