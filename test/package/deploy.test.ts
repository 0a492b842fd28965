import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../src/errors.ts';
import { OPTIONS } from '../../src/settings/table.ts';
import { FIXTURES } from '../e2e/harness.ts';
import { RUN_AGAIN } from '../readme/sections.ts';

const deploy = (file: string): Promise<string> => readFile(join(FIXTURES, 'deploy', file), 'utf8');

describe('the systemd unit', () => {
  const setting = async (name: string): Promise<string> =>
    new RegExp(`^${name}=(.*)$`, 'm').exec(await deploy('backfill.service'))![1]!;

  it('restarts a run only after a signal that was not meant for it, as the table of exit codes says', async () => {
    expect(await setting('Restart')).toBe('on-failure');
    const final = Object.entries(EXIT).filter(([, code]) => code !== EXIT.done && !RUN_AGAIN.includes(code));
    expect((await setting('RestartPreventExitStatus')).split(' ')).toEqual(final.map(([, code]) => String(code)));
  });

  it('waits longer for the end of a run than a request and the last notification may take', async () => {
    expect(Number(await setting('TimeoutStopSec'))).toBeGreaterThan(Number(OPTIONS.timeout.default) + 10);
  });
});

describe('the Dockerfile', () => {
  it('runs as an ordinary user, with the program as the process that gets the signals, and the state in a volume', async () => {
    const instructions = (await deploy('Dockerfile'))
      .split('\n')
      .filter((line) => /^[A-Z]+ /.test(line))
      .map((line) => line.split(' ', 1)[0]);
    const text = await deploy('Dockerfile');
    expect(instructions).toEqual(['FROM', 'COPY', 'RUN', 'USER', 'WORKDIR', 'VOLUME', 'ENTRYPOINT', 'CMD']);
    expect(text).toContain('\nUSER node\n');
    expect(text).toContain('\nENTRYPOINT ["crm-backfill"]\n');
    const [, stopTimeout] = /--stop-timeout (\d+)/.exec(text)!;
    expect(Number(stopTimeout)).toBeGreaterThan(Number(OPTIONS.timeout.default) + 10);
    const [, volume] = /--volume \S+:(\S+) crm-backfill run acme\.yaml --state (\S+)/.exec(text)!;
    expect(text).toContain(`\nVOLUME ${volume}\n`);
  });
});
