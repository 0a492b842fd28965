/** Takes what to close at the end. */
export type Later = (close: () => void | Promise<void>) => void;

/**
 * Runs `act`, and after it what it handed to `later`, the last first, each of them whatever else fails. Throws the first error:
 * those of closing are mostly its consequences.
 */
export async function closingAfter<Result>(act: (later: Later) => Promise<Result>): Promise<Result> {
  const closers: (() => void | Promise<void>)[] = [];
  const errors: unknown[] = [];
  const attempt = async <Value>(step: () => Value | Promise<Value>): Promise<Value | undefined> => {
    try {
      return await step();
    } catch (error) {
      errors.push(error);
      return undefined;
    }
  };
  const result = await attempt(() => act((close) => closers.push(close)));
  for (const close of closers.reverse()) await attempt(close);
  if (errors.length > 0) throw errors[0];
  return result as Result;
}
