import { join, sep } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ProblemsError } from '../../src/problem.ts';
import { casesOf, compileCase, draftsOf, printed } from './cases.ts';

describe('a sound mapping yields the drafts beside it', () => {
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

describe('a mapping with mistakes is refused with all of them', () => {
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
