/**
 * The pipelines and users of one account, as last read from the service. Names in the mapping are resolved against
 * them. A survey stores them in its plan, for `--offline` and for the sandbox.
 */

interface AccountItem {
  readonly id: string;
  /** Why it is not in use, in the words of the service: `inactive`, `archived`, `deleted`. */
  readonly inactive?: string;
}

export interface Stage extends AccountItem {
  readonly name: string;
}

export interface Pipeline extends AccountItem {
  readonly name: string;
  /** Service interface, section 2.2. Only DEAL pipelines have stages for deals. */
  readonly type: 'DEAL' | 'LEAD';
  /** In the service's order. A deal without a stage is created in the first one. */
  readonly stages: readonly Stage[];
}

export interface User extends AccountItem {
  /** Every name the service has for the user, without repeats. Several users may have the same name. */
  readonly names: readonly string[];
  readonly email?: string;
}

export interface Account {
  readonly pipelines: readonly Pipeline[];
  readonly users: readonly User[];
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
