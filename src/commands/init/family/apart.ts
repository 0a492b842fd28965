/** Entries of several exports of one structure, which were decided as one: an entry for each of them. */
import type { LookupSpec, TransformSpec } from '../../../mapping/spec.ts';
import type { Table } from '../columns.ts';
import { keyOf, NONE } from '../evidence.ts';
import type { Family } from '../open-export.ts';
import { plainComment, readsOf, withLines, withPaths, type Entry, type Line } from '../lines/yaml.ts';

/** The tables of each export, with what was found out about all. */
export function apartTables(tables: readonly Table[]): Table[] {
  return tables.flatMap((table) => {
    const { members, nouns, unusedDeal, settled } = table;
    // Groups of columns are records only in the drafts.
    if (table.groups) return [];
    if (!members) return [table];
    return members
      .flatMap((each) => each ?? [])
      .map((each) => {
        for (const what of settled) each.settled.add(what);
        return Object.assign(each, { nouns, ...(unusedDeal !== undefined && { unusedDeal }) });
      });
  });
}

/** `tables`: those of all exports, where each family is one. */
export function apartEntries(entries: readonly Entry[], tables: readonly Table[]): Entry[] {
  return entries.flatMap((entry) => {
    const { table } = entry;
    if (!table.members) return [withLines(entry, (line) => ({ ...line, value: new Apart(tables).value(line.value) }))];
    return table.members.flatMap((member, at) => entryFor(entry, member, new Apart(tables, table, at)) ?? []);
  });
}

/** Undefined if the export has no such list, or no column of the texts. */
function entryFor(entry: Entry, member: Table | undefined, apart: Apart): Entry | undefined {
  if (!member) return undefined;
  const own = { ...entry, table: member, source: member.source };
  const content = entry.data.find(({ key }) => key === 'content');
  if (content && !content.off && apart.value(content.value) === undefined) return undefined;
  // Reasons were counted over all exports.
  const lines = withLines(own, ({ skips, ...line }) => ({
    ...apart.line(line),
    ...(skips && { skips: skips.map(({ why }) => ({ why })) }),
  }));
  return {
    ...lines,
    settings: lines.settings.filter(({ key, value }) => key !== 'priority' || [...readsOf(value)].length > 0),
    custom: lines.custom.filter(({ value }) => value !== NONE),
  };
}

/** What values are in one of the exports of a family; of another entry, only what it looks up in one. */
class Apart {
  readonly #tables: readonly Table[];
  readonly #family: Family | undefined;
  readonly #table: Table | undefined;
  readonly #at: number;

  constructor(tables: readonly Table[], table?: Table, at = 0) {
    this.#tables = tables;
    this.#table = table;
    this.#family = table?.from.family;
    this.#at = at;
  }

  line(line: Line): Line {
    const { named, renumbered } = this.#family!;
    const value = line.key === 'each' ? line.value : this.value(line.value);
    if (value === undefined) return { ...line, value: NONE, off: true, comment: 'this export has no such column' };
    const reads = (name: string): boolean => JSON.stringify(line.value).includes(JSON.stringify(name));
    if (named && reads(named.column)) {
      const why = `the name of this ${named.column.slice(1, -1)}`;
      const comment = line.off
        ? line.comment
        : line.key in ROLES
          ? `check: ${why}, because no column has ${ROLES[line.key]!}`
          : why;
      return { ...line, value, comment };
    }
    if (renumbered === undefined || !/(?:^|_)external_id$/.test(line.key) || !reads(renumbered))
      return { ...line, value };
    const comment = `check: each export numbers its own records, so the ids get a prefix; ${plainComment(line)}`;
    return { ...line, value: prefixed(value, this.#prefix()), comment };
  }

  #prefix(at = this.#at, table = this.#table!): string {
    const { members } = table;
    return `${keyOf(members![at]!.source)}-`;
  }

  /** Undefined if it reads only columns that this export lacks. */
  value(value: unknown): unknown {
    return withPaths(
      value,
      (path) => this.#column(path),
      (spec) => this.#lookups(spec),
    );
  }

  /** A column of this export; the name of the export itself is a constant. */
  #column(path: string): unknown {
    const { named } = this.#family ?? {};
    const plain = path.replace(/^(?:\$|\.)\./, '');
    if (named && plain === named.column) return { value: named.names[this.#at]! };
    return !this.#table || this.#has(this.#table, this.#at, plain) ? path : undefined;
  }

  /** What all of the exports lack is a path for something else. */
  #has(table: Table, at: number, path: string): boolean {
    const hasPath = (each: Table | undefined): boolean =>
      [each, each?.parent].some((one) =>
        one?.columns.some(({ name }) => name === path || name.startsWith(`${path}.`) || name.startsWith(`${path}[`)),
      );
    return !hasPath(table) || hasPath(table.members?.[at]);
  }

  /** In all exports of a family, one after the other. */
  #lookups({ lookup, ...rest }: Record<string, unknown>): unknown {
    const spec = lookup as LookupSpec;
    const other = this.#tables.find((each) => each.source === spec.source && each.list === undefined);
    if (!other?.members) return { lookup: { ...spec, take: new Apart(this.#tables).value(spec.take) }, ...rest };
    const found = other.members.flatMap((member, at) => {
      const own = new Apart(this.#tables, other, at);
      const [its, taken] = [own.value(spec.match), own.value(spec.take)];
      if (!member || its === undefined || taken === undefined) return [];
      const { renumbered } = other.from.family!;
      const id = taken === renumbered ? prefixed(taken, own.#prefix(at, other)) : taken;
      return [{ ...spec, source: member.source, match: its, take: id }];
    });
    const from = found.map((each, at) => ({ lookup: at < found.length - 1 ? { ...each, if_missing: 'skip' } : each }));
    return { from, ...rest };
  }
}

/** What the name of a file or sheet may stand for. */
const ROLES: Readonly<Record<string, string>> = {
  stage_name: 'the stage',
  stage_pipeline: 'the pipeline',
  owner_name: 'the owner',
  author_name: 'the author',
};

function prefixed(value: unknown, prefix: string): unknown {
  if (typeof value !== 'object' || value === null) return { from: value, apply: [{ prefix }] };
  const { apply = [], ...rest } = value as { apply?: readonly TransformSpec[] };
  return { ...rest, apply: [...apply, { prefix }] };
}
