/** Code of the user's in `functions` that tries to end the program, or prints where only the summary may be. */
import { expect, it } from 'vitest';
import { mapping, project, summaryOf } from './harness.ts';

/** What a function may do, and whether its value then fails. */
const BODIES: Readonly<Record<string, readonly [body: string, fails: boolean]>> = {
  'ends the process': ['process.exit(0)', true],
  'ends the process later': ['setTimeout(() => process.exit(0), 1); return value', false],
  'leaves a rejection': ['Promise.reject(new Error("later")); return value', false],
  'leaves an odd rejection': ['Promise.reject({ toString() { throw 1 } }); return value', false],
  'leaves a timer that never ends': ['setInterval(() => undefined, 1000); return value', false],
  'throws later': ['setTimeout(() => { throw new Error("later") }, 1); return value', false],
  'throws what cannot be shown': ['throw { toString() { throw new Error("no") } }', true],
  'returns a promise that fails': ['return Promise.reject(1)', true],
  prints: ['console.log("printed"); process.stdout.write("written"); return value', false],
};

it('a function that ends the process, fails, throws or prints does no harm, at once or later', async () => {
  const names = Object.keys(BODIES);
  const functions = names.map((name) => `${JSON.stringify(name)}: (value) => { ${BODIES[name]![0]} },\n`);
  const { start, service } = await project({
    'mapping.yaml': mapping(
      { people: 'type: lead/created, data: { external_id: id, full_name: { from: id, apply: [{ call: shown }] } }' },
      'functions: functions.mjs\n',
    ),
    'functions.mjs': `console.log('loaded');\nconst all = { ${functions.join('')} };\nexport const shown = (value) => all[value](value);\n`,
    'people.csv': `id\n${names.join('\n')}\n`,
  });
  const ended = await start().ended;
  const failing = names.filter((name) => BODIES[name]![1]);
  expect(summaryOf(ended)).toMatchObject({
    exit: { code: 1, reason: 'invalid' },
    events: { acknowledged: names.length - failing.length, invalid: failing.length },
  });
  const arrived = service.state().leads.map(({ externalId }) => externalId);
  expect(arrived.sort()).toEqual(names.filter((name) => !failing.includes(name)).sort());
  expect(ended.code).toBe(1);
  expect(ended.stderr).not.toContain('internal error');
});
