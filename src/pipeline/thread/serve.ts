import { once } from 'node:events';
import { parse } from 'lossless-json';
import { readNumber } from '../../json.ts';
import { compileMapping } from '../../mapping/compile.ts';
import type { MappingSpec } from '../../mapping/spec.ts';
import type { Source } from '../../source/source.ts';
import { Resolver } from '../resolve.ts';
import { TaskMapper } from './answer.ts';
import type { Beginning, Task, ThreadJob } from './tasks.ts';

/** The main thread finds every mistake as well, and tells of it. */
const NO_DOCUMENT = { locate: () => ({ file: '', line: 1, column: 1 }) };

/** Compiles the mapping that comes first, then answers tasks until the thread is ended. */
export async function serve({ port, signal }: Beginning): Promise<void> {
  const [job] = (await once(port, 'message')) as [ThreadJob];
  const { sources, account, references } = job;
  const opened = new Map(sources.map((source) => [source.name, elsewhere(source)]));
  const { entries } = await compileMapping(unpackSpec(job.spec), opened, NO_DOCUMENT, new Map());
  const resolver = new Resolver(account, references);
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

/** Reads what `packSpec` wrote; here, as the main thread would load a parser for nothing before it begins the thread. */
export function unpackSpec(text: string): MappingSpec {
  return parse(text, null, readNumber) as MappingSpec;
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
