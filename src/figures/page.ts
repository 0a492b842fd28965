/** The figures of `report.html`: what a customer reads, signs and keeps. `report --json` prints them. */
import type { Finding } from '../report/findings.ts';
import type { SkippedRows } from '../report/skipped.ts';
import type { StoredSummary } from '../report/summary.ts';
import type { StoredVerification } from '../report/verification.ts';
import { counted, numberText, percentText } from '../terminal/numbers.ts';
import type { ErrorCause } from './causes.ts';
import { exportsSection, type ExportFate } from './exports.ts';
import { present, sectionOf, type Section, type Figures, type Headline, type Mood } from './figures.ts';
import { missingSection, skippedSection } from './missing.ts';
import type { Status } from './read-status.ts';
import { stagesSection } from './stages.ts';
import { moodOf } from './verdict.ts';
import { comparedSection, verificationTexts } from './verification.ts';

interface PageFound {
  readonly status: Status;
  /** Undefined until the run has ended. */
  readonly summary: StoredSummary | undefined;
  readonly findings: readonly Finding[];
  readonly causes: readonly ErrorCause[];
  readonly exports: readonly ExportFate[];
  readonly skipped: readonly SkippedRows[];
  readonly verification: StoredVerification | undefined;
  readonly isDryRun: boolean;
}

/** A number, its label and its parts. */
interface Tile {
  readonly count: number;
  readonly what: string;
  readonly parts: readonly string[];
  readonly mood: Mood | undefined;
}

export interface PageFigures extends Figures {
  /** Arrived, to mend, not migrated by design. */
  readonly tiles: readonly Tile[];
}

export function pageFigures(found: PageFound): PageFigures {
  const { status, summary, findings, causes, exports, skipped, verification, isDryRun } = found;
  const { events } = status;
  return {
    verdict: verdictOf(found),
    tiles: tilesOf(found),
    sections: present([
      exportsSection(exports),
      stagesSection(summary?.totals ?? [], isDryRun),
      missingSection({ causes, findings, events, isDryRun }),
      skippedSection(skipped),
      isDryRun ? undefined : verificationSection(verification, summary?.plan.digest ?? null),
    ]),
  };
}

function verdictOf({ status, summary, isDryRun }: PageFound): Headline {
  const { running, basis, last_run: last, waits_for: wait } = status;
  const verdict = (word: string, text: string, mood: Mood): Headline => ({ word, text, mood, details: [] });
  if (running) {
    const text = basis === 'under way' ? 'Sending' : 'A survey is in progress; the counts are from the previous run';
    return verdict('', text, wait ? 'partly' : 'done');
  }
  if (!last) return verdict('', 'Not finished', 'partly');
  return verdict(isDryRun ? 'Dry run' : 'Result', last.result, summary ? moodOf(summary) : 'partly');
}

function tilesOf({ status: { events }, summary, isDryRun }: PageFound): Tile[] {
  const failed = events.invalid + events.rejected + events.blocked;
  const { skipped = 0, unreadable = 0 } = summary?.records ?? {};
  const parts = (given: readonly (readonly [count: number, text: string])[]): string[] =>
    given.filter(([count]) => count > 0).map(([count, text]) => `${numberText(count)} ${text}`);
  const share =
    events.total === 0
      ? []
      : [`${percentText(events.acknowledged, events.total, 1)} of ${counted(events.total, 'record')}`];
  const arrived: Tile = isDryRun
    ? {
        count: events.pending,
        what: 'ready to send',
        parts: parts([[events.acknowledged, 'sent before']]),
        mood: undefined,
      }
    : {
        count: events.acknowledged,
        what: 'arrived',
        parts: [...share, ...parts([[events.pending, 'not sent yet']])],
        mood: 'done',
      };
  return [
    arrived,
    {
      count: failed + unreadable,
      what: 'to mend',
      parts: parts([
        [events.invalid, 'with a value that cannot be sent'],
        [events.rejected, 'refused by the service'],
        [events.blocked, 'waiting for one of these'],
        [unreadable, 'unreadable'],
      ]),
      mood: failed + unreadable > 0 ? 'failed' : undefined,
    },
    {
      count: skipped + events.duplicates,
      what: 'not migrated by design',
      parts: parts([
        [skipped, 'skipped by the mapping'],
        [events.duplicates, events.duplicates === 1 ? 'duplicate' : 'duplicates'],
      ]),
      mood: undefined,
    },
  ];
}

/** `digest`: of the plan that the page is about. */
function verificationSection(found: StoredVerification | undefined, digest: string | null): Section {
  if (!found) {
    const notes = ['Not verified yet: nobody has read the records back and compared them (crm-backfill verify).'];
    return sectionOf({ id: 'verified', title: 'Compared with the service', columns: [], rows: [], notes });
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
