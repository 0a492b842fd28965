/** The figures of `report.html`: what a customer reads, signs and keeps. `report --json` prints them. */
import { namesById } from '../../service/account.ts';
import { KINDS } from '../../kinds/index.ts';
import { parseJson, type JsonObject } from '../../json.ts';
import { countRecords } from '../../plan/counts.ts';
import { SANDBOX } from '../../settings/credentials.ts';
import { readDocument, readVerification, type StoredMapping, type StoredVerification } from '../files/documents.ts';
import { counted, countTexts, numberText, ofText } from '../words/numbers.ts';
import { capital, fieldText, NOT_MIGRATED, NOT_UNDONE } from '../words/terms.ts';
import { dateText } from '../words/times.ts';
import { countsSection, prioritiesSection } from './counts.ts';
import { signedSections } from './deal-table.ts';
import { namedValues, valuesSection } from './explanation.ts';
import { digestsSection, exportsSection, mappingSections, notUsedSection, readExports } from './exports.ts';
import { column, present, sectionOf, type Figures, type Headline, type Mood, type Section } from './figures.ts';
import { appendixSections, assumedSection, missingSection, notInExportSection, skippedSection } from './missing.ts';
import type { PlanFigures } from './plan-figures.ts';
import type { Status } from './status.ts';
import type { Summary } from './summary.ts';
import { moodOf } from './verdict.ts';
import { comparedSection, verificationTexts } from './verification.ts';

interface Tile {
  readonly count: number;
  readonly what: string;
  readonly parts: readonly string[];
  readonly mood: Mood | undefined;
}

/** As `report --json` prints it. */
export interface PageFigures extends Figures {
  readonly migration: string | null;
  readonly dry_run: boolean;
  /** The digest of the plan that it is about; null until its run has ended. */
  readonly plan: string | null;
  /** `Dry run report`, and what the migration is called. */
  readonly kind: string;
  readonly title: string;
  /** Repeated on every printed page, so that nobody mistakes it for the result of the migration. */
  readonly banner: string | null;
  readonly facts: readonly (readonly [name: string, value: string])[];
  /** Arrived, to fix, not migrated by design. */
  readonly tiles: readonly Tile[];
  /** What is signed; null where nothing is finished or planned. */
  readonly sign: string | null;
  /** How each entry of the mapping reads the exports. */
  readonly mapping: readonly Section[];
  /** For those who put right what is wrong. */
  readonly appendix: readonly Section[];
}

/** A page about the plan, as its run left it. */
export interface PageSubject {
  readonly plan: PlanFigures;
  readonly status: Status;
  /** Undefined until the run has ended. */
  readonly summary: Summary | undefined;
  readonly isDryRun: boolean;
  /** With messages and values of records. */
  readonly withValues: boolean;
  readonly now: Date;
}

export function pageFigures(page: PageSubject): PageFigures {
  const { plan, status, summary, isDryRun, withValues, now } = page;
  const { db, causes } = plan;
  const mapping = readDocument(db, 'mapping');
  const inputs = readDocument(db, 'inputs') ?? [];
  const isRehearsal = status.base_url === SANDBOX;
  const digest = summary?.plan.digest ?? null;
  const sent = isDryRun ? 'nothing was sent' : 'nothing was sent to the real service';
  return {
    ...{ migration: status.migration, dry_run: isDryRun, plan: digest },
    kind: isDryRun ? 'Dry run report' : isRehearsal ? 'Rehearsal report' : 'Migration report',
    title: mapping?.title ?? status.migration ?? 'unknown',
    banner: isRehearsal ? `Rehearsal in the sandbox: ${sent}` : isDryRun ? `Dry run: ${sent}` : null,
    facts: factsOf(page, mapping),
    verdict: verdictOf(page),
    tiles: tilesOf(page),
    sections: present([
      exportsSection(readExports(db, inputs), isDryRun),
      ...signedSections(plan.deals, isDryRun),
      ...(withValues ? exampleSections(plan) : []),
      missingSection(causes, status.events.pending, isDryRun, plan.names),
      skippedSection(plan.skipped),
      ...(mapping ? [notInExportSection(mapping), isDryRun ? assumedSection(mapping) : undefined] : []),
      isDryRun ? undefined : verificationSection(readVerification(db), digest),
      sectionOf({
        id: 'not-carried',
        title: 'What cannot be migrated',
        columns: [column('text', 'what'), column('text', 'why')],
        rows: NOT_MIGRATED,
      }),
      sectionOf({
        id: 'not-undone',
        title: 'What cannot be undone',
        notes: NOT_UNDONE.map((each) => `${capital(each)}.`),
      }),
      mapping && notUsedSection(mapping),
    ]),
    mapping: mapping ? mappingSections(mapping) : [],
    appendix: present([
      { ...countsSection(plan.states), id: 'outcome', title: 'Outcome by type' },
      prioritiesSection(status.priorities, now),
      ...appendixSections(causes, withValues),
      digestsSection(inputs),
    ]),
    sign: signText(page, digest, isRehearsal),
  };
}

