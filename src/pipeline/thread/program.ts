/** The program of the mapping thread. It ends at once where the mapping file is not the one that the main thread read. */
import { workerData } from 'node:worker_threads';
import { loadMapping } from '../../mapping/load.ts';
import type { Source } from '../../source/source.ts';
import { Resolver } from '../resolve.ts';
import { answerTask, type Task, type ThreadJob } from './tasks.ts';

const { mapping: wanted, sources, account, port, signal } = workerData as ThreadJob;
const mapping = await loadMapping(wanted.file);
if (mapping.sha256 === wanted.sha256) {
  const opened = new Map(sources.map((source) => [source.name, unread(source)]));
  const { entries } = await mapping.compile(opened);
  const entriesOf = new Map(sources.map(({ name }) => [name, entries.filter(({ source }) => source === name)]));
  const resolver = new Resolver(account, mapping.references);
  port.on('message', (task: Task) => {
    port.postMessage(
      answerTask(task, opened.get(task.source)!.kind === 'table', entriesOf.get(task.source)!, resolver),
    );
    Atomics.add(signal, 0, 1);
    Atomics.notify(signal, 0);
  });
  Atomics.store(signal, 0, 1);
}

/** A source as a mapping is compiled against it; its rows are read elsewhere. */
function unread(source: ThreadJob['sources'][number]): Source {
  return {
    ...source,
    files: [],
    description: '',
    batches: () => {
      throw new Error('the mapping thread reads no files');
    },
    digests: () => undefined,
    notices: () => [],
  };
}
