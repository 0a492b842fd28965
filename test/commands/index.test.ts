// Lost without it: a command could be loaded that nobody asked for, or lack its help.
import { describe, expect, it } from 'vitest';
import type { CommandDefinition } from '../../src/commands/command.ts';
import * as definitions from '../../src/commands/definitions.ts';
import { type Option } from '../../src/settings/option.ts';
import { parseOptions } from '../../src/settings/parse-options.ts';
import { OPTIONS } from '../../src/settings/table.ts';
import { backfill, workspace } from '../e2e/harness.ts';

const { verify, sandbox } = definitions;

describe('the table of options', () => {
  it('contains only options that a command accepts', () => {
    const used = new Set(Object.values<CommandDefinition>(definitions).flatMap(({ options }) => Object.keys(options)));
    expect(Object.keys(OPTIONS).filter((name) => !used.has(name))).toEqual([]);
  });

  it.each(Object.entries<Option>(OPTIONS))('contains a default of --%s that passes its own check', (name, option) => {
    expect(() => parseOptions({ positionals: {}, options: { [name]: option } }, {})).not.toThrow();
  });
});

describe('a command', () => {
  it('uses the default and the check of the table, also where its help text differs', () => {
    expect(parseOptions(verify, { mapping: 'a.yaml' })).toMatchObject({
      sample: 100,
      rate: { requests: 100, seconds: 60 },
    });
    expect(parseOptions(sandbox, {})).toMatchObject({ port: 0, rate: { requests: 100, seconds: 60 } });
    const wrong = { mapping: 'a.yaml', rate: 'fast' };
    expect(() => parseOptions(verify, wrong)).toThrow('--rate: `fast` is not a rate');
    expect(() => parseOptions(sandbox, { port: '70000' })).toThrow('--port: `70000` is not a port number');
  });

  it.each([
    [['explain'], 'missing arguments: <mapping>, <record>'],
    [['explain', 'a.yaml'], 'missing argument: <record>'],
    [['init'], 'missing argument: <exports>'],
    [['explain', 'a.yaml', '1', '2'], 'unexpected argument: `2`'],
    [['run', 'a.yaml', '--rate'], '--rate: empty, expected a rate like `100/60s`'],
    [['run', 'a.yaml', '--source'], '`--source` needs a value'],
    [['run', 'a.yaml', '--pilot', '1', '--pilot', '2'], '--pilot: given more than once'],
    [['verify', 'a.yaml', '--plan', '0123456789ab'], 'unknown option: `--plan`'],
  ])('refuses %j with the exit code of a usage error', async (args, message) => {
    const ended = await backfill(args, { cwd: await workspace() });
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain(message);
  });
});