function factsOf({ status, summary, isDryRun }: PageSubject, mapping: StoredMapping | undefined): PageFigures['facts'] {
  const { migration, base_url: baseUrl, begun_at: begun, last_run: last } = status;
  const zone = { timeZone: mapping?.timezone ?? 'UTC', timeZoneName: 'short' } as const;
  const began = (isDryRun ? undefined : begun) ?? last?.started_at;
  const fact = (name: string, value: string | null | undefined): [string, string][] => (value ? [[name, value]] : []);
  return [
    ...fact('Customer', mapping?.customer),
    ...fact('Migration', mapping?.title && migration),
    ...fact(
      'New CRM',
      baseUrl === SANDBOX ? 'the sandbox, a local stand-in' : (baseUrl ?? 'none: the account was not read'),
    ),
    ...fact('Began', began && dateText(new Date(began), zone)),
    ...fact('Ended', last && dateText(new Date(last.finished_at), zone)),
    ...fact('Plan', summary?.plan.digest),
  ];
}

/** A migration that was stopped, or is under way, is not signed; nor is a pilot. */
function signText(
  { status, summary, isDryRun }: PageSubject,
  digest: string | null,
  isRehearsal: boolean,
): string | null {
  const isEnded = status.running?.command !== 'run' && summary !== undefined && moodOf(summary) !== 'failed';
  if (!isEnded || (!isDryRun && status.events.pending > 0)) return null;
  const plan = digest === null ? 'the plan of this page' : `plan ${digest}`;
  // Against the real account it is another plan.
  if (isRehearsal)
    return `This was a ${isDryRun ? 'dry run' : 'rehearsal'} of ${plan}: nothing was sent to the real service. I have checked this page, and the migration may be carried out like this.`;
  return isDryRun
    ? `Nothing was sent. I have checked this page, and ${plan} may be sent.`
    : `I have checked this page, and accept what was sent of ${plan}.`;
}

/** The first record of each kind as it will arrive, or has: names beside ids. */
function exampleSections({ db }: PlanFigures): readonly Section[] {
  const names = namesById(readDocument(db, 'account'));
  return KINDS.flatMap(({ name, words: [one] }) => {
    const event = db.get<{ id: string | null; data: string }>(
      `select external_id as id, data from event
       where entity = ? and data is not null and state not in ('invalid', 'duplicate', 'blocked') order by id limit 1`,
      name,
    );
    if (!event) return [];
    const values = namedValues(parseJson(event.data) as JsonObject, names).map(
      ([field, value]) => [capital(fieldText(field)), value] as const,
    );
    return [valuesSection(`example-${name}`, `For example: ${one} ${event.id ?? ''}`, values)];
  });
}

/** What can arrive, and of that, what cannot be sent or was refused: without duplicates, with rows that could not be read. */
function countsOf({ plan, status: { events } }: PageSubject): { readonly all: number; readonly mend: number } {
  const { unreadable } = countRecords(plan.db);
  const mend = events.invalid + events.rejected + events.blocked + unreadable;
  return { all: events.total - events.duplicates + unreadable, mend };
}

