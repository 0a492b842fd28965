// Lost without it: a damaged file could end in a stack trace, or in a wrong count.
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { DatabaseSync } from '@photostructure/sqlite';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { useFastClock } from '../clock.ts';
import { backfill, FAST, mapping, project, start, type Project } from './harness.ts';

useFastClock();

const PEOPLE = `id,name\n${Array.from({ length: 60 }, (_, n) => `${n},Person ${n}\n`).join('')}`;

let p: Project;
const file = (name: string): string => p.state(name);
const execute = (name: string, sql: string): void => {
  const db = new DatabaseSync(file(name));
  db.exec(`pragma busy_timeout = 20000; ${sql}`);
  db.close();
};
/** Every second page but the first ones. */
const scribble = (name: string): void => {
  const handle = openSync(file(name), 'r+');
  for (let at = 3 * 4096; at < statSync(file(name)).size; at += 2 * 4096)
    writeSync(handle, Buffer.alloc(4096, 0xab), 0, 4096, at);
  closeSync(handle);
};

beforeEach(async () => {
  const people = 'type: lead/created, data: { external_id: id, full_name: name }';
  p = await project({ 'mapping.yaml': mapping({ people }), 'people.csv': PEOPLE });
  expect((await p.run()).code).toBe(0);
});

describe('commands that read a damaged file name it, say what to do, and show no stack', () => {
  const COMMANDS = [
    ['status'],
    ['report'],
    ['plan', '--json'],
    ['explain', 'lead:7'],
    ['verify'],
    ['run', '--dry-run'],
    ['run'],
  ];
  const CASES: readonly (readonly [what: string, name: string, damage: () => void])[] = [
    ['pages of the plan', 'plan.db', () => scribble('plan.db')],
    ['pages of the checkpoint', 'checkpoint.db', () => scribble('checkpoint.db')],
    ['a missing table of the plan', 'plan.db', () => execute('plan.db', 'drop table problem')],
    ['a missing column of the plan', 'plan.db', () => execute('plan.db', 'alter table event drop column heading')],
    ['a missing table of the checkpoint', 'checkpoint.db', () => execute('checkpoint.db', 'drop table setting')],
    ['a document that is no JSON', 'plan.db', () => execute('plan.db', `update document set content = '{oops'`)],
    ['data that is no JSON', 'plan.db', () => execute('plan.db', `update event set data = '{oops'`)],
    [
      'what is known, no JSON',
      'checkpoint.db',
      () => execute('checkpoint.db', `update record set fields = '{oops', content = ''`),
    ],
  ];
  it.each(CASES)('%s', async (_what, name, damage) => {
    damage();
    let told = 0;
    for (const [command = '', ...more] of COMMANDS) {
      const { code, stdout, stderr } = await p.command(command, ...more);
      expect(stderr, command).not.toMatch(/internal error|^ {4}at /m);
      // What does not read the damaged part goes on; a survey writes the plan anew.
      if (code === 0) continue;
      told += 1;
      expect(code, command).toBe(2);
      expect(stderr.replace(/\s+/g, ''), command).toContain(`cannotuse${file(name)}:`);
      expect(stderr, command).toMatch(name === 'plan.db' ? /delete the file and rerun/ : /restore a copy of the file/);
      expect(stdout).not.toContain('undefined');
    }
    expect(told).toBeGreaterThan(0);
  });

  it('a run writes a damaged plan anew, and goes on', async () => {
    scribble('plan.db');
    expect(await p.summary()).toMatchObject({ exit: { code: 0 }, this_run: { events_sent: 0 } });
  });
});

it('`dry-run` that is a file is named by every command that needs it', async () => {
  rmSync(file('dry-run'), { recursive: true, force: true });
  writeFileSync(file('dry-run'), 'x');
  for (const [command = '', ...more] of [
    ['status'],
    ['plan', '--dry-run', '--json'],
    ['explain', 'lead:7'],
    ['verify'],
    ['run', '--dry-run'],
    ['run'],
  ]) {
    const { code, stderr } = await p.command(command, ...more, ...(command === 'run' ? FAST : []));
    expect(stderr, command).not.toMatch(/internal error|^ {4}at /m);
    if (code !== 0) expect(stderr.replace(/\s+/g, ''), command).toContain(file('dry-run'));
  }
});

it('a plan that breaks while a run sends ends it with exit 3: events were sent', async () => {
  writeFileSync(
    join(p.cwd, 'people.csv'),
    `${PEOPLE}${Array.from({ length: 120 }, (_, n) => `${100 + n},Late ${n}\n`).join('')}`,
  );
  p.service.setFaults({ rules: [{ kind: 'latency', min_ms: 300, max_ms: 400 }] });
  const running = p.start('--yes', '--concurrency', '2');
  await vi.waitFor(() => expect(p.posts()).toBeGreaterThan(65), { timeout: 120_000 });
  execute('plan.db', 'pragma foreign_keys = off; drop table event');
  const ended = await running.ended;
  expect(ended.stderr).not.toMatch(/internal error/);
  expect(ended.stderr.replace(/\s+/g, '')).toContain(`cannotuse${file('plan.db')}:`);
  expect(ended.code).toBe(3);
});

it.each([
  ['plan', 'mapping.yaml', '--json'],
  ['run', 'mapping.yaml', '--json'],
])('what stdout does not take is an error with an exit code: %s', async (...args) => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  const stdout = new Writable({ write: (_chunk, _encoding, done) => done(full) });
  const { code, stderr } = await backfill(args, { cwd: p.cwd, env: p.env, stdout });
  expect(code).toBe(1);
  expect(stderr).toContain('error: stdout was not written: ENOSPC');
});

const ENOLCK = `#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
static int locked(int fd, int cmd, void *arg) {
  int (*real)(int, int, ...) = dlsym(RTLD_NEXT, "fcntl");
  if (cmd == F_SETLK && ((struct flock *)arg)->l_type != F_UNLCK) { errno = ENOLCK; return -1; }
  return real(fd, cmd, arg);
}
int fcntl(int fd, int cmd, ...) { va_list v; va_start(v, cmd); return locked(fd, cmd, va_arg(v, void *)); }
int fcntl64(int fd, int cmd, ...) { va_list v; va_start(v, cmd); return locked(fd, cmd, va_arg(v, void *)); }
`;

it.skipIf(process.platform !== 'linux' || spawnSync('gcc', ['--version']).status !== 0)(
  'a file system without locks is said to be that, and no other run is blamed',
  async () => {
    writeFileSync(join(p.cwd, 'enolck.c'), ENOLCK);
    const library = join(p.cwd, 'enolck.so');
    expect(spawnSync('gcc', ['-shared', '-fPIC', '-o', library, join(p.cwd, 'enolck.c'), '-ldl']).status).toBe(0);
    const env = { ...p.env, LD_PRELOAD: library };
    const { code, stderr } = await start(['run', 'mapping.yaml', ...FAST], { cwd: p.cwd, env }).ended;
    expect(code).toBe(2);
    expect(stderr).toContain('its file system does not support locks');
    expect(stderr).toContain('the state directory must be on a local disk');
    expect(stderr).not.toMatch(/another (?:run|process)/);
  },
);
