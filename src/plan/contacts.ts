/** `if_contact_exists`: what the survey does about people who are in the account already. */
import { CHECKPOINT_FILE } from '../checkpoint/lines.ts';
import { CONTACT_FIELDS } from '../compare/contacts.ts';
import { MATCHES_FILE, writeMatches, type ContactMatches, type Match } from '../compare/matches.ts';
import type { ErrorReport } from '../report/error-report.ts';
import type { Client } from '../service/client.ts';
import type { StateDir } from '../state-dir.ts';
import type { Plan } from './plan.ts';
import { reportIssue } from './verdicts.ts';

const LEAD = 'lead/created';

/**
 * Before `Plan.link`: lists the matches in `matches.csv`; leads whose entry says `reject` become invalid unless they were
 * acknowledged earlier, the others are a warning. `shouldReject`: by the index of the entry.
 */
export async function judgeContacts(job: {
  readonly matches: ContactMatches;
  readonly plan: Plan;
  readonly report: ErrorReport;
  readonly state: StateDir;
  readonly output: StateDir;
  readonly shouldReject: (entry: number) => boolean;
  readonly service: { readonly client: Client; readonly leads: number; readonly concurrency: number } | undefined;
}): Promise<void> {
  const { plan, report } = job;
  const table = plan.tables[LEAD];
  const isCurrent = (ordinal: number): boolean => table.isOpen(ordinal) || table.state(ordinal) === 'acknowledged';
  const matches = await job.matches.resolve(job.state.file(CHECKPOINT_FILE), isCurrent);
  await writeMatches(job.output.file(MATCHES_FILE), matches, job.service);
  for (const match of matches) {
    const { ordinal, place } = match;
    const message = matchText(match);
    const event = plan.read(LEAD, ordinal);
    if (!table.isOpen(ordinal) || !job.shouldReject(event.entry)) {
      report.warning({ severity: 'warning', kind: 'map', code: 'contact_in_account', message }, place);
      continue;
    }
    const hint = 'see matches.csv; `if_contact_exists: report` sends such leads all the same';
    table.setState(ordinal, 'invalid');
    await reportIssue(plan, report, event, ordinal, {
      severity: 'error',
      kind: 'map',
      code: 'contact_exists',
      message,
      hint,
    });
    plan.withdraw(LEAD, ordinal);
  }
}

const NOUNS = { email: 'e-mail address', phone_number: 'phone number' } as const;

function matchText({ externalId, found }: Match): string {
  const fields = CONTACT_FIELDS.filter((field) => [...found.values()].some((matched) => matched.includes(field)));
  const [first, ...others] = found.keys();
  const what = fields.map((field) => NOUNS[field]).join(' and ');
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return `the account already has a lead with the ${what} of \`${externalId}\`: ${first}${more}`;
}
