/** Every code that the program can count has words, in the terminal and in the report's column "Meaning". */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { adviceFor } from '../../src/report/advice.ts';
import { DAMAGES } from '../../src/report/profile.ts';
import { FIELD_RULES, INGEST_CODES } from '../../src/contract.ts';

const SRC = fileURLToPath(new URL('../../src/', import.meta.url));

/** Sources of other codes: the sandbox's, and those of mistakes that end the program with their own messages. */
const OTHER_CODES = [
  /^(?:sandbox|init|verify|commands|options)\//,
  /^mapping\/(?:check|document|load|messages|schema|spec-values)\.ts$/,
  /^mapping\/transforms\/date-format-check\.ts$/,
  /^source\/fixes\.ts$/,
  /^survey\/worksheet\.ts$/,
];

/** Codes that no record is counted under. */
const NOT_COUNTED = new Set([
  // Mistakes in the arguments of a transform.
  ...['bad_argument', 'unknown_region', 'no_timezone', 'unknown_function', 'bad_function'],
  // Why a run stopped, which it says itself.
  ...[
    'interrupted',
    'until',
    'max_requests',
    'rejections_in_a_row',
    'too_many_errors',
    'wrong_base_url',
    'intercepted',
  ],
  // Why an event or a request has its state, which no problem repeats.
  ...['deduplicated', 'unmapped', 'to_read'],
  // A value that waits for an expression.
  'waiting',
]);

/** Codes that are put together from parts, by how they are written. */
const COMPOSED: Readonly<Record<string, readonly string[]>> = {
  '`${state}_${kind}`': ['unresolved', 'ambiguous'].flatMap((state) =>
    ['stage', 'owner', 'pipeline'].map((kind) => `${state}_${kind}`),
  ),
  '`invalid_${name}`': Object.keys(FIELD_RULES).map((name) => `invalid_${name}`),
  '`shared_${note.field}`': ['shared_email', 'shared_phone_number'],
  "`dates_read_${note.kind === 'either' ? 'either_way' : 'mixed'}`": ['dates_read_either_way', 'dates_read_mixed'],
  // Any other status: the kind of the issue explains it.
  '`http_${status}`': [],
};

function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}

function parse(name: string): ts.SourceFile {
  return ts.createSourceFile(name, readFileSync(join(SRC, name), 'utf8'), ts.ScriptTarget.Latest, true);
}

/** Functions with a parameter `code`, by name, and its position. */
function takersOfCodes(files: readonly ts.SourceFile[]): Map<string, number> {
  const takers = new Map<string, number>();
  for (const file of files) {
    walk(file, (node) => {
      if (!ts.isFunctionLike(node)) return;
      const at = node.parameters.findIndex(({ name }) => name.getText(file) === 'code');
      const named = ts.isConstructorDeclaration(node) || ts.isArrowFunction(node) ? node.parent : node;
      const { name } = named as { readonly name?: ts.Node };
      if (at >= 0 && name) takers.set(name.getText(file), at);
    });
  }
  return takers;
}

/** The codes of a type such as `BlockedCode`: statements choose among them. */
function codesOfTypes(file: ts.SourceFile): string[] {
  const found: string[] = [];
  walk(file, (node) => {
    if (!ts.isTypeAliasDeclaration(node) || !/Code$/.test(node.name.text) || !ts.isUnionTypeNode(node.type)) return;
    for (const { literal } of node.type.types.filter(ts.isLiteralTypeNode)) {
      if (ts.isStringLiteral(literal)) found.push(literal.text);
    }
  });
  return found;
}

/** The expressions given for a property or parameter `code`. */
function expressionsOfCodes(file: ts.SourceFile, takers: ReadonlyMap<string, number>): ts.Expression[] {
  const found: ts.Expression[] = [];
  walk(file, (node) => {
    if (ts.isPropertyAssignment(node) && node.name.getText(file) === 'code') found.push(node.initializer);
    if (!ts.isCallExpression(node) && !ts.isNewExpression(node)) return;
    const called = ts.isPropertyAccessExpression(node.expression) ? node.expression.name : node.expression;
    const given = node.arguments?.[takers.get(called.getText(file)) ?? -1];
    if (given) found.push(given);
  });
  return found;
}

/** What an expression can be, as far as it is written there: a code that is passed on is found where it comes from. */
function codesOf(expression: ts.Expression, file: ts.SourceFile): readonly string[] {
  if (ts.isStringLiteral(expression)) return /^[a-z]+(?:_[a-z0-9]+)*$/.test(expression.text) ? [expression.text] : [];
  if (ts.isConditionalExpression(expression)) {
    return [...codesOf(expression.whenTrue, file), ...codesOf(expression.whenFalse, file)];
  }
  if (ts.isTemplateExpression(expression)) {
    const written = expression.getText(file);
    return COMPOSED[written] ?? (/ /.test(written.replace(/\$\{[^}]*\}/g, '')) ? [] : [`composed: ${written}`]);
  }
  if (!ts.isIdentifier(expression)) return [];
  const codes: string[] = [];
  walk(file, (node) => {
    if (!ts.isVariableDeclaration(node) || node.name.getText(file) !== expression.text || !node.initializer) return;
    if (ts.isStringLiteral(node.initializer)) codes.push(...codesOf(node.initializer, file));
  });
  return codes;
}

function countedCodes(): ReadonlySet<string> {
  const names = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const files = names.filter((name) => !OTHER_CODES.some((others) => others.test(name))).map(parse);
  const takers = takersOfCodes(files);
  const written = files.flatMap((file) => expressionsOfCodes(file, takers).flatMap((given) => codesOf(given, file)));
  const typed = files.flatMap(codesOfTypes);
  const { authFailed: _stops, ...refusals } = INGEST_CODES;
  return new Set(
    [...written, ...typed, ...DAMAGES, ...Object.values(refusals)].filter((code) => !NOT_COUNTED.has(code)),
  );
}

it('every code in the source that records are counted under has words', () => {
  const codes = countedCodes();
  for (const known of ['bad_date', 'parent_failed', 'shared_email', 'short_row', 'unresolved_stage', 'serial_date']) {
    expect(codes).toContain(known);
  }
  const wordless = [...codes].filter((code) => adviceFor(code, undefined).what === '');
  expect(wordless).toEqual([]);
});
