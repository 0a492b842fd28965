/** Code of the user's in `functions` that tries to end the program, or prints where only the summary may be. */
import { expect, it } from 'vitest';
import { FAST, project, start } from './harness.ts';

const MAPPING = `version: 1
migration: guest
functions: functions.mjs
sources: { people: { path: people.csv } }
events:
  - type: lead/created
    source: people
    data: { external_id: id, full_name: { from: name, apply: [{ call: shown }] } }
`;

it.each<[what: string, body: string, failed: number]>([
  ['ends the process', 'process.exit(0)', 1],
  ['ends the process later', 'setTimeout(() => process.exit(0), 1); return value', 0],
  ['leaves a rejection', 'Promise.reject(new Error("later")); return value', 0],
  ['leaves an odd rejection', 'Promise.reject({ toString() { throw 1 } }); return value', 0],
  ['leaves a timer that never ends', 'setInterval(() => undefined, 1000); return value', 0],
  ['throws later', 'setTimeout(() => { throw new Error("later") }, 1); return value', 0],
  ['throws what cannot be shown', 'throw { toString() { throw new Error("no") } }', 1],
  ['returns a promise that fails', 'return Promise.reject(1)', 1],
  ['prints', 'console.log("printed"); process.stdout.write("written"); return value', 0],
])('a function that %s does no harm', async (_what, body, failed) => {
  const { cwd, env } = await project({
    'mapping.yaml': MAPPING,
    'functions.mjs': `console.log('loaded');\nexport function shown(value) { ${body} }\n`,
    'people.csv': 'id,name\n1,Ada\n',
  });
  const ended = await start(['run', 'mapping.yaml', '--json', ...FAST], { cwd, env }).ended;
  const summary = JSON.parse(ended.stdout) as { events: { acknowledged: number; invalid: number } };
  expect(summary.events).toMatchObject({ acknowledged: 1 - failed, invalid: failed });
  expect(ended.code).toBe(failed === 0 ? 0 : 1);
  expect(ended.stderr).not.toContain('internal error');
});
