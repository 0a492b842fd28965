// Lost without it: code of a mapping could end a run as if it had succeeded.
import { expect, it } from 'vitest';
import { mapping, project, summaryOf } from './harness.ts';

const started = async (body: string) => {
  const { start } = await project({
    'mapping.yaml': mapping(
      { people: 'type: lead/created, data: { external_id: id, full_name: { from: id, apply: [{ call: shown }] } }' },
      'functions: functions.mjs\n',
    ),
    'functions.mjs': `export const shown = (value) => { ${body} };\n`,
    'people.csv': 'id\n1\n',
  });
  return start().ended;
};

it.each(['process.exit(0)', 'setTimeout(() => process.exit(0), 1); return value', 'Promise.reject(1); return value'])(
  'a function that ends the process (%s) never ends a run as if it had succeeded',
  async (body) => {
    const ended = await started(body);
    expect(ended).toMatchObject({ code: 3, stdout: '' });
    expect(ended.stderr).toContain('the process ended before the command did');
  },
);

it.each(['throw { odd: true }', 'return Promise.reject(1)'])(
  'a function that fails (%s) fails its value alone',
  async (body) => {
    const ended = await started(body);
    expect(summaryOf(ended)).toMatchObject({ exit: { code: 1 }, errors_by_code: { function_failed: 1 } });
  },
);
