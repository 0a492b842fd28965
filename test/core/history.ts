/** Histories of one record, with nothing real: exports of some days, runs that are disturbed, and a service that keeps its rules. */
import type * as KnownModule from '../../src/core/known.ts';
import type * as NextModule from '../../src/core/next.ts';

/** The core under test: the real one, or one with a mistake in it. */
export type Core = typeof KnownModule & typeof NextModule;
type Known = KnownModule.Known;
type Body = KnownModule.Body;
type Wanted = NextModule.Wanted;

/** Shown are `a` and `b`; `c.x` and `c.y` are custom fields. */
const FIELDS = ['a', 'b', 'c.x', 'c.y'] as const;
const isShown = (field: string): boolean => !field.startsWith('c.');
/** `p` and `P` are the same in their normal form. */
const VALUES = ['p', 'P', 'q'] as const;
/** What a person writes: nobody else does. */
const EDITS = ['edit', 'other edit'] as const;

class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed * 2654435761 + 12345) >>> 0;
    for (let i = 0; i < 4; i += 1) this.next();
  }

  /** From 0 to 1, without 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.next() * items.length)]!;
  }
}

const hashes = new Map<string, string>();
function digits(text: string): string {
  let hash = hashes.get(text);
  if (hash === undefined) {
    hash = (hashes.size + 1).toString(16).padStart(12, '0');
    hashes.set(text, hash);
  }
  return hash;
}
const hashOf = (value: string): string => digits(value) + digits(value.toLowerCase());

interface Stored {
  fields: Map<string, string>;
  madeBy: 'us' | 'somebody';
  /** Fields that a person set last. */
  edited: Set<string>;
}

interface Habits {
  /** Whether an update replaces the custom fields, or adds to them. */
  readonly replacesCustom: boolean;
  readonly lowersCase: boolean;
  /** Shows fields without a value as empty ones, or does not show them. */
  readonly showsForms: boolean;
}

type Reply = { readonly deduplicated: boolean } | 'exists' | 'missing' | 'invalid';

/** Strict creates and updates; ids that are processed once (service interface, sections 3 and 6.3). */
class Service {
  record: Stored | undefined;
  readonly processed = new Set<string>();
  readonly habits: Habits;
  refuses = false;
  /** Then nobody makes it again: that would be another record. */
  isDeleted = false;
  effects = 0;
  violations: string[] = [];
  /** Set by the run: what a person edited must stay. */
  keeps: (field: string) => boolean = () => false;

  constructor(habits: Habits) {
    this.habits = habits;
  }

  receive(id: string, kind: 'create' | 'update', data: ReadonlyMap<string, string>): Reply {
    if (this.processed.has(id)) return { deduplicated: true };
    if (this.refuses) return 'invalid';
    if (kind === 'create') {
      if (this.record) return 'exists';
      this.record = { fields: new Map(this.#stored(data)), madeBy: 'us', edited: new Set() };
    } else {
      if (!this.record) return 'missing';
      this.#update(this.record, data);
    }
    this.processed.add(id);
    this.effects += 1;
    return { deduplicated: false };
  }

  #update(record: Stored, data: ReadonlyMap<string, string>): void {
    const hasCustom = [...data.keys()].some((field) => field.startsWith('c.'));
    if (this.habits.replacesCustom && hasCustom) {
      for (const field of [...record.fields.keys()]) if (field.startsWith('c.')) record.fields.delete(field);
    }
    for (const [field, value] of this.#stored(data)) {
      if (record.edited.has(field) && record.fields.get(field) !== value && this.keeps(field)) {
        this.violations.push(`an edit of ${field} was overwritten`);
      }
      record.fields.set(field, value);
      record.edited.delete(field);
    }
  }

  *#stored(data: ReadonlyMap<string, string>): Generator<[string, string]> {
    for (const [field, value] of data) yield [field, this.habits.lowersCase ? value.toLowerCase() : value];
  }

  show(): KnownModule.ShownFields | undefined {
    if (!this.record) return undefined;
    const shown: Record<string, KnownModule.ShownField> = {};
    for (const field of FIELDS.filter(isShown)) {
      const value = this.record.fields.get(field);
      if (value === undefined) shown[field] = { kind: 'empty' };
      else if (this.habits.showsForms && value === 'other edit') shown[field] = { kind: 'not_comparable' };
      else shown[field] = { kind: 'value', hash: hashOf(value) };
    }
    return shown;
  }
}

