import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { environmentOf, FAST, sandbox, workspace } from '../e2e/harness.ts';
import { hookServer } from '../pages/hook-server.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

it.each(['send/send.js', 'pages/progress.js', 'pages/hook.js'])(
  'a part of the program that cannot be loaded (%s) is named before the first request',
  async (lost) => {
    const service = await sandbox();
    const { secret } = await hookServer();
    const cwd = await workspace('demo');
    const program = await workspace();
    for (const name of ['dist', 'package.json', 'mappings'])
      await cp(join(ROOT, name), join(program, name), { recursive: true });
    await symlink(join(ROOT, 'node_modules'), join(program, 'node_modules'));
    await rm(join(program, 'dist', lost));

    const args = [join(program, 'dist/cli.js'), 'run', 'mapping.yaml', ...FAST];
    const env = { ...process.env, ...environmentOf(service), BACKFILL_NOTIFY_URL: secret.reveal() };
    const child = spawn(process.execPath, args, { cwd, env });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const [code] = (await once(child, 'close')) as [number];
    expect(stderr).toMatch(/^error: a part of this program cannot be loaded .*\nhint: install it again/m);
    expect(stderr).toContain(lost);
    expect(code).toBe(2);
    expect(service.requests()).toEqual([]);
  },
);
