/**
 * What mapped names are resolved against: the pipelines and users of one account, as last read from the service.
 * Kept in the state directory's `account.json`, for `--offline` and for the sandbox.
 */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { messageOf, UserError } from '../errors.ts';

const stage = z.strictObject({ id: z.string().min(1), name: z.string() });

const pipeline = z.strictObject({
  id: z.string().min(1),
  name: z.string(),
  /** Service interface, section 2.2; deals enter stages of DEAL pipelines only. */
  type: z.enum(['DEAL', 'LEAD']),
  /** In the service's order: the first one is where deals without a stage enter. */
  stages: z.array(stage),
});

const user = z.strictObject({
  id: z.string().min(1),
  /** Every name the service gives the user, without repeats; several users may share one. */
  names: z.array(z.string()),
  email: z.string().exactOptional(),
});

export const account = z.strictObject({ pipelines: z.array(pipeline), users: z.array(user) });

/** The file: the account, whose it is, and when it was read (ISO 8601). */
export const storedAccount = account.extend({ base_url: z.string(), read_at: z.iso.datetime({ offset: true }) });

export type Stage = z.infer<typeof stage>;
export type Pipeline = z.infer<typeof pipeline>;
export type User = z.infer<typeof user>;
export type Account = z.infer<typeof account>;
export type StoredAccount = z.infer<typeof storedAccount>;

/** Reads a stored `account.json`; a `UserError` says what is wrong with it. */
export async function readStoredAccount(path: string): Promise<StoredAccount> {
  const hint = 'it is written by `backfill run MAPPING --dry-run` with access to the service';
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw new UserError(`cannot read the stored account ${path}: ${messageOf(error)}`, { hint, cause: error });
  }
  const parsed = storedAccount.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new UserError(`${path} is not a stored account:\n${z.prettifyError(parsed.error)}`, { hint });
}
