import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { z } from 'zod';
import { UserError } from '../errors.ts';
import { loadMapping } from '../mapping/load.ts';
import { StateDir, statePath } from '../state-dir.ts';

/** What every command that looks into a state directory takes. */
export const stateOptions = z.object({
  mapping: z.string(),
  state: z
    .string({ error: 'is given more than once' })
    .refine((path) => path.trim() !== '', 'is empty')
    .optional(),
  sandbox: z.boolean().default(false),
});

/** The state directory of a mapping. With `--state` the mapping file is not read, and need not be there. */
export async function existingState(options: z.infer<typeof stateOptions>): Promise<StateDir> {
  if (options.state !== undefined) return StateDir.existing(resolve(options.state));
  if ((await stat(options.mapping).catch(() => undefined))?.isDirectory()) {
    throw new UserError(`${options.mapping} is a directory, not a mapping file`, {
      hint: 'name the mapping file; a state directory is named with --state DIR',
    });
  }
  const mapping = await loadMapping(options.mapping, { sources: new Map() });
  return StateDir.existing(statePath({ mapping: options.mapping }, mapping, options.sandbox ? '.sandbox' : ''));
}
