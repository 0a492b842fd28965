/** Plays a history: the days with their disturbed runs, then undisturbed runs until nothing is left to send. */
import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Corrections } from './corrections.ts';
import { writeDay } from './exports.ts';
import { policiesOn, QUIET, type Act, type Day, type History, type Run } from './history.ts';
import { judgeCounts, judgeTold, judgeTruth, judgeVerification, type Scene } from './oracle.ts';
import type { Program, RunResult } from './program.ts';
import { Service, SOMEBODYS, type Value } from './service.ts';
import { beginTime, generator, Hangs, passTime } from './time.ts';

/** Where nothing is written to a disk, so that a commit costs nothing. */
const MEMORY = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

const STATE = '.backfill';
const KEPT_STATE = '.backfill-kept';
const CHECKPOINT = 'simulated/checkpoint.db';

/** Undisturbed runs until one sends nothing. */
const MOST_RUNS_TO_FINISH = 6;

export interface Played {
  /** What should not have happened; empty if the history is as it must be. */
  readonly violations: readonly string[];
  readonly runs: number;
  /** What happened, line by line. */
  readonly story: readonly string[];
}

export async function play(program: Program, history: History): Promise<Played> {
  const cwd = mkdtempSync(join(MEMORY, 'crm-backfill-simulate-'));
  try {
    return await new Stage(program, history, cwd).play();
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

class Stage {
  readonly #program: Program;
  readonly #history: History;
  readonly #cwd: string;
  readonly #service: Service;
  readonly #random: () => number;
  readonly #story: string[] = [];
  #runs = 0;
  #edits = 0;
  readonly #deleted = new Set<string>();
  readonly #corrections: Corrections;
  /** The first request arrived twice, and the program says that it can go on with --adopt: so does a person then. */
  #adopts = false;
  /** The state directory was purged, lost, or replaced by an older one. */
  #isForgotten = false;
  /** Only the checkpoint is, and the plan beside it shows that. */
  #isBehind = false;
  /** Not only purged. */
  #isUnknown = false;

  constructor(program: Program, history: History, cwd: string) {
    this.#program = program;
    this.#history = history;
    this.#cwd = cwd;
    this.#service = new Service(history.habits);
    this.#corrections = new Corrections(cwd);
    this.#random = generator(history.seed);
    const { lead, deal } = history.mapping;
    const all = [lead, deal, ...history.days.map(({ policies }) => policies)];
    this.#service.mayOverwrite = all.some((each) => each?.if_edited === 'overwrite');
  }

  async play(): Promise<Played> {
    const { days, somebodys } = this.#history;
    beginTime(this.#history.seed);
    for (const id of somebodys) this.#addSomebodys(id);
    const violations: string[] = [];
    try {
      for (const [at, day] of days.entries()) violations.push(...(await this.#playDay(at, day)));
      violations.push(...(await this.#finish(days.length)));
    } catch (error) {
      violations.push(error instanceof Hangs ? error.message : `internal error: ${(error as Error).stack}`);
    }
    return { violations: [...this.#service.violations, ...violations], runs: this.#runs, story: this.#story };
  }

  #addSomebodys(id: string): void {
    const entity = id.startsWith('L') ? 'lead' : 'deal';
    const name = entity === 'lead' ? 'full_name' : 'title';
    this.#service.addForeign(entity, id, { [name]: SOMEBODYS });
  }

  async #playDay(at: number, { runs, acts, foreign, state }: Day): Promise<string[]> {
    this.#begin(at);
    if (state) await this.#loseState(state);
    if (['older', 'behind'].includes(this.#history.days[at + 1]?.state ?? '')) this.#keepState();
    this.#service.foreign = foreign;
    const violations: string[] = [];
    for (const run of runs) {
      if (foreign > 0 || run.weather.clock) this.#service.mayExceed = true;
      const result = await this.#run(run);
      violations.push(...this.#judge(result, run, at));
      passTime(run.pauseMs);
    }
    this.#service.foreign = 0;
    for (const act of acts) this.#act(act);
    return violations;
  }

  /** The exports and the mapping of a day. */
  #begin(at: number): void {
    writeDay(this.#cwd, this.#history, at);
    const { comment } = this.#history.mapping;
    const policies = { deal: policiesOn(this.#history, at, 'deal'), comment };
    this.#service.mayLackParents = (['deal', 'comment'] as const).filter(
      (entity) => this.#deleted.size > 0 || policies[entity].if_parent_missing === 'send',
    );
  }

  async #loseState(state: NonNullable<Day['state']>): Promise<void> {
    const [present, kept] = [join(this.#cwd, STATE), join(this.#cwd, KEPT_STATE)];
    if (state === 'behind' && !existsSync(join(kept, CHECKPOINT))) return;
    this.#tell(`the state directory is ${state}`);
    this.#isBehind = state === 'behind' && !this.#isForgotten;
    this.#isForgotten = true;
    if (state === 'purged') {
      if (existsSync(present)) await this.#program.purge(this.#cwd);
      return;
    }
    if (state === 'behind') putBackCheckpoint(present, kept);
    else rmSync(present, { recursive: true, force: true });
    if (state === 'older' && existsSync(kept)) renameSync(kept, present);
    this.#isUnknown = true;
    this.#service.mayOverwrite = true;
    this.#service.mayExceed = true;
  }

  #keepState(): void {
    const [present, kept] = [join(this.#cwd, STATE), join(this.#cwd, KEPT_STATE)];
    if (existsSync(present)) cpSync(present, kept, { recursive: true });
  }

  async #finish(at: number): Promise<string[]> {
    this.#begin(at);
    passTime(86_400_000);
    let wasCalm = false;
    for (let count = 0; count < MOST_RUNS_TO_FINISH; count += 1) {
      const before = this.#service.accepted;
      const result = await this.#run(QUIET);
      const violations = this.#judge(result, QUIET, at);
      if (result.kind !== 'ended') return [...violations, `an undisturbed run is refused: ${messageOf(result)}`];
      if (violations.length > 0) return violations;
      // A comment under the id of a combined one is refused by us: the service acknowledges it without any effect, in every run.
      const refused = result.summary.errors_by_code.already_combined ?? 0;
      const isCalm = this.#service.accepted - before === refused;
      const needless = isCalm ? this.#judge(result, QUIET, at, true) : [];
      // What was uncertain before this run may be reported by it, but not by the next one.
      if (isCalm && (wasCalm || needless.length === 0)) return [...needless, ...(await this.#verify(result, at))];
      wasCalm = isCalm;
      passTime(QUIET.pauseMs);
    }
    return ['runs without end: each sends something'];
  }

  /** Everything that can be said after this run. `isCalm`: it had nothing left to send. */
  #judge(result: RunResult, run: Run, day: number, isCalm = false): string[] {
    if (result.kind !== 'ended') return [];
    const { summary } = result;
    const isWhole =
      summary.exit.code <= 1 && !run.dryRun && [run.pilot, run.pick, run.only].every((chosen) => chosen === undefined);
    if (!isWhole) return judgeCounts(summary);
    return [...judgeCounts(summary), ...judgeTruth(this.#scene(result, day, isCalm))];
  }

  /** What `verify` finds after all of it. */
  async #verify(result: Extract<RunResult, { kind: 'ended' }>, day: number): Promise<string[]> {
    const found = await this.#program.verify(this.#service, this.#cwd, this.#random);
    return found ? judgeVerification(this.#scene(result, day, true), found) : [];
  }

  #scene({ summary, troubles }: Extract<RunResult, { kind: 'ended' }>, day: number, isCalm: boolean): Scene {
    return {
      ...{ history: this.#history, day, service: this.#service, program: this.#program, cwd: this.#cwd, summary },
      deleted: this.#deleted,
      corrections: this.#corrections,
      isCalm,
      isForgotten: this.#isForgotten,
      isBehind: this.#isBehind,
      hasTrouble: troubles.some((message) => message.includes('cannot')),
    };
  }

  async #run(run: Run): Promise<RunResult> {
    this.#runs += 1;
    if (run.fixes) this.#corrections.collect();
    this.#corrections.write();
    const { weather, ending, concurrency, maxOutage } = run;
    const options = {
      ...(this.#adopts ? { adopt: true } : {}),
      concurrency: String(concurrency),
      maxOutage,
      ...(run.dryRun ? { dryRun: true } : {}),
      ...(run.pilot === undefined ? {} : { pilot: String(run.pilot) }),
      ...(run.pick === undefined || run.pilot !== undefined ? {} : { pick: [run.pick] }),
      ...(run.only === undefined ? {} : { only: run.only }),
      ...(run.rate === undefined ? {} : { rate: `${run.rate}/60s` }),
    };
    this.#service.beginRun(run.rate);
    const plan = run.approves && !run.dryRun ? await this.#approve(options) : undefined;
    const before = this.#service.log.length;
    const spec = { options: { ...options, ...(plan === undefined ? {} : { plan }) }, weather, ending };
    const result = await this.#program.run(this.#service, this.#cwd, spec, this.#random);
    if (result.kind === 'refused' && result.message.startsWith('the plan has the digest'))
      this.#service.violations.push(`the plan is not that of the dry run: ${result.message}`);
    if (result.kind === 'ended' && result.summary.exit.reason === 'unknown_history') {
      if (!this.#isUnknown && !this.#isRepeated())
        this.#service.violations.push('the program does not know its own requests');
      this.#adopts = true;
      this.#isForgotten = true;
      this.#isBehind = false;
      // What was adopted was not read: the program cannot know what a person has edited in it.
      this.#service.mayOverwrite = true;
    }
    if (result.kind === 'refused' && result.message.includes('is older than plan.db')) {
      if (!this.#isUnknown) this.#service.violations.push(`the checkpoint is said to be older: ${result.message}`);
      this.#tell(`  ${messageOf(result)}`);
      this.#adopts = true;
      return this.#run(run);
    }
    if (!run.dryRun && !this.#adopts) this.#judgeCheckpoint();
    const told = this.#program.told(this.#cwd);
    const summary = result.kind === 'ended' && !run.dryRun ? result.summary : undefined;
    if (told)
      this.#service.violations.push(
        ...judgeTold(told, { service: this.#service, summary, isForgotten: this.#isForgotten }),
      );
    this.#tell(`run ${JSON.stringify({ ...spec.options, ...weather, ending })}`);
    for (const { type, data, id } of this.#service.log.slice(before))
      this.#tell(`  applied ${type} ${JSON.stringify(data)} (${id.slice(0, 15)})`);
    this.#tell(`  ${messageOf(result)}`);
    return result;
  }

  /** The digest of the plan that a dry run shows. */
  async #approve(options: Readonly<Record<string, unknown>>): Promise<string | undefined> {
    const spec = { options: { ...options, dryRun: true }, weather: QUIET.weather, ending: undefined };
    const result = await this.#program.run(this.#service, this.#cwd, spec, this.#random);
    return result.kind === 'ended' ? (result.summary.plan?.digest ?? undefined) : undefined;
  }

  /** A request arrives twice: the program takes the first answer for that of another state directory, and forgets the run. */
  #isRepeated(): boolean {
    const faults = this.#history.days.flatMap(({ runs }) => runs.flatMap((each) => each.weather.faults));
    return faults.some(({ kind }) => kind === 'twice');
  }

  /** Every event that arrived has its row: it was committed before the request went out. */
  #judgeCheckpoint(): void {
    // A kill before that may have left a checkpoint without tables.
    if (this.#service.arrived.size === 0) return;
    const path = join(this.#cwd, '.backfill/simulated/checkpoint.db');
    const rows = this.#program.read(path, 'checkpoint', (db) => db.all<{ id: string }>('select id from request')) ?? [];
    if (rows.length === 0 && (this.#isUnknown || this.#isRepeated())) {
      this.#isForgotten = true;
      return;
    }
    const known = new Set(rows.map(({ id }) => id));
    for (const id of this.#service.arrived) {
      if (!known.has(id))
        this.#service.violations.push(`the checkpoint does not know the request ${id}, which has arrived`);
    }
  }

  #act({ kind, nth, field }: Act): void {
    const shown = this.#service.records.filter(({ entity }) => entity !== 'comment');
    const record = shown[nth % Math.max(1, shown.length)];
    if (!record) return;
    if (kind === 'delete') {
      this.#tell(`somebody deletes ${record.entity} ${record.externalId}`);
      this.#deleted.add(`${record.entity} ${record.externalId}`);
      this.#service.delete(record);
      return;
    }
    this.#edits += 1;
    const name = record.entity === 'lead' ? ['full_name', 'email'][field]! : ['title', 'amount'][field]!;
    const values: Record<string, Value> = { email: `human${this.#edits}@example.test`, amount: 1000 + this.#edits };
    const value = values[name] ?? `Human ${this.#edits}`;
    this.#tell(`somebody sets ${name} of ${record.entity} ${record.externalId} to ${value}`);
    this.#service.edit(record, name, value);
  }

  #tell(line: string): void {
    this.#story.push(line);
  }
}

function messageOf(result: RunResult): string {
  switch (result.kind) {
    case 'ended':
      return `ended ${JSON.stringify(result.summary.exit)} ${JSON.stringify(result.summary.events)}`;
    case 'refused':
      return `exit ${result.exitCode}: ${result.message}`;
    case 'killed':
      return 'killed';
  }
}

function putBackCheckpoint(present: string, kept: string): void {
  for (const suffix of ['', '-wal', '-shm']) {
    const file = `${CHECKPOINT}${suffix}`;
    rmSync(join(present, file), { force: true });
    if (existsSync(join(kept, file))) cpSync(join(kept, file), join(present, file));
  }
}
