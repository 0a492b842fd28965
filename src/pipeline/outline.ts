import type { Invalid, ParentRef, Ready } from '../model.ts';
import type { Known } from './plan.ts';
import { noteOf, type Note } from './profile-note.ts';
import type { Mark } from './profile-shared.ts';
import type { Packer, Unpacker } from './thread/packed.ts';

/** What the survey must know of an event about which there is nothing to tell: all but its values. */
export interface Outline extends Known {
  readonly externalId: string;
  readonly note: Note;
}

/** Undefined where the outline would not do: something is wrong with the event, or it has no id of its own. */
export function outlineOf(event: Ready | Invalid): Outline | undefined {
  if (event.kind === 'invalid' || event.issues.length > 0 || event.omissions.length > 0) return undefined;
  const { type, entry, externalId, parent, sha } = event;
  if (externalId === undefined) return undefined;
  return { type, entry, externalId, ...(parent && { parent }), sha, note: noteOf(event) };
}

const PARENTS = [undefined, 'lead', 'deal'] as const;
const HAS = { email: 1, phone: 2 } as const;

export function packOutline(packer: Packer, { entry, externalId, parent, sha, note }: Outline): void {
  packer.number(entry);
  packer.string(externalId);
  packer.string(sha);
  packer.number(PARENTS.indexOf(parent?.entity));
  if (parent) packer.string(parent.externalId);
  packer.number((note.email === undefined ? 0 : HAS.email) | (note.phone === undefined ? 0 : HAS.phone));
  if (note.email) packMark(packer, note.email);
  if (note.phone) packMark(packer, note.phone);
  packer.number(note.bare);
}

/** `types`: of the mapping's entries. */
export function unpackOutline(unpacker: Unpacker, types: readonly Ready['type'][]): Outline {
  const entry = unpacker.number();
  const externalId = unpacker.string();
  const sha = unpacker.string();
  const entity = PARENTS[unpacker.number()];
  const parent: ParentRef | undefined = entity && { entity, externalId: unpacker.string() };
  const has = unpacker.number();
  const email = (has & HAS.email) === 0 ? undefined : unpackMark(unpacker);
  const phone = (has & HAS.phone) === 0 ? undefined : unpackMark(unpacker);
  const note = { email, phone, bare: unpacker.number() };
  return { type: types[entry]!, entry, externalId, ...(parent && { parent }), sha, note };
}

function packMark(packer: Packer, mark: Mark): void {
  packer.number(mark[0]);
  packer.number(mark[1]);
}

function unpackMark(unpacker: Unpacker): Mark {
  return [unpacker.number(), unpacker.number()];
}