/** In one sentence, without words of the program. */
function verdictOf(page: PageSubject): Headline {
  const { status, summary, isDryRun } = page;
  const { running, basis, waits_for: wait, events } = status;
  const { all, mend } = countsOf(page);
  const verdict = (text: string, mood: Mood): Headline => ({ word: '', text, mood, details: [] });
  if (running?.command === 'run') {
    const far = `${numberText(events.acknowledged)} of ${counted(all, 'record')} arrived so far`;
    const sending = `${wait ? 'Held up for the moment' : 'Sending'}: ${far}.`;
    const reading = 'The exports are being read; the counts are from the previous run.';
    return verdict(basis === 'under way' ? sending : reading, wait ? 'partly' : 'done');
  }
  if (!summary) {
    const lost = basis === 'under way' ? '' : ' Its plan is missing, so only events with an answer are counted.';
    return verdict(`Not finished: the last run ended unexpectedly.${lost}`, 'partly');
  }
  const mood = moodOf(summary);
  if (all === 0) return verdict('The exports have no records.', mood);
  const good = isDryRun ? events.pending + events.acknowledged : events.acknowledged;
  const share = good === all ? `all ${counted(all, 'record')}` : `${numberText(good)} of ${counted(all, 'record')}`;
  const before = events.acknowledged > 0 ? ', or were sent before' : '';
  const texts = [
    isDryRun ? `${share} ${good === 1 ? 'is' : 'are'} ready to send${before}` : `${share} arrived`,
    ...countTexts(
      [mend, isDryRun ? `${mend === 1 ? 'is' : 'are'} not` : 'did not'],
      [isDryRun ? 0 : events.pending, 'not sent yet'],
      [summary.events.changed, 'changed in the export since they were sent'],
    ),
  ];
  const stopped = mood === 'failed' ? 'Stopped before the end. ' : '';
  return verdict(`${stopped}${isDryRun ? 'Nothing was sent. ' : ''}${capital(texts.join('; '))}.`, mood);
}

function tilesOf(page: PageSubject): Tile[] {
  const { plan, status, isDryRun } = page;
  const { events } = status;
  const { skipped, unreadable } = countRecords(plan.db);
  const { all, mend } = countsOf(page);
  const before = countTexts([events.acknowledged, 'sent before']);
  const arrived = [
    ...(all === 0 ? [] : [`${ofText(events.acknowledged, all)} records`]),
    ...countTexts([events.pending, 'not sent yet']),
  ];
  const toFix = countTexts(
    [events.invalid, 'with a value that cannot be sent'],
    [events.rejected, 'refused by the service'],
    [events.blocked, 'waiting for one of these'],
    [unreadable, 'unreadable'],
  );
  const left = countTexts(
    [skipped, 'skipped by the mapping'],
    [events.duplicates, events.duplicates === 1 ? 'duplicate' : 'duplicates'],
  );
  return [
    isDryRun
      ? { count: events.pending, what: 'ready to send', parts: before, mood: undefined }
      : { count: events.acknowledged, what: 'arrived', parts: arrived, mood: 'done' },
    { count: mend, what: 'to fix', parts: toFix, mood: mend > 0 ? 'failed' : undefined },
    { count: skipped + events.duplicates, what: 'not migrated by design', parts: left, mood: undefined },
  ];
}

/** `digest`: of the plan that the page is about. */
function verificationSection(found: StoredVerification | undefined, digest: string | null): Section {
  if (!found) {
    const notes = ['Not verified yet: the records have not been read back and compared.'];
    return sectionOf({ id: 'verified', title: 'Compared with the service', notes });
  }
  const isOther = digest !== null && found.plan.digest !== null && digest !== found.plan.digest;
  const again = isOther ? [`This page is about another plan (${digest}): verify again.`] : [];
  return { ...comparedSection(found), notes: [...verificationTexts(found), ...again] };
}
