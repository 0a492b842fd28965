/**
 * A kind of record that this program does not have: companies, to which leads belong. It is defined here alone, as a newcomer would
 * define it, and given to the built program before anything else of it is loaded.
 */
import { createRequire } from 'node:module';
import { z } from 'zod';
import type * as all from '../../src/kinds/all.ts';
import type * as comments from '../../src/kinds/comment.ts';
import type * as deals from '../../src/kinds/deal.ts';
import type * as kinds from '../../src/kinds/kind.ts';
import type * as leads from '../../src/kinds/lead.ts';

const load = <Module>(name: string): Module => createRequire(import.meta.url)(`../../dist/kinds/${name}.js`) as Module;

const { defineKind, ownId, parentId, text, CUSTOM } = load<typeof kinds>('kind');
const { lead } = load<typeof leads>('lead');
const { deal } = load<typeof deals>('deal');
const { comment } = load<typeof comments>('comment');

export const company = defineKind({
  name: 'company',
  words: ['company', 'companies'],
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
    company_external_id: parentId('company', 'companyId'),
  },
});

load<typeof all>('all').useKinds([company, leadOfCompany, deal, comment]);
