/**
 * The pipelines and users of one account, as last read from the service. Names in the mapping are resolved against
 * them. A survey stores them in its plan, for `--offline` and for the sandbox.
 */
import { z } from 'zod';

/** Why it is not in use, in the words of the service: `inactive`, `archived`, `deleted`. */
const inactive = z.string().exactOptional();

const stage = z.strictObject({ id: z.string().min(1), name: z.string(), inactive });

const pipeline = z.strictObject({
  id: z.string().min(1),
  name: z.string(),
  /** Service interface, section 2.2. Only DEAL pipelines have stages for deals. */
  type: z.enum(['DEAL', 'LEAD']),
  /** In the service's order. A deal without a stage is created in the first one. */
  stages: z.array(stage),
  inactive,
});

const user = z.strictObject({
  id: z.string().min(1),
  /** Every name the service has for the user, without repeats. Several users may have the same name. */
  names: z.array(z.string()),
  email: z.string().exactOptional(),
  inactive,
});

const account = z.strictObject({ pipelines: z.array(pipeline), users: z.array(user) });

/** As stored: the account, its base URL, and when it was read (ISO 8601). */
export const storedAccount = account.extend({ base_url: z.string(), read_at: z.iso.datetime({ offset: true }) });

export type Stage = z.infer<typeof stage>;
export type Pipeline = z.infer<typeof pipeline>;
export type User = z.infer<typeof user>;
export type Account = z.infer<typeof account>;
export type StoredAccount = z.infer<typeof storedAccount>;

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