interface Faults {
  /** The nth thing that happens in the run: kill there. */
  readonly killAt: number;
  readonly losesRequest: number;
  readonly losesAnswer: number;
  readonly refuses: number;
}

const CALM: Faults = { killAt: Infinity, losesRequest: 0, losesAnswer: 0, refuses: 0 };

interface Said {
  readonly verdicts: ReadonlyMap<string, NextModule.Verdict>;
  readonly end: 'done' | 'skipped' | 'rejected' | 'deleted';
}

class Killed extends Error {}

/** What is on disk. */
interface Checkpoint {
  known: Known;
}

/** Plays one history; returns what must not happen. `tell` is called with what happens. */
export function playHistory(core: Core, seed: number, tell: (text: string) => void = () => undefined): string[] {
  const random = new Random(seed);
  const service = new Service({
    replacesCustom: random.chance(0.5),
    lowersCase: random.chance(0.3),
    showsForms: random.chance(0.3),
  });
  const checkpoint: Checkpoint = { known: core.NOTHING_KNOWN };
  let ids = 0;
  let isForgotten = false;
  const violations: string[] = [];
  if (random.chance(0.15)) service.record = someone(random);
  const base = randomWanted(random);
  const days = 1 + Math.floor(random.next() * 4);
  let older = core.NOTHING_KNOWN;
  for (let day = 0; day < days; day += 1) {
    const wanted = day === 0 ? base : randomWanted(random, base);
    tell(`day ${day}: ${wanted.content} ${JSON.stringify(FIELDS.map((field) => wanted.policyOf(field)))}`);
    const runs = Math.floor(random.next() * 3);
    const run = (faults: Faults): Said | undefined => {
      service.keeps = (field) =>
        isShown(field) &&
        !isForgotten &&
        wanted.policyOf(field).ifEdited === 'keep' &&
        service.record?.madeBy === 'us' &&
        EDITS.includes(service.record.fields.get(field) as 'edit');
      try {
        const said = runOnce(core, {
          service,
          checkpoint,
          wanted,
          random,
          faults,
          tell,
          isAdopted: isForgotten,
          newId: () => `id ${(ids += 1)}`,
        });
        tell(`  ends ${said.end} ${JSON.stringify([...said.verdicts])}`);
        return said;
      } catch (error) {
        if (error instanceof Killed) return undefined;
        throw error;
      }
    };
    for (let i = 0; i < runs; i += 1) {
      run({
        killAt: random.chance(0.5) ? Math.floor(random.next() * 8) : Infinity,
        losesRequest: random.pick([0, 0.3]),
        losesAnswer: random.pick([0, 0.5]),
        refuses: random.pick([0, 0, 0.3]),
      });
      if (random.chance(0.25)) disturb(random, service);
      tell(`  service ${service.record ? JSON.stringify([...service.record.fields]) : 'nothing'}`);
    }
    if (random.chance(0.04)) {
      tell('  the state is lost');
      checkpoint.known = core.NOTHING_KNOWN;
      isForgotten = true;
    }
    if (random.chance(0.04)) {
      tell('  an older state is put back');
      checkpoint.known = core.doubted(older);
      isForgotten = true;
    } else older = checkpoint.known;
    // What is uncertain meets another export only where no calm run has settled it before.
    if (day + 1 < days && random.chance(0.5)) continue;
    const said = run(CALM)!;
    violations.push(...judge(service, wanted, said, isForgotten));
    const effects = service.effects;
    const again = run(CALM)!;
    if (service.effects > effects) violations.push('a second calm run sent something');
    violations.push(...judge(service, wanted, again, isForgotten));
    violations.push(...service.violations);
    if (violations.length > 0) return violations.map((text) => `day ${day}: ${text}`);
    if (random.chance(0.3)) disturb(random, service);
  }
  return [];
}

function someone(random: Random): Stored {
  const fields = new Map<string, string>();
  for (const field of FIELDS) if (random.chance(0.5)) fields.set(field, random.pick(['somebody', 'q']));
  return { fields, madeBy: 'somebody', edited: new Set(fields.keys()) };
}

