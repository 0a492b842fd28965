/** A real Redis server for one test: on a free port, in a separate directory, without persistence. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';

export const hasRedis = spawnSync('redis-server', ['--version']).status === 0;
if (!hasRedis)
  process.stderr.write('SKIPPED: the tests of the shared limit need redis-server, which is not installed\n');

export interface RedisServer {
  readonly url: string;
  /** At once, as a crash would; what it knew is lost. */
  kill(): Promise<void>;
  start(): Promise<void>;
}

export async function redisServer(options: { password?: string } = {}): Promise<RedisServer> {
  const directory = await mkdtemp(join(tmpdir(), 'backfill-redis-'));
  const port = await freePort();
  let child: ChildProcess | undefined;
  const kill = async (): Promise<void> => {
    if (!child) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    child = undefined;
    await ended;
  };
  const start = async (): Promise<void> => {
    const settings = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    const password = options.password ? ['--requirepass', options.password] : [];
    child = spawn('redis-server', [...settings, ...password, '--dir', directory], { stdio: 'ignore' });
    while (!(await accepts(port))) await sleep(20);
  };
  onTestFinished(async () => {
    await kill();
    await rm(directory, { recursive: true, force: true });
  });
  await start();
  return { url: `redis://${options.password ? `:${options.password}@` : ''}127.0.0.1:${port}`, kill, start };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
