/** The figures of `report.html`: what a customer reads, signs and keeps. `report --json` prints them. */
import { readDocument, readVerification, type StoredVerification } from '../files/documents.ts';
import { counted, numberText, countTexts, percentText } from '../words/numbers.ts';
import { capital } from '../words/terms.ts';
import { exportsSection, readExports } from './exports.ts';
import { present, sectionOf, type Section, type Figures, type Headline, type Mood } from './figures.ts';
import { appendixSections, assumedSection, missingSection, notInExportSection, skippedSection } from './missing.ts';
import type { PlanFigures } from './plan-figures.ts';
import { readStates, type Status } from './read-status.ts';
import type { Summary } from './summary.ts';
import { countsSection, prioritiesSection } from './counts.ts';
import { signedSections } from './deal-table.ts';
import { moodOf } from './verdict.ts';
import { comparedSection, verificationTexts } from './verification.ts';

interface PageFound {
  readonly plan: PlanFigures;
  readonly status: Status;
  /** Undefined until the run has ended. */
  readonly summary: Summary | undefined;
  readonly isDryRun: boolean;
  readonly withValues: boolean;
  readonly now: Date;
}

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
  /** Arrived, to fix, not migrated by design. */
  readonly tiles: readonly Tile[];
}

export function pageFigures(found: PageFound): PageFigures {
  const { plan, status, summary, isDryRun, withValues, now } = found;
  const { db, causes } = plan;
  const mapping = readDocument(db, 'mapping');
  const digest = summary?.plan.digest ?? null;
  return {
    ...{ migration: status.migration, dry_run: isDryRun, plan: digest },
    verdict: verdictOf(found),
    tiles: tilesOf(found),
    sections: present([
      exportsSection(readExports(db, readDocument(db, 'inputs') ?? []), isDryRun),
      ...signedSections(plan.deals, isDryRun),
      missingSection(causes, status.events.pending, isDryRun),
      skippedSection(plan.skipped),
      ...(mapping ? [notInExportSection(mapping), isDryRun ? assumedSection(mapping) : undefined] : []),
      isDryRun ? undefined : verificationSection(readVerification(db), digest),
      { ...countsSection(readStates(db)), id: 'outcome', title: 'Outcome by type' },
      prioritiesSection(status.priorities, now),
      ...appendixSections(causes, withValues),
    ]),
  };
}

/** What can arrive: every record but duplicates, and rows that could not be read. */
function wantedOf({ status: { events }, summary }: PageFound): number {
  return events.total - events.duplicates + (summary?.records.unreadable ?? 0);
}

function toMend({ status: { events }, summary }: PageFound): number {
  return events.invalid + events.rejected + events.blocked + (summary?.records.unreadable ?? 0);
}

/** In one sentence, without words of the program. */
function verdictOf(found: PageFound): Headline {
  const { status, summary, isDryRun } = found;
  const { running, basis, waits_for: wait, events } = status;
  const verdict = (text: string, mood: Mood): Headline => ({ word: '', text, mood, details: [] });
  if (running) {
    const far = `${numberText(events.acknowledged)} of ${counted(wantedOf(found), 'record')} arrived so far`;
    const sending = `${wait ? 'Held up for the moment' : 'Sending'}: ${far}.`;
    const reading = 'The exports are being read; the counts are from the previous run.';
    return verdict(basis === 'under way' ? sending : reading, wait ? 'partly' : 'done');
  }
  if (!summary) return verdict('Not finished', 'partly');
  const mood = moodOf(summary);
  const [all, mend] = [wantedOf(found), toMend(found)];
  const good = isDryRun ? events.pending + events.acknowledged : events.acknowledged;
  const share = good === all ? `all ${counted(all, 'record')}` : `${numberText(good)} of ${counted(all, 'record')}`;
  const before = events.acknowledged > 0 ? ', or were sent before' : '';
  const { changed } = summary.events;
  const texts = [
    isDryRun ? `${share} ${good === 1 ? 'is' : 'are'} ready to send${before}` : `${share} arrived`,
    ...countTexts(
      [mend, mend === 1 ? 'has to be fixed' : 'have to be fixed'],
      [isDryRun ? 0 : events.pending, 'not sent yet'],
      [changed, 'changed in the export since they were sent'],
    ),
  ];
  if (all === 0) return verdict('The exports have no records.', mood);
  const stopped = mood === 'failed' ? 'Stopped before the end. ' : '';
  return verdict(`${stopped}${isDryRun ? 'Nothing was sent. ' : ''}${capital(texts.join('; '))}.`, mood);
}

function tilesOf(found: PageFound): Tile[] {
  const { summary, isDryRun } = found;
  const { events } = found.status;
  const { skipped = 0, unreadable = 0 } = summary?.records ?? {};
  const [all, mend] = [wantedOf(found), toMend(found)];
  const arrived: Tile = isDryRun
    ? {
        count: events.pending,
        what: 'ready to send',
        parts: countTexts([events.acknowledged, 'sent before']),
        mood: undefined,
      }
    : {
        count: events.acknowledged,
        what: 'arrived',
        parts: [
          ...(all === 0 ? [] : [`${percentText(events.acknowledged, all)} of ${counted(all, 'record')}`]),
          ...countTexts([events.pending, 'not sent yet']),
        ],
        mood: 'done',
      };
  return [
    arrived,
    {
      count: mend,
      what: 'to fix',
      parts: countTexts(
        [events.invalid, 'with a value that cannot be sent'],
        [events.rejected, 'refused by the service'],
        [events.blocked, 'waiting for one of these'],
        [unreadable, 'unreadable'],
      ),
      mood: mend > 0 ? 'failed' : undefined,
    },
    {
      count: skipped + events.duplicates,
      what: 'not migrated by design',
      parts: countTexts(
        [skipped, 'skipped by the mapping'],
        [events.duplicates, events.duplicates === 1 ? 'duplicate' : 'duplicates'],
      ),
      mood: undefined,
    },
  ];
}

/** `digest`: of the plan that the page is about. */
function verificationSection(found: StoredVerification | undefined, digest: string | null): Section {
  if (!found) {
    const notes = ['Not verified yet: the records have not been read back and compared.'];
    return sectionOf({ id: 'verified', title: 'Compared with the service', notes });
  }
  const { plan } = found;
  const isOther = digest !== null && plan.digest !== null && digest !== plan.digest;
  return {
    ...comparedSection(found),
    notes: [
      ...verificationTexts(found),
      ...(isOther ? [`This page is about another plan (${digest}): verify again.`] : []),
    ],
  };
}
