/** Mistakes in the core that its histories must notice: a text of the source, and what is put in its place. */
export interface Mistake {
  readonly name: string;
  readonly file: 'known' | 'next';
  readonly right: string;
  readonly wrong: string;
}

export const MISTAKES: readonly Mistake[] = [
  {
    name: '`deduplicated` means the present content',
    file: 'known',
    right: `return { ...made, fields: possible };`,
    wrong: `return { ...made, fields: certain(request.fields) };`,
  },
  {
    name: 'a record of a lost state is as it was sent',
    file: 'known',
    right: `isShown(field) ? union(set, UNKNOWN) : set`,
    wrong: `set`,
  },
  {
    name: 'a request without an answer has set nothing',
    file: 'known',
    right: `if (answer.kind === 'none') return opened(before, request);`,
    wrong: `if (answer.kind === 'none') return before;`,
  },
  {
    name: 'a request without an answer has set what it sent',
    file: 'known',
    right: `fields[field] = union(valuesOf(known, field), value);`,
    wrong: `fields[field] = [value];`,
  },
  {
    name: 'the id of the first request to create a record is forgotten',
    file: 'next',
    right: `{ kind: 'create', id: known.create?.id, fields: all(wanted) }`,
    wrong: `{ kind: 'create', fields: all(wanted) }`,
  },
  {
    name: 'a refused update has set its fields',
    file: 'known',
    right: `  return before;\n}\n\n/** A field as`,
    wrong: `  return { ...before, fields: { ...before.fields, ...certain(before.open?.fields ?? {}) } };\n}\n\n/** A field as`,
  },
  {
    name: 'values that only look alike count as the same',
    file: 'next',
    right: `if (set.length === 1 && set[0] === value) return`,
    wrong: `if (set.length === 1 && (set[0] === value || isAlike(set[0]!, value))) return`,
  },
  {
    name: 'emptied fields are not looked for',
    file: 'next',
    right: `verdicts.set(field, 'emptied');`,
    wrong: `continue;`,
  },
  {
    name: 'edits are not looked for',
    file: 'next',
    right: `if (isShown && shown === undefined) return 'unread';`,
    wrong: ``,
  },
  {
    name: 'a value that was read back is taken for ours',
    file: 'known',
    right: `else if (isOpen) delete fields[field];`,
    wrong: `else fields[field] = [what.hash];`,
  },
  {
    name: 'only the changed keys of custom fields go out',
    file: 'next',
    right: `[...wanted.fields].filter(([field]) => wholes.has(wholeOf(field)))`,
    wrong: `[...wanted.fields].filter(([field]) => toSend.includes(field))`,
  },
  {
    name: 'a key that custom fields no longer have is gone',
    file: 'known',
    right: `if (isLeftOut) fields[field] = union(valuesOf(known, field), ABSENT);`,
    wrong: `if (isLeftOut) fields[field] = [ABSENT];`,
  },
  {
    name: 'a record that is there already was made by us',
    file: 'known',
    right: `return { exists: 'yes', whose: 'other', fields: others ?? {} };`,
    wrong: `return { exists: 'yes', whose: 'ours', fields: {} };`,
  },
  {
    name: 'an older state knows what the service has',
    file: 'known',
    right: `[field, union(set, UNKNOWN)]`,
    wrong: `[field, set]`,
  },
];
