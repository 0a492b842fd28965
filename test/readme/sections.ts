/** The generated sections of the README, as Markdown, by the names of their markers. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { EVENT_TYPES, entityOf } from '../../src/model.ts';
import { fieldReference, policyReference, transformReference } from '../../src/mapping/reference.ts';
import type { Example } from '../../src/mapping/transforms/transform.ts';

export const README = fileURLToPath(new URL('../../README.md', import.meta.url));
const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

const SECTIONS: Readonly<Record<string, () => string>> = {
  usage: () => ['', 'run'].map((command) => helpOf(command)).join('\n\n'),
  fields: () => {
    const entities = new Map(fieldReference().map(({ type, fields }) => [entityOf(type), fields]));
    return [...entities]
      .map(([entity, fields]) =>
        table(
          [`\`${entity}/*\` field`, 'required', 'unreadable values are', 'holds'],
          fields.map(({ name, required, onError, doc }) => [
            code(name),
            required ? 'yes' : '',
            onError === 'omit' ? 'omitted' : 'rejected',
            doc,
          ]),
        ),
      )
      .join('\n\n');
  },
  policies: () =>
    table(
      ['policy', 'on', 'choices', 'decides what happens when'],
      policyReference().map(({ name, types, choices, default: normal, doc }) => [
        code(name),
        types.length === EVENT_TYPES.length ? 'all' : types.map(code).join(', '),
        choices.map((choice) => (choice === normal ? `**${code(choice)}**` : code(choice))).join(', '),
        doc,
      ]),
    ),
  transforms: () =>
    table(
      ['transform', 'does', 'for example'],
      transformReference().map(({ usage, doc, examples }) => [
        usage.split(' | ').map(code).join('<br>'),
        doc,
        examples.map(exampleText).join('<br>'),
      ]),
    ),
};

/** The README with up-to-date generated sections. */
export function withSections(readme: string): string {
  return Object.entries(SECTIONS).reduce((text, [name, make]) => {
    const [begin, end] = [`<!-- generated: ${name} -->`, `<!-- /generated: ${name} -->`];
    const from = text.indexOf(begin);
    const to = text.indexOf(end);
    if (from < 0 || to < from) throw new Error(`README.md has no section ${name}`);
    return `${text.slice(0, from + begin.length)}\n\n${make()}\n\n${text.slice(to)}`;
  }, readme);
}

export function readReadme(): string {
  return readFileSync(README, 'utf8');
}

export function writeReadme(): void {
  writeFileSync(README, withSections(readReadme()));
}

function helpOf(command: string): string {
  const args = [...(command === '' ? [] : [command]), '--help'];
  const help = execFileSync(process.execPath, [CLI, ...args], { encoding: 'utf8' }).trimEnd();
  return `\`\`\`console\n$ backfill ${args.join(' ')}\n${help}\n\`\`\``;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function code(text: string): string {
  return text === '' ? '' : `\`${text}\``;
}

function exampleText({ apply, from, to }: Example): string {
  const gives = to === undefined ? 'no value' : code(JSON.stringify(to));
  return `${code(apply)}: ${code(JSON.stringify(from))} → ${gives}`;
}
