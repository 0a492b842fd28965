import { STAGED } from '../../kinds/index.ts';
import type { Account } from '../../service/account.ts';
import { counted } from '../../terminal/numbers.ts';
import type { Database } from '../../store/sqlite.ts';
import { addProblem } from '../problems.ts';
import { issueOf } from '../../vocabulary/words.ts';

/** Warns of deals that are to be sent to users whom the service shows as inactive or deleted, with their names. */
export function warnOfInactiveOwners(db: Database, account: Account | undefined): void {
  const inactive = new Map(
    (account?.users ?? []).filter((user) => user.inactive !== undefined).map((user) => [user.id, user]),
  );
  if (inactive.size === 0) return;
  const owners = db.all<{ id: string; count: number }>(
    `select json_extract(data, '$.owner_id') as id, count(*) as count from event
     where entity = '${STAGED}' and data is not null and state in ('ready', 'retry') and json_extract(data, '$.owner_id') in (select value from json_each(?))
     group by 1 order by 2 desc, 1`,
    JSON.stringify([...inactive.keys()]),
  );
  if (owners.length === 0) return;
  const names = owners.map(({ id, count }) => {
    const {
      names: [name = id],
      inactive: why,
    } = inactive.get(id)!;
    return `\`${name}\` (${why}, ${counted(count, STAGED)})`;
  });
  const count = owners.reduce((sum, owner) => sum + owner.count, 0);
  addProblem(db, { count }, { ...issueOf('inactive_owner', names), field: 'owner_id' });
}
