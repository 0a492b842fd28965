/**
 * A kind of record that this program does not have: companies, to which leads belong. It is defined here alone, as a newcomer would
 * define it, and given to a copy of the built program before anything else of it is loaded: other tests share the modules of `dist`.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import { z } from 'zod';
import type * as all from '../../src/kinds/all.ts';
import type * as comments from '../../src/kinds/comment.ts';
import type * as deals from '../../src/kinds/deal.ts';
import type * as kinds from '../../src/kinds/kind.ts';
import type * as leads from '../../src/kinds/lead.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Where the packages of the program are found. */
const CACHE = join(ROOT, 'node_modules/.cache');
mkdirSync(CACHE, { recursive: true });
const COPY = mkdtempSync(join(CACHE, 'fourth-kind-'));
afterAll(() => rmSync(COPY, { recursive: true, force: true }));
for (const name of ['dist', 'package.json']) cpSync(join(ROOT, name), join(COPY, name), { recursive: true });

/** The program that knows companies. */
export const DIST_WITH_COMPANIES = join(COPY, 'dist/');

const load = <Module>(name: string): Module =>
  createRequire(import.meta.url)(`${DIST_WITH_COMPANIES}kinds/${name}.js`) as Module;

const { defineKind, ownId, parentId, text, CUSTOM } = load<typeof kinds>('kind');
const { lead } = load<typeof leads>('lead');
const { deal } = load<typeof deals>('deal');
const { comment } = load<typeof comments>('comment');

export const company = defineKind({
  name: 'company',
  words: ['company', 'companies'],
  namedBy: 'legal_name',
  acknowledgedAs: 'Company',
  isUpdatable: true,
  route: '/companies',
  fields: {
    external_id: ownId('company'),
    legal_name: {
      schema: text.max(20).optional(),
      doc: 'name in the register',
      words: 'registered name',
      shownAs: 'legalName',
    },
    employees: { schema: z.number().optional(), doc: 'how many work there', form: 'number', shownAs: 'employees' },
    company_fields: CUSTOM,
  },
});

const leadOfCompany = defineKind({
  ...lead,
  fields: {
    ...Object.fromEntries(lead.fields.map((field) => [field.name, field])),
    company_external_id: parentId('company', { shownAs: 'companyId' }),
  },
});

load<typeof all>('all').useKinds([company, leadOfCompany, deal, comment]);
