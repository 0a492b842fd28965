/**
 * The pipelines and users of one account, as last read from the service. Names in the mapping are resolved against
 * them. Stored as `account.json` in the state directory, for `--offline` and for the sandbox.
 */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { messageOf, UserError } from '../errors.ts';

const stage = z.strictObject({ id: z.string().min(1), name: z.string() });

const pipeline = z.strictObject({
  id: z.string().min(1),
  name: z.string(),
  /** Service interface, section 2.2. Only DEAL pipelines have stages for deals. */
  type: z.enum(['DEAL', 'LEAD']),
  /** In the service's order. A deal without a stage is created in the first one. */
  stages: z.array(stage),
});

const user = z.strictObject({
  id: z.string().min(1),
  /** Every name the service has for the user, without repeats. Several users may have the same name. */
  names: z.array(z.string()),
  email: z.string().exactOptional(),
});

export const account = z.strictObject({ pipelines: z.array(pipeline), users: z.array(user) });

/** The file: the account, its base URL, and when it was read (ISO 8601). */
export const storedAccount = account.extend({ base_url: z.string(), read_at: z.iso.datetime({ offset: true }) });

export type Stage = z.infer<typeof stage>;
export type Pipeline = z.infer<typeof pipeline>;
export type User = z.infer<typeof user>;
export type Account = z.infer<typeof account>;
export type StoredAccount = z.infer<typeof storedAccount>;

/** Reads a stored `account.json`. Throws a `UserError` if it cannot be read or is invalid. */
export async function readStoredAccount(path: string): Promise<StoredAccount> {
  const hint = 'run `crm-backfill run MAPPING --dry-run` with access to the service to create it';
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw new UserError(`cannot read the stored account ${path}: ${messageOf(error)}`, { hint, cause: error });
  }
  const parsed = storedAccount.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new UserError(`invalid stored account ${path}:\n${z.prettifyError(parsed.error)}`, { hint });
}

/** Names of pipelines, stages (`Sales / Won`) and users by their ids in lower case; none if the account is unknown. */
export function namesById(known: Account | undefined): ReadonlyMap<string, string> {
  const { pipelines, users } = known ?? { pipelines: [], users: [] };
  return new Map([
    ...pipelines.flatMap(({ id, name, stages }): [string, string][] => [
      [id.toLowerCase(), name],
      ...stages.map((stage): [string, string] => [stage.id.toLowerCase(), `${name} / ${stage.name}`]),
    ]),
    ...users.map(({ id, names, email = id }): [string, string] => [id.toLowerCase(), names[0] ?? email]),
  ]);
}
