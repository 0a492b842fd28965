import type { JsonObject } from '../json.ts';
import { isUpdate, type Sendable } from '../model.ts';
import type { Account } from '../service/account.ts';
import { COMPARED, textOf, type Checked } from '../compare/fields.ts';

/** What the service should show for a field, and the value of the event that determines it. */
export interface Expected {
  readonly value: string;
  readonly sent: string;
}

/** In the order of `COMPARED`; undefined where the mapping sends no value. */
export type ExpectedFields = readonly (Expected | undefined)[];

/** `sent` only where it is not `value`. */
type Packed = readonly ([value: string, sent?: string] | 0)[];

/**
 * The expected fields of all records of one entity, according to the plan: those of the created event, overlaid with the
 * updates in order. Each record is kept as one short text to save memory: a million records, together with what the
 * checkpoint contains about them, take 0.6 GB.
 */
export class Expectations {
  readonly #entity: Checked;
  /** Pipeline ids by stage id, the latter in lower case. */
  readonly #stagePipelines: ReadonlyMap<string, string>;
  readonly #records = new Map<string, { created: string | undefined; updates: string | undefined }>();

  constructor(entity: Checked, account: Account) {
    this.#entity = entity;
    this.#stagePipelines = new Map(
      account.pipelines.flatMap(({ id, stages }) =>
        stages.map((stage): [string, string] => [stage.id.toLowerCase(), id]),
      ),
    );
  }

  add(event: Sendable, externalId: string): void {
    const record = this.#records.get(externalId) ?? { created: undefined, updates: undefined };
    const packed = this.#pack(event.data);
    if (isUpdate(event.type)) record.updates = JSON.stringify(overlay(unpack(record.updates), packed));
    else record.created = JSON.stringify(packed);
    this.#records.set(externalId, record);
  }

  get(externalId: string): ExpectedFields | undefined {
    const record = this.#records.get(externalId);
    if (!record) return undefined;
    return overlay(unpack(record.created), unpack(record.updates)).map((field) =>
      field === 0 ? undefined : { value: field[0], sent: field[1] ?? field[0] },
    );
  }

  *externalIds(): Generator<string> {
    yield* this.#records.keys();
  }

  #pack(data: JsonObject): Packed {
    return COMPARED[this.#entity].map(({ name, sent }) => {
      const text = textOf(data[sent]);
      const value = name === 'pipeline' && text !== undefined ? this.#stagePipelines.get(text.toLowerCase()) : text;
      return value === undefined || text === undefined ? 0 : value === text ? [value] : [value, text];
    });
  }
}

function unpack(text: string | undefined): Packed {
  return text === undefined ? [] : (JSON.parse(text) as Packed);
}

function overlay(below: Packed, above: Packed): Packed {
  const longer = below.length > above.length ? below : above;
  return longer.map((_, index) => above[index] || below[index] || 0);
}
