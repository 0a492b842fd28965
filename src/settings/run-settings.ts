import { UserError } from '../errors.ts';
import { text } from './checks.ts';
import { pick, type ArgumentsOf, type SettingsOf } from './option.ts';
import { parseOptions } from './parse-options.ts';
import { CONNECTION, FORMS, OPTIONS } from './table.ts';
import type { Rate } from '../rate.ts';

export type { AskedRecord, NamedRecord, StopTime, Tolerance } from './checks.ts';

export const MAPPING = {
  mapping: { type: 'value', check: text('a mapping file'), describe: 'The mapping file (YAML or JSON)' },
} as const;

/** The options that leave a part of the plan for a later run. */
const SELECTING = ['pilot', 'pick', 'only'] as const;

export const SELECTING_FLAGS: readonly string[] = SELECTING.map((name) => `--${name}`);

/** What a run sends of the plan. */
export type Selection = SettingsOf<Pick<typeof OPTIONS, (typeof SELECTING)[number]>>;

/** In which form a run prints what it found: the first option of `FORMS` that is given, or else a screen. */
export type RunOutput = 'screen' | (typeof FORMS)[number];

/** The options of `run`, in the order of its help. */
export const RUN_OPTIONS = pick(
  OPTIONS,
  'source',
  'state',
  'dryRun',
  'plan',
  'offline',
  ...SELECTING,
  'sandbox',
  'fresh',
  ...CONNECTION,
  'maxErrors',
  'maxOmitted',
  'maxRejectionsInARow',
  'maxOutage',
  'until',
  'adopt',
  'yes',
  ...FORMS,
);

export type RunSettings = ArgumentsOf<typeof MAPPING> &
  Omit<SettingsOf<typeof RUN_OPTIONS>, keyof Selection | (typeof FORMS)[number]> & {
    readonly selection: Selection;
    /** By its printers (report/print/run-output). */
    readonly output: RunOutput;
  };

/** How fast requests are sent, and over which limit. */
export type Pace = Pick<RunSettings, 'rate' | 'concurrency' | 'timeout'>;

export const DEFAULT_RATE: Rate = OPTIONS.rate.check.parse(OPTIONS.rate.default);

/** The checked options of a run, from the command line or a program. Throws a `UserError` (exit 2) that names every mistake. */
export function runSettings(given: Readonly<Record<string, unknown>>): RunSettings {
  const settings = parseOptions({ positionals: MAPPING, options: RUN_OPTIONS }, given);
  const selection = pick(settings, ...SELECTING);
  if (selection.pilot !== undefined && selection.pick.length > 0) {
    throw new UserError('--pilot and --pick cannot be combined: each of them chooses a pilot');
  }
  if (settings.offline && !settings.dryRun) {
    throw new UserError('--offline requires --dry-run: sending needs the network');
  }
  if (settings.fresh && !settings.sandbox) {
    throw new UserError('--fresh requires --sandbox: only a rehearsal can be started over');
  }
  if (settings.sandbox && settings.baseUrl !== undefined) {
    throw new UserError('--sandbox and --base-url cannot be combined: a rehearsal has a service of its own');
  }
  const output = FORMS.find((form) => settings[form]) ?? 'screen';
  return { ...settings, output, selection };
}
