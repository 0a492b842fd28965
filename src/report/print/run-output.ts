/** What `run` prints: a printer for each form of its output, which are options of `FORMS` (settings/table). */
import { EXIT } from '../../errors.ts';
import type { RunOutput } from '../../settings/run-settings.ts';
import type { Figures } from '../figures/figures.ts';
import type { Summary } from '../figures/summary.ts';
import { briefText } from '../figures/verdict.ts';
import type { Console } from './console.ts';
import { screenOf } from './terminal.ts';

/** How a run ended. */
interface PrintedEnd {
  readonly figures: Figures;
  readonly summary: Summary;
  /** As a program reads it. */
  readonly json: string;
}

interface RunPrinter {
  /** Whether progress is shown while events are sent. */
  readonly hasProgress: boolean;
  /** A line beside the figures: whose code runs, when the run stops. */
  readonly note: (console: Console, text: string) => void;
  /** Before events are sent. */
  readonly survey: (console: Console, figures: Figures) => void;
  readonly end: (console: Console, ended: PrintedEnd) => void;
  /** Before its end: why is said whatever becomes of stdout. */
  readonly stopped: (console: Console, ended: PrintedEnd) => void;
}

const why = (console: Console, { figures }: PrintedEnd): void => console.complain(screenOf(figures, console.columns));

export const RUN_PRINTERS: Readonly<Record<RunOutput, RunPrinter>> = {
  screen: {
    hasProgress: true,
    note: (console, text) => console.show(text),
    survey: (console, figures) => console.show(screenOf(figures, console.shownColumns)),
    end: (console, { figures }) => console.show(screenOf(figures, console.shownColumns)),
    stopped: why,
  },
  /** stdout has the JSON alone. */
  json: {
    hasProgress: true,
    note: (console, text) => console.say(text),
    survey: (console, figures) => console.say(screenOf(figures, console.columns)),
    end: (console, { figures, json }) => {
      console.say(screenOf(figures, console.columns));
      console.printJson(json);
    },
    stopped: (console, ended) => {
      why(console, ended);
      console.printJson(ended.json);
    },
  },
  quiet: {
    hasProgress: false,
    note: () => undefined,
    survey: () => undefined,
    end: (console, { summary, figures }) => {
      if (summary.exit.code !== EXIT.done) console.complain(briefText(summary, figures.verdict));
    },
    stopped: why,
  },
};
