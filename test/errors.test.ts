// Lost without it: a shortage of the machine could be told as a bug.
import { describe, expect, it } from 'vitest';
import { EXIT, shortageOf } from '../src/errors.ts';
import { readError } from '../src/service/reply.ts';

function failed(code: string): Error {
  return Object.assign(new Error(`${code}: it failed`), { code });
}

describe('a shortage of the system is told with its remedy', () => {
  it.each([
    [failed('EMFILE'), 'too many open files', 'ulimit -n'],
    [failed('ENFILE'), 'too many open files on this machine', 'limit of the system'],
    [failed('ENOMEM'), 'not enough memory', 'memory'],
    [new RangeError('Array buffer allocation failed'), 'not enough memory', 'memory'],
    [failed('ENOSPC'), 'the disk is full', 'free some disk space'],
    [failed('EROFS'), 'read-only', '--state'],
    [Object.assign(failed('ENOENT'), { syscall: 'uv_cwd' }), 'working directory', 'change to another one'],
    [Object.assign(failed('EACCES'), { path: '/opt/dist/send.js' }), 'permission denied', 'permissions of the file'],
  ])('%s', (error, message, hint) => {
    const shortage = shortageOf(error, EXIT.stopped)!;
    expect(shortage.message).toContain(message);
    expect(shortage.message).toContain(error.message);
    expect(shortage.hint).toContain(hint);
  });

  it('and any other error stays what it is', () => {
    expect(shortageOf(new TypeError('x is undefined'), EXIT.stopped)).toBeUndefined();
    expect(shortageOf(failed('ECONNRESET'), EXIT.stopped)).toBeUndefined();
    // Of a connection that a firewall refuses: it may work later.
    expect(shortageOf(failed('EACCES'), EXIT.stopped)).toBeUndefined();
  });

  it('by a request that finds no file descriptor, which stops the run', () => {
    expect(readError(failed('EMFILE'), undefined)).toMatchObject({
      setup: true,
      sent: 'no',
      message: expect.stringContaining('too many open files') as string,
      hint: expect.stringContaining('ulimit -n') as string,
    });
  });
});
