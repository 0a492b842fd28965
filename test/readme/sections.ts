/** The generated sections of the documentation, as Markdown, by page and by the name of their markers. */
import { ENVIRONMENT, EXIT_CODES } from '../../src/report/words/help.ts';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMMANDS, nameOf } from '../../src/commands/index.ts';
import { EXIT } from '../../src/errors.ts';
import { ENTITIES, EVENT_TYPES, kindOfType } from '../../src/kinds/index.ts';
import { choicesOf, POLICIES, POLICY_NAMES } from '../../src/mapping/policies.ts';
import { TRANSFORMS } from '../../src/mapping/transforms/index.ts';
import type { TransformExample } from '../../src/mapping/transforms/transform.ts';
import { NOT_MIGRATED, NOT_UNDONE } from '../../src/report/words/terms.ts';
import { inProcess } from '../program.ts';
import { withScreens } from './console.ts';
import { ROOT } from './root.ts';

/** The pages of the documentation, relative to the root of the project. */
export const PAGES = [
  'README.md',
  'mappings/README.md',
  'mappings/migration.md',
  'mappings/troubleshooting.md',
  'mappings/reference.md',
  'mappings/sources.md',
  'mappings/transforms.md',
  'mappings/operations.md',
  'mappings/commands.md',
  ...readdirSync(join(ROOT, 'mappings/crm')).map((name) => `mappings/crm/${name}`),
  'src/README.md',
  'src/store/README.md',
  'src/send/README.md',
  'src/sandbox/README.md',
  'test/bench/README.md',
];

/** By page and by the name of their markers. */
const SECTIONS: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  'README.md': {
    'not migrated': () => reasons(NOT_MIGRATED),
    'not undone': () => NOT_UNDONE.map((each) => `- ${each}`).join('\n'),
  },
  'mappings/troubleshooting.md': { 'exit codes': exitCodes },
  'mappings/reference.md': { fields, policies },
  'mappings/transforms.md': { transforms, functions },
  'mappings/commands.md': { commands, environment },
};

/** Each command with its options, in the order of the help. Options that several have in the same words come first. */
function commands(): string {
  const { commands } = helpOf();
  const names = commands.map(({ usage }) => usage.split(' ')[0]!).filter((name) => name !== 'completion');
  const linesOf = new Map(names.map((name) => [name, helpOf(name).options.filter(isOwn).map(optionLine)]));
  const havingLine = (line: string): string[] => names.filter((name) => linesOf.get(name)!.includes(line));
  const isShared = (line: string): boolean => havingLine(line).length >= SEVERAL;
  const shared = [...new Set([...linesOf.values()].flat())].filter(isShared);
  const own = names.flatMap((name) => {
    const lines = linesOf.get(name)!.filter((line) => !isShared(line));
    return lines.length === 0 ? [] : [`## Options of ${name}`, lines.join('\n')];
  });
  return [
    commands.map(({ usage, text }) => `- ${code(`crm-backfill ${usage}`)}: ${markdown(text)}`).join('\n'),
    '## Options of several commands',
    shared.map((line) => `${line} (${havingLine(line).join(', ')})`).join('\n'),
    ...own,
  ].join('\n\n');
}

/** An option that as many commands have is listed once. */
const SEVERAL = 3;

function optionLine({ name, text }: OptionHelp): string {
  return `- ${code(`--${name}`)}: ${markdown(text)}`;
}

/**
 * After these, the same command may be started again by itself: no person has decided that the run should end, and nothing needs
 * to be fixed.
 */
export const RUN_AGAIN: readonly number[] = [EXIT.hungUp, EXIT.terminated];

function exitCodes(): string {
  return EXIT_CODES.map(([each, meaning]) => {
    return `- ${code(String(each))}: ${meaning}${RUN_AGAIN.includes(each) ? '. May be restarted by itself' : ''}`;
  }).join('\n');
}

function environment(): string {
  return ENVIRONMENT.map(([names, what]) => `- ${names.split(', ').map(code).join(', ')}: ${what}`).join('\n');
}

/** As the report tells the customer. */
function reasons(rows: readonly (readonly [what: string, why: string])[]): string {
  return rows.map(([what, why]) => `- **${what}**: ${why}`).join('\n');
}

