/** Figures of a survey beside its counts: the duration of sending, the saving by combining, the changes since earlier runs. */
import { COMBINED, PERSON } from '../../kinds/index.ts';
import { combinable, combined, type CombinedFigures } from '../../plan/rows/combine.ts';
import { countDue, countRecords, countWhere } from '../../plan/counts.ts';
import { storedDigest } from '../../plan/digest.ts';
import { countMatches } from '../../plan/account/matches.ts';
import { countFolded } from '../../plan/rows/fold.ts';
import { readDocument } from '../files/documents.ts';
import { pilotText, readPilot } from '../files/pilot.ts';
import type { Rate } from '../../rate.ts';
import { rateText } from '../../rate.ts';
import type { Survey } from '../../survey/survey.ts';
import { shortPath } from '../../files/paths.ts';
import { counted, numberText } from '../words/numbers.ts';
import { durationText, untilText } from '../words/times.ts';
import { changesSection, prioritiesSection } from './counts.ts';
import { assumedSection, notInExportSection } from './missing.ts';
import { recordsText } from './verdict.ts';
import { present, sectionOf, type Figures, type Section } from './figures.ts';
import { estimateSeconds, plannedPriorities } from './summarise.ts';

interface SendingPace {
  readonly rate: Rate;
  readonly now: Date;
}

/** Before a run sends: the events, the account (`where`) and the duration. */
export function surveyFigures(survey: Survey, pace: SendingPace, where: readonly string[]): Figures {
  const [due, all] = [countDue(survey.states), countWhere(survey.states, () => true)];
  // Then the verdict of the run follows at once.
  const isSaid = survey.states.every(({ state }) => state === 'acknowledged' || state === 'duplicate');
  return {
    verdict: {
      word: due > 0 ? 'SENDING' : 'NOTHING TO SEND',
      text: `${due > 0 ? ` ${numberText(due)} of ${counted(all, 'event')}` : `: ${counted(all, 'event')}`}. ${recordsText(countRecords(survey.db))}`,
      mood: 'done',
      details: where,
    },
    sections: present([changesSection(survey.changes, isSaid), ...planSections(survey, pace, true)]),
  };
}

/** `isSending`: then it is too late for advice about the mapping. */
export function planSections(survey: Survey, pace: SendingPace, isSending = false): readonly (Section | undefined)[] {
  const mapping = isSending ? undefined : readDocument(survey.db, 'mapping');
  return [
    prioritiesSection(plannedPriorities(survey.states, pace), pace.now),
    ...(mapping ? [assumedSection(mapping), notInExportSection(mapping)] : []),
    planSection(survey, pace, isSending),
    worksheetSection(survey),
  ];
}

/** What the program wrote into the user's folder, and what somebody answered there without effect: no limit of lines cuts it. */
function worksheetSection({ worksheet }: Survey): Section | undefined {
  const { path, isNamed, rows, added, unmatched } = worksheet;
  const file = shortPath(path);
  const notes: string[] = unmatched === undefined ? [] : [`No effect: ${unmatched}`];
  if (isNamed && added === 'file') notes.push(`Wrote ${file}: ${counted(rows.length, 'name')}${openText(rows)}`);
  else if (isNamed && added.length > 0)
    notes.push(`Added to ${file}: ${counted(added.length, 'new name')}, from line ${added[0]}`);
  return notes.length === 0 ? undefined : sectionOf({ id: 'worksheet', notes });
}

function openText(rows: Survey['worksheet']['rows']): string {
  const open = rows.filter(({ isOpen }) => isOpen).length;
  if (open === 0) return ' of pipelines, stages and owners';
  return open === rows.length ? ' to answer' : `, ${numberText(open)} of them to answer`;
}

function planSection({ db, states }: Survey, pace: SendingPace, isSending: boolean): Section {
  const due = countDue(states);
  const fold = countFolded(db);
  const there = countMatches(db);
  const pilot = readPilot(db);
  const stored = storedDigest(db);
  const plan = stored === undefined ? [] : [`Plan ${stored.digest}`];
  return sectionOf({
    id: 'plan',
    notes: [
      ...(fold.rows > 0
        ? [
            `${counted(fold.rows, 'row')} became ${counted(fold.records, 'record')}: ${counted(fold.rows - fold.records, 'request')} saved`,
          ]
        : []),
      ...combineLines(db, pace, isSending),
      ...(pilot ? [pilotText(pilot)] : []),
      ...(there > 0
        ? [`${counted(there, PERSON)} may already be in the account (same e-mail address or phone number): matches.csv`]
        : []),
      ...beside([...(due === 0 ? [] : [paceText(due, pace, isSending)]), ...plan]),
    ],
  });
}

/** In one line where that fits a narrow terminal, so that no digest is parted from its name. */
function beside(notes: readonly string[]): readonly string[] {
  const line = notes.join('   ');
  return notes.length > 1 && line.length <= 78 ? [line] : notes;
}

/** Less is not worth a line about what could be saved. */
const LEAST_SAVED_SECONDS = 60;

/** What `combine` saves, or would save. */
function combineLines(db: Survey['db'], { rate }: Pick<SendingPace, 'rate'>, isSending: boolean): string[] {
  const saved = ({ comments, requests }: CombinedFigures): number =>
    estimateSeconds(comments, rate) - estimateSeconds(requests, rate);
  const text = (figures: CombinedFigures): string =>
    `${counted(figures.comments, COMBINED)} in ${counted(figures.requests, 'request')}: ${durationText(saved(figures))}`;
  const [done, possible] = [combined(db), isSending ? undefined : combinable(db)];
  return [
    ...(done.comments > 0 ? [`${text(done)} saved`] : []),
    ...(possible && saved(possible) >= LEAST_SAVED_SECONDS
      ? [`With \`combine\`, ${text(possible)} would be saved`]
      : []),
  ];
}

function paceText(events: number, { rate, now }: SendingPace, isSending: boolean): string {
  const seconds = estimateSeconds(events, rate);
  const at = `(${rateText(rate)})`;
  if (seconds < 60) return `Sending takes under a minute ${at}.`;
  return `Sending takes about ${durationText(seconds)} ${at}, ${untilText(seconds, now)}${isSending ? '' : ' if started now'}.`;
}
