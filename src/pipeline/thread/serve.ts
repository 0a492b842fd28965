import { once } from 'node:events';
import { loadMapping } from '../../mapping/load.ts';
import type { Source } from '../../source/source.ts';
import { Resolver } from '../resolve.ts';
import { TaskMapper } from './answer.ts';
import type { Beginning, Task, ThreadJob } from './tasks.ts';

/** Takes tasks until it is ended; closes the port at once where the mapping file is not the one that the main thread read. */
export async function serve({ mapping: file, port, signal }: Beginning): Promise<void> {
  const given = once(port, 'message') as Promise<[ThreadJob]>;
  const mapping = await loadMapping(file);
  const [{ sha256, sources, account }] = await given;
  if (mapping.sha256 !== sha256) {
    port.close();
    return;
  }
  const { entries } = await mapping.compile(new Map(sources.map((source) => [source.name, elsewhere(source)])));
  const resolver = new Resolver(account, mapping.references);
  const mappers = new Map(
    sources.map(({ name, kind }) => {
      const own = entries.filter(({ source }) => source === name);
      return [name, new TaskMapper(kind, own, resolver)];
    }),
  );
  port.on('message', (task: Task) => {
    port.postMessage(mappers.get(task.source)!.answer(task));
    Atomics.add(signal, 0, 1);
    Atomics.notify(signal, 0);
  });
  Atomics.store(signal, 0, 1);
}

/** A source as a mapping is compiled against it; its rows are read elsewhere. */
function elsewhere(source: ThreadJob['sources'][number]): Source {
  const read = (): never => {
    throw new Error('the mapping thread reads no files');
  };
  return {
    ...source,
    files: [],
    description: '',
    batches: read,
    unread: read,
    digests: () => undefined,
    notices: () => [],
  };
}