/** What people do in the service between two runs. */
function disturb(random: Random, service: Service): void {
  const { record } = service;
  if (service.isDeleted) return;
  if (!record) {
    if (random.chance(0.3)) service.record = someone(random);
    return;
  }
  if (random.chance(0.06)) {
    service.record = undefined;
    service.isDeleted = true;
    return;
  }
  const field = random.pick(FIELDS);
  record.edited.add(field);
  if (random.chance(0.2)) record.fields.delete(field);
  else record.fields.set(field, random.pick([...EDITS, ...VALUES]));
}

interface TestWanted extends Wanted {
  readonly values: ReadonlyMap<string, string>;
}

function randomWanted(random: Random, before?: TestWanted): TestWanted {
  const values = new Map<string, string>();
  for (const field of FIELDS) {
    const keeps = before && random.chance(0.5);
    const value = keeps ? before.values.get(field) : random.pick([...VALUES, undefined]);
    if (value !== undefined) values.set(field, value);
  }
  const isSame = before !== undefined && random.chance(0.8);
  const mode = isSame ? before.mode : random.pick(['create', 'create', 'create', 'update'] as const);
  const policies = new Map(
    FIELDS.map((field) => [
      field,
      {
        ifChanged: random.pick(['update', 'update', 'update', 'report', 'ignore'] as const),
        ifEdited: random.pick(['keep', 'overwrite'] as const),
      },
    ]),
  );
  return {
    mode,
    values,
    content: `${mode} ${JSON.stringify([...values])}`,
    fields: new Map([...values].map(([field, value]) => [field, hashOf(value)])),
    ifExists: random.pick(['reject', 'skip', 'update'] as const),
    ifMissing: random.pick(['reject', 'skip', 'create'] as const),
    policyOf: (field) => policies.get(field as 'a')!,
  };
}

interface RunJob {
  readonly service: Service;
  readonly checkpoint: Checkpoint;
  readonly wanted: TestWanted;
  readonly random: Random;
  readonly faults: Faults;
  readonly newId: () => string;
  readonly isAdopted: boolean;
  readonly tell: (text: string) => void;
}

/** One run about the record, as the sender does it: next, commit `opened`, request, commit `answered`, until nothing is left. */
function runOnce(core: Core, { service, checkpoint, wanted, random, faults, newId, isAdopted, tell }: RunJob): Said {
  let shown: KnownModule.ShownFields | undefined;
  let moment = 0;
  const mayDie = (): void => {
    if ((moment += 1) > faults.killAt) throw new Killed();
  };
  let refused: string | undefined;
  for (let turn = 0; turn < 12; turn += 1) {
    const before = checkpoint.known;
    const { step, verdicts } = core.next(wanted, before, isShown, shown);
    if (step.kind === 'end') return { verdicts, end: step.skipped ? 'skipped' : 'done' };
    if (step.kind === 'read') {
      shown = service.show();
      if (!shown) return { verdicts, end: 'deleted' };
      mayDie();
      checkpoint.known = core.seen(before, wanted.fields, shown);
      continue;
    }
    const request = { kind: step.kind, id: step.id ?? idOf(step, newId), fields: step.fields };
    // An update has a new id each time.
    const name = step.kind === 'update' ? 'update' : request.id;
    if (name === refused) return { verdicts, end: 'rejected' };
    mayDie();
    checkpoint.known = core.opened(before, request);
    mayDie();
    const answer = send(service, request, wanted, random, faults);
    tell(`  ${request.kind} ${request.id} ${JSON.stringify(Object.keys(request.fields))}: ${JSON.stringify(answer)}`);
    mayDie();
    checkpoint.known = core.answered(before, request, answer, { content: wanted.content, isShown, isAdopted });
    mayDie();
    if (answer.kind === 'none') return { verdicts, end: 'rejected' };
    refused = answer.kind === 'refused' ? name : undefined;
    if (answer.kind === 'refused' && answer.why === 'other') return { verdicts, end: 'rejected' };
  }
  service.violations.push('a run about the record does not come to an end');
  return { verdicts: new Map(), end: 'rejected' };
}

