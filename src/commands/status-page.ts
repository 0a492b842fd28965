import { stat } from 'node:fs/promises';
import type { Console } from '../console.ts';
import { EXIT, type ExitCode } from '../errors.ts';
import { collectErrors, type CollectedErrors } from '../report/html/collect.ts';
import { readRunWait } from '../report/live/run-wait.ts';
import { liveSections } from '../report/live/sections.ts';
import { startLiveServer } from '../report/live/server.ts';
import type { StatusView } from '../report/status-text.ts';
import type { StateDir } from '../state-dir.ts';

/** `backfill status --serve`: the status as a live page, until a signal ends it. */
export async function serveStatus(
  port: number,
  state: StateDir,
  look: () => Promise<StatusView>,
  console: Console,
): Promise<ExitCode> {
  const errors = new ErrorsFile(state.file('errors.ndjson'));
  const server = await startLiveServer(port, async () => {
    const view = await look();
    const [collected, wait] = await Promise.all([
      errors.read(),
      view.holder ? readRunWait(state, view.now) : undefined,
    ]);
    return liveSections({ ...view, errors: collected, latest: view.status.history.latest.toReversed(), wait });
  });
  console.print(server.url);
  console.say('the page can be opened on this machine, or through an ssh tunnel to this port; press Ctrl-C to end it');
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
  });
  await server.close();
  return EXIT.done;
}

/** The errors of a run, read again only when there are more. */
class ErrorsFile {
  readonly #path: string;
  #version = '';
  #errors: Promise<CollectedErrors> | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  async read(): Promise<CollectedErrors> {
    const file = await stat(this.#path).catch(() => undefined);
    const version = `${file?.ino} ${file?.size} ${file?.mtimeMs}`;
    if (!this.#errors || version !== this.#version) this.#errors = collectErrors(this.#path);
    this.#version = version;
    return this.#errors;
  }
}
