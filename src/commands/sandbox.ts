import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { Console } from '../console.ts';
import { EXIT, messageOf, UserError, type ExitCode } from '../errors.ts';
import { parseFaultPlan } from '../sandbox/faults.ts';
import { startSandbox } from '../sandbox/index.ts';
import { readStoredAccount } from '../service/account.ts';
import { DEFAULT_RATE, parseOptions, rate } from '../settings.ts';

const options = z.object({
  port: z.coerce.number().int().min(0).max(65535).default(0),
  account: z.string().optional(),
  rate: rate.default(DEFAULT_RATE),
  journal: z.string().optional(),
  faults: z.string().optional(),
});

/** `backfill sandbox`: serves until a signal ends it. Its secrets are its own, so they are shown. */
export async function sandbox(argv: Readonly<Record<string, unknown>>, console: Console): Promise<ExitCode> {
  const settings = parseOptions(options, argv);
  const stored = settings.account === undefined ? undefined : await readStoredAccount(settings.account);
  const running = await startSandbox({
    port: settings.port,
    rate: settings.rate,
    ...(stored ? { account: { pipelines: stored.pipelines, users: stored.users } } : {}),
    ...(settings.journal === undefined ? {} : { journal: settings.journal }),
    ...(settings.faults === undefined ? {} : { faults: parseFaultPlan(await readJson(settings.faults)) }),
  });
  console.print(`BACKFILL_BASE_URL=${running.baseUrl}`);
  console.print(`BACKFILL_API_KEY=${running.apiKey.reveal()}`);
  console.print(`BACKFILL_INGEST_TOKEN=${running.ingestToken.reveal()}`);
  console.say(`a sandbox with ${settings.rate.requests} requests per ${settings.rate.seconds} s; Ctrl-C ends it`);
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
  });
  await running.close();
  return EXIT.done;
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw new UserError(`cannot read ${path}: ${messageOf(error)}`, { cause: error });
  }
}