/** A create's id follows from its content, so that it is the same for who has lost the state. */
function idOf(step: { readonly kind: string; readonly fields: Body }, newId: () => string): string {
  return step.kind === 'create' ? `create ${JSON.stringify(Object.entries(step.fields).sort())}` : newId();
}

function send(
  service: Service,
  { id, kind, fields }: KnownModule.Request,
  wanted: TestWanted,
  random: Random,
  faults: Faults,
): KnownModule.RequestEnd {
  const data = new Map(Object.keys(fields).map((field) => [field, wanted.values.get(field)!]));
  let mayHaveArrived = false;
  for (let attempt = 0; attempt < 3; attempt += 1) {
    if (random.chance(faults.losesRequest)) continue;
    service.refuses = random.chance(faults.refuses);
    const reply = service.receive(id, kind, data);
    if (random.chance(faults.losesAnswer)) {
      mayHaveArrived = true;
      continue;
    }
    if (typeof reply === 'object') {
      return { kind: 'acknowledged', deduplicated: reply.deduplicated, mayHaveArrived, serviceId: 'S' };
    }
    return { kind: 'refused', why: reply === 'invalid' ? 'other' : reply };
  }
  return { kind: 'none' };
}

/** The service has what the input wants, or the field is reported, or a person or a policy has said that it may differ. */
function judge(service: Service, wanted: TestWanted, said: Said, isForgotten: boolean): string[] {
  const { record } = service;
  const violations: string[] = [];
  if (said.end === 'rejected') {
    const hasCause = wanted.mode === 'create' ? record !== undefined || service.isDeleted : true;
    return hasCause ? [] : ['rejected without a cause'];
  }
  if (said.end === 'deleted') return record ? ['called deleted, although it is there'] : [];
  if (said.end === 'skipped') return [];
  if (!record) return [];
  const same = (one: string | undefined, other: string | undefined): boolean =>
    // Of a record that was there already, nobody knows in which form the service shows a value.
    service.habits.lowersCase || record.madeBy === 'somebody' || isForgotten
      ? one?.toLowerCase() === other?.toLowerCase()
      : one === other;
  for (const [field, value] of wanted.values) {
    const verdict = said.verdicts.get(field);
    const { ifChanged, ifEdited } = wanted.policyOf(field);
    const isRight = same(record.fields.get(field), value);
    if (verdict === 'ignored' && ifChanged !== 'ignore') violations.push(`${field} is ignored without a policy`);
    if (verdict === 'sent' || verdict === 'overwritten') violations.push(`${field} is left to be sent`);
    if (verdict === 'kept' && (ifEdited !== 'keep' || ifChanged !== 'update'))
      violations.push(`${field} is kept without a policy`);
    if (verdict === 'kept' && !record.edited.has(field) && !isForgotten)
      violations.push(`an edit of ${field} is invented`);
    if (verdict === 'uncertain' && ifChanged === 'update')
      violations.push(`${field} stays uncertain, although it may be sent`);
    const isAlike = record.fields.get(field)?.toLowerCase() === value.toLowerCase();
    if (verdict === 'uncertain' && isShown(field) && !isAlike)
      violations.push(`${field} is uncertain, although it is shown`);
    if (isRight || (verdict !== undefined && verdict !== 'edited') || record.edited.has(field)) continue;
    if (isForgotten && !isShown(field)) continue;
    violations.push(`${field} is ${record.fields.get(field) ?? 'empty'}, not ${value}, and nobody says so`);
  }
  for (const [field, value] of record.fields) {
    if (wanted.values.has(field) || record.edited.has(field) || isForgotten) continue;
    if (said.verdicts.get(field) === 'emptied' || wanted.policyOf(field).ifChanged === 'ignore') continue;
    violations.push(`${field} still is ${value}, and the input no longer has it`);
  }
  for (const [field, verdict] of said.verdicts) {
    if (verdict !== 'emptied' || !isShown(field)) continue;
    if (record.fields.get(field) === 'somebody')
      violations.push(`${field} is called emptied, although only somebody else has set it`);
    if (!record.fields.has(field)) violations.push(`${field} is called emptied, although the service has no value`);
  }
  return violations;
}
