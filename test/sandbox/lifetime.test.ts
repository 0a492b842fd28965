// Lost without it: a rehearsal could forget what it was sent.
import { appendFile, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../directory.ts';
import { startSandbox } from '../../src/sandbox/index.ts';
import { call, sandboxFor, send } from './client.ts';

describe('the journal', () => {
  test('a later sandbox has the records and events of an earlier one', async () => {
    const journal = join(temporaryDirectory(), 'sandbox.ndjson');
    const first = await startSandbox({ journal });
    await send(first, 'lead/created', { external_id: 'L', full_name: 'A' }, { id: 'e1' });
    await send(first, 'lead/updated', { external_id: 'L', custom_params: { a: 1 } }, { id: 'e2' });
    await send(first, 'deal/created', { external_id: 'D', lead_external_id: 'L' }, { id: 'e3' });
    await send(first, 'comment/created', { external_id: 'C', content: 'x', deal_external_id: 'D' }, { id: 'e4' });
    await send(first, 'comment/created', { external_id: 'C', content: 'y', deal_external_id: 'D' }, { id: 'e5' });
    await call(first, 'POST', '/leads', { body: { fullName: 'Rest' } });
    const state = first.state();
    await first.close();
    expect((await stat(journal)).mode & 0o777).toBe(0o600);

    const second = await sandboxFor({ journal });
    expect(second.state()).toEqual(state);
    for (const id of ['e1', 'e2', 'e3', 'e4', 'e5']) {
      expect((await send(second, 'lead/created', { external_id: 'new' }, { id })).body).toMatchObject({
        deduplicated: true,
      });
    }
    expect((await send(second, 'lead/created', { external_id: 'L' })).status).toBe(409);
    expect(second.state()).toEqual(state);
  });

  test('an incomplete last line is removed, and later lines are readable', async () => {
    const journal = join(temporaryDirectory(), 'sandbox.ndjson');
    const first = await startSandbox({ journal });
    await send(first, 'lead/created', { external_id: '1' });
    await first.close();
    await appendFile(journal, '{"kind":"Lead","rec');

    const second = await startSandbox({ journal });
    expect(second.state().leads).toHaveLength(1);
    await send(second, 'lead/created', { external_id: '2' });
    await second.close();
    const third = await sandboxFor({ journal });
    expect(third.state().leads.map(({ externalId }) => externalId)).toEqual(['1', '2']);
  });
});

describe('the server', () => {
  test('reports a port that is in use', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as { port: number };
    await expect(startSandbox({ port })).rejects.toThrow(`127.0.0.1:${port}`);
  });
});
