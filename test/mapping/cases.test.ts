import { join, sep } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ProblemsError } from '../../src/problem.ts';
import { casesOf, compileCase, draftsOf, printed } from './cases.ts';

describe('a valid mapping produces the expected drafts', () => {
  test.each(casesOf('valid'))('$name', async ({ folder }) => {
    const { compiled, sources } = await compileCase(folder);
    const drafts = (await draftsOf(compiled, sources)).map(
      ({ type, place, data, occurredAt, stagePipeline, issues, omissions }) => ({
        type,
        record: place.record,
        data,
        occurredAt,
        stagePipeline,
        ...(issues.length > 0 && { issues }),
        ...(omissions.length > 0 && { omissions }),
      }),
    );
    const warnings = compiled.warnings.map(({ code, message, at }) => `${at!.line}:${at!.column} ${message} [${code}]`);
    await expect(printed({ drafts, warnings })).toMatchFileSnapshot(join(folder, 'expected.json'));
  });
});

describe('an invalid mapping is rejected with all its errors', () => {
  test.each(casesOf('invalid'))('$name', async ({ folder }) => {
    const refusal = await compileCase(folder).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(refusal).toBeInstanceOf(ProblemsError);
    const { message, exitCode } = refusal as ProblemsError;
    expect(exitCode).toBe(2);
    await expect(`${message.replaceAll(folder + sep, '')}\n`).toMatchFileSnapshot(join(folder, 'expected.txt'));
  });
});