function fields(): string {
  return ENTITIES.map((entity) => {
    const rows = kindOfType(`${entity}/created`).fields.map(({ name, isRequired, onError, doc }) => {
      const facts = [...(isRequired ? ['required'] : []), ...(onError === 'omit' ? ['left out if unreadable'] : [])];
      return `- ${code(name)}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}: ${doc}`;
    });
    return [`Fields of ${code(`${entity}/*`)}:`, '', ...rows].join('\n');
  }).join('\n\n');
}

function policies(): string {
  return POLICY_NAMES.map((name) => {
    const { appliesTo, doc } = POLICIES[name];
    const types = EVENT_TYPES.filter(appliesTo);
    const [normal = '', ...others] = types.flatMap((type) => choicesOf(name, type));
    const choices = [...new Set(others), ...(name === 'if_changed' ? ['[fields]'] : [])].filter(
      (each) => each !== normal,
    );
    const on = types.length === EVENT_TYPES.length ? '' : ` On ${types.map(code).join(', ')}.`;
    return `- ${code(name)} (${[`**${code(normal)}**`, ...choices.map(code)].join(', ')}): ${doc}.${on}`;
  }).join('\n');
}

/** Of one transform. The others are tests only. */
const MOST_EXAMPLES = 3;

function transforms(): string {
  return TRANSFORMS.map(({ usage, doc, examples }) => {
    const shown = examples.slice(0, MOST_EXAMPLES).map((example) => `  - ${exampleText(example)}`);
    return [`- ${usage.map(code).join(', ')}: ${doc}`, ...shown].join('\n');
  }).join('\n');
}

/** The functions of the reference, with their tests in `test/mapping/functions.test.ts`. */
function functions(): string {
  return `\`\`\`js\n${readFileSync(join(ROOT, 'mappings/functions.mjs'), 'utf8')}\`\`\``;
}

/** A page with up-to-date generated sections. */
export function withSections(page: string, written: string): string {
  return Object.entries(SECTIONS[page] ?? {}).reduce((text, [name, make]) => {
    const [begin, end] = [`<!-- generated: ${name} -->`, `<!-- /generated: ${name} -->`];
    const from = text.indexOf(begin);
    const to = text.indexOf(end);
    if (from < 0 || to < from) throw new Error(`${page} has no section ${name}`);
    return `${text.slice(0, from + begin.length)}\n\n${make()}\n\n${text.slice(to)}`;
  }, written);
}

export function readPage(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}

/** Writes the sections and screens of all pages anew. */
export async function writePages(): Promise<void> {
  for (const page of PAGES) writeFileSync(join(ROOT, page), await withScreens(withSections(page, readPage(page))));
}

interface OptionHelp {
  readonly name: string;
  readonly text: string;
}

interface Help {
  readonly commands: readonly { readonly usage: string; readonly text: string }[];
  readonly options: readonly OptionHelp[];
}

/** Options that every command has. */
const COMMON = ['help', 'version'];

function isOwn({ name }: OptionHelp): boolean {
  return !COMMON.includes(name);
}

/** The whole help by command; that of the program itself under ''. */
const HELP = new Map<string, string>([['', (await inProcess(['--help'])).stdout]]);
for (const name of [...COMMANDS.map(([usage]) => nameOf(usage)), 'completion']) {
  HELP.set(name, (await inProcess([name, '--help-all'])).stdout);
}

function helpText(command: string): string {
  return HELP.get(command)!;
}

/** The commands and options that the help of the program, or of one command, lists, so that the documentation shows what users see. */
function helpOf(command = ''): Help {
  const commands: { usage: string; text: string }[] = [];
  const options: { name: string; text: string }[] = [];
  let group = '';
  let last: { text: string } | undefined;
  for (const line of helpText(command).split('\n')) {
    const heading = /^(\S.*):$/.exec(line)?.[1];
    const option = /^ {2}--([\w-]+) +(.*)$/.exec(line);
    const verb = /^ {2}crm-backfill (\S.*?)(?: {2,}(.*))?$/.exec(line);
    if (heading !== undefined) {
      group = heading;
      last = undefined;
    } else if (option && group !== 'Examples') {
      const found = { name: option[1]!, text: option[2]! };
      options.push(found);
      last = found;
    } else if (verb && group === 'Commands') {
      const found = { usage: verb[1]!, text: verb[2] ?? '' };
      commands.push(found);
      last = found;
    } else if (last && /^ {3,}\S/.test(line)) last.text += ` ${line.trim()}`;
  }
  return {
    commands,
    options: options.map((option) => ({ ...option, text: withoutTypes(option.text) })),
  };
}

/** Removes the types that yargs adds; a default described in words is kept. */
function withoutTypes(text: string): string {
  return text.replace(/ +\[(?:boolean|string|array|number|required|default: (?:true|false))\]/g, '').trim();
}

/** Text as Markdown, escaped so that nothing is read as HTML. */
function markdown(text: string): string {
  return text.trim().replaceAll('<', '\\<');
}

function code(text: string): string {
  return text === '' ? '' : `\`${text}\``;
}

function exampleText({ apply, from, to }: TransformExample): string {
  const gives = to === undefined ? 'no value' : code(JSON.stringify(to));
  return `${code(apply)}: ${code(JSON.stringify(from))} → ${gives}`;
}
