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
  'mappings/troubleshooting.md': { 'exit codes': exitCodes },
  'mappings/reference.md': { fields, policies },
  'mappings/transforms.md': { transforms, functions },
  'mappings/commands.md': { commands, environment, 'exit codes': exitCodes },
};

/** Each command with its options, in the order of the help. */
function commands(): string {
  const { commands } = helpOf();
  const overview = table(
    ['command', 'does'],
    commands.map(({ usage, text }) => [code(`crm-backfill ${usage}`), markdown(text)]),
  );
  const parts = commands.flatMap(({ usage }) => {
    const name = usage.split(' ')[0]!;
    const options = name === 'completion' ? [] : helpOf(name).options.filter(isOwn);
    return options.length === 0 ? [] : [`## Options of ${name}`, optionTable(options)];
  });
  return [overview, ...parts].join('\n\n');
}

function optionTable(options: readonly OptionHelp[]): string {
  const rows = options.map(({ group, name, text }, index) => {
    return [group === options[index - 1]?.group ? '' : group, code(`--${name}`), markdown(text)];
  });
  return table(['', 'option', ''], rows);
}

/**
 * After these, the same command may be started again by itself: no person has decided that the run should end, and nothing needs
 * to be fixed.
 */
export const RUN_AGAIN: readonly number[] = [EXIT.hungUp, EXIT.terminated];

function exitCodes(): string {
  return table(
    ['code', 'meaning', 'restart by itself'],
    EXIT_CODES.map(([each, meaning]) => [code(String(each)), meaning, RUN_AGAIN.includes(each) ? 'yes' : '']),
  );
}

function environment(): string {
  const rows = ENVIRONMENT.map(([names, what]) => [names.split(', ').map(code).join(', '), what]);
  return table(['variable', 'content'], rows);
}

function fields(): string {
  return ENTITIES.map((entity) =>
    table(
      [`\`${entity}/*\` field`, 'required', 'unreadable values are', 'content'],
      kindOfType(`${entity}/created`).fields.map(({ name, isRequired, onError, doc }) => [
        code(name),
        isRequired ? 'yes' : '',
        onError === 'omit' ? 'omitted' : 'rejected',
        doc,
      ]),
    ),
  ).join('\n\n');
}

function policies(): string {
  return table(
    ['policy', 'on', 'choices', 'decides what happens when'],
    POLICY_NAMES.map((name) => {
      const { appliesTo, doc } = POLICIES[name];
      const types = EVENT_TYPES.filter(appliesTo);
      const [normal = '', ...others] = types.flatMap((type) => choicesOf(name, type));
      const choices = [...new Set(others), ...(name === 'if_changed' ? ['[fields]'] : [])].filter(
        (each) => each !== normal,
      );
      return [
        code(name),
        types.length === EVENT_TYPES.length ? 'all' : types.map(code).join(', '),
        [`**${code(normal)}**`, ...choices.map(code)].join(', '),
        doc,
      ];
    }),
  );
}

function transforms(): string {
  return table(
    ['transform', 'does', 'for example'],
    TRANSFORMS.map(({ usage, doc, examples }) => [
      usage.map(code).join('<br>'),
      doc,
      examples.map(exampleText).join('<br>'),
    ]),
  );
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
  /** Its heading in the help. */
  readonly group: string;
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
  const options: { group: string; name: string; text: string }[] = [];
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
      const found = { group, name: option[1]!, text: option[2]! };
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

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function code(text: string): string {
  return text === '' ? '' : `\`${text}\``;
}

function exampleText({ apply, from, to }: TransformExample): string {
  const gives = to === undefined ? 'no value' : code(JSON.stringify(to));
  return `${code(apply)}: ${code(JSON.stringify(from))} → ${gives}`;
}
