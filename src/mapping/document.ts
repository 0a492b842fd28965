/**
 * A mapping file as plain data with source locations. YAML and JSON are read by the same parser, scalars keep the text they
 * were written with, and any path into the data can be resolved to line and column.
 */
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import type { Alias, Document as YamlDocument, Node, Scalar } from 'yaml';
import { readNumber, type NumberText } from '../json.ts';
import { mistake, type Location, type Problem } from '../problem.ts';
import { MARKS, type Mark } from '../report/words/input.ts';
import { numberText } from '../report/words/numbers.ts';
import { blankIn, blankProblem, MOST_LEVELS, QUOTE, syntaxProblems, TOO_DEEP } from './yaml-mistakes.ts';

/** Keys and indexes from the top of the file downwards. */
export type Path = readonly (string | number)[];

export interface MappingDocument {
  /**
   * Objects, arrays, strings, null and `WrittenScalar`; undefined where the file could not be parsed. Of duplicate keys,
   * the last; null for an unknown anchor.
   */
  readonly data: unknown;
  readonly problems: readonly Problem[];
  /** The location of a value or of its key, or of the nearest existing parent. */
  locate(path: Path, part?: 'key' | 'value'): Location;
}

export function isKeyed(part: unknown): part is Readonly<Record<string, unknown>> {
  return typeof part === 'object' && part !== null && !Array.isArray(part) && !(part instanceof WrittenScalar);
}

/** A scalar that YAML does not read as text (`5.10`, `True`), with the text as written. */
export class WrittenScalar {
  readonly text: string;
  readonly value: number | NumberText | boolean;

  constructor(text: string, value: number | NumberText | boolean) {
    this.text = text;
    this.value = value;
  }
}

/** Limit for nodes after aliases are expanded: more is an attack or an accident. */
const MOST_NODES = 50_000;
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Parses the text of a mapping file; `file` is only used to name it in problems. */
export function parseMappingDocument(text: string, file: string): MappingDocument {
  const lines = new LineCounter();
  // Keys are compared as text: `1` and `"1"` are one.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, version: '1.2', uniqueKeys: false });
  const at = (offset: number): Location => {
    const { line, col } = lines.linePos(offset);
    return { file, line: Math.max(1, line), column: Math.max(1, col) };
  };
  const reader = new NodeReader(document, at);
  const isYaml = document.errors.length === 0;
  const data = isYaml ? reader.read(document.contents) : undefined;
  const locate = (path: Path, part: 'key' | 'value' = 'value'): Location => at(reader.offsetOf(data, path, part));
  const problems = isYaml ? reader.problems : syntaxProblems(document.errors, text, at);
  return { data: reader.endless ? undefined : data, problems, locate };
}

/** Where the members of a map or list stand in the text, by key or index. */
type Places = Map<string | number, Readonly<Record<'key' | 'value', number>>>;

/** Converts nodes to data; keys are text as written. */
class NodeReader {
  readonly problems: Problem[] = [];
  /** Whether aliases expand without end. */
  endless = false;
  readonly #document: YamlDocument;
  readonly #at: (offset: number) => Location;
  readonly #places = new Map<unknown, Places>();
  readonly #open = new Set<Node>();
  /** Resolving an alias searches the whole document, so each one is resolved once. */
  readonly #targets = new Map<Alias, Node | undefined>();
  #nodes = 0;

  constructor(document: YamlDocument, at: (offset: number) => Location) {
    this.#document = document;
    this.#at = at;
  }

  read(node: Node | null): unknown {
    this.#nodes += 1;
    if (node === null || this.endless) return null;
    if (this.#nodes >= MOST_NODES)
      return this.#reportEndless(node, `anchors and aliases expand to more than ${numberText(MOST_NODES)} nodes`);
    if (isScalar(node)) {
      this.#reportBlank(node);
      return readScalar(node.value, node.source);
    }
    if (this.#open.has(node)) return this.#reportEndless(node, 'an anchor contains itself');
    if (this.#open.size === MOST_LEVELS) return this.#reportEndless(node, TOO_DEEP);
    this.#open.add(node);
    const data = this.#readCollection(node);
    this.#open.delete(node);
    return data;
  }

  /** The place of a part of the data, or of its nearest parent. */
  offsetOf(data: unknown, path: Path, part: 'key' | 'value'): number {
    let current = data;
    let offset = this.#document.contents?.range?.[0] ?? 0;
    for (const [depth, step] of path.entries()) {
      const place = this.#places.get(current)?.get(step);
      if (!place) break;
      offset = place[depth === path.length - 1 ? part : 'key'];
      current = (current as Record<string | number, unknown>)[step];
    }
    return offset;
  }

  #readCollection(node: Node): unknown {
    if (isAlias(node)) {
      if (!this.#targets.has(node)) this.#targets.set(node, node.resolve(this.#document));
      const target = this.#targets.get(node);
      if (target !== undefined) return this.read(target);
      this.#report(node, `unknown anchor \`${node.source}\``);
      return null;
    }
    const places: Places = new Map();
    if (isSeq(node)) {
      const list = node.items.map((item, index) => {
        const offset = offsetOf(item, node);
        places.set(index, { key: offset, value: offset });
        return this.read(item as Node | null);
      });
      this.#places.set(list, places);
      return list;
    }
    const data: Record<string, unknown> = {};
    this.#places.set(data, places);
    if (!isMap(node)) return data;
    const own = new Set<string>();
    for (const { key, value } of node.items as { key: Node; value: Node | null }[]) {
      const name = keyText(key);
      if (isScalar(key)) this.#reportBlank(key);
      if (name === undefined || name === '__proto__') {
        this.#report(key, name === undefined ? `a key must be text; ${QUOTE}` : '`__proto__` cannot be a key');
        continue;
      }
      if (own.has(name)) this.#report(key, `the key \`${name}\` is there twice`, 'duplicate_key', 'remove one of them');
      own.add(name);
      if (name === '<<') this.#merge(data, places, value);
      else {
        data[name] = this.read(value);
        places.set(name, { key: offsetOf(key, node), value: offsetOf(value, key) });
      }
    }
    return data;
  }

  /** `<<: *base`: keys of the map itself take precedence, in any order. */
  #merge(data: Record<string, unknown>, places: Places, node: Node | null): void {
    const read = this.read(node);
    for (const part of Array.isArray(read) ? (read as unknown[]) : [read]) {
      for (const [key, value] of Object.entries(isKeyed(part) ? part : {})) {
        if (Object.hasOwn(data, key)) continue;
        data[key] = value;
        places.set(key, this.#places.get(part)!.get(key)!);
      }
    }
  }

  /** `path:\u00a0it.csv`: for YAML that is one text. */
  #reportBlank(node: Scalar): void {
    const blank = node.type === 'PLAIN' ? blankIn(node.source ?? '') : undefined;
    if (blank) this.problems.push(blankProblem(blank, this.#at(node.range![0] + blank.at)));
  }

  #reportEndless(node: Node, message: string): null {
    this.endless = true;
    this.#report(node, message);
    return null;
  }

  #report(node: Node | null, message: string, code = 'yaml_syntax', hint?: string): void {
    this.problems.push(mistake(code, message, this.#at(node?.range?.[0] ?? 0), hint));
  }
}

function readScalar(value: unknown, source: string | undefined): unknown {
  if (value === null || typeof value === 'string') return value;
  const text = source ?? JSON.stringify(value);
  if (typeof value === 'boolean') return new WrittenScalar(text, value);
  // Anything that is not a number in JSON (00123, 0x1F, .inf) is text.
  return JSON_NUMBER.test(text) ? new WrittenScalar(text, readNumber(text)) : text;
}

function keyText(key: unknown): string | undefined {
  if (!isScalar(key)) return undefined;
  return typeof key.value === 'string' ? key.value : (key.source ?? String(key.value));
}

/** Of a node that is there, else of the one that should have it. */
function offsetOf(node: unknown, holder: Node): number {
  return (node as Node | null)?.range?.[0] ?? holder.range?.[0] ?? 0;
}

/** A line that a person still has to look at. */
export interface MarkedLine {
  /** From 1. */
  readonly line: number;
  readonly mark: Mark;
  /** What it decides until then: the line, or the one below a comment of its own. */
  readonly text: string;
}

const MARK = new RegExp(`(?:^|\\s)# (${Object.keys(MARKS).join('|')})(?::.*)?$`);

/** The lines with a comment that begins with a mark: `# set this: …`. Who has done it removes the comment. */
export function markedLines(text: string): MarkedLine[] {
  const lines = text.split('\n');
  return lines.flatMap((line, index) => {
    const found = MARK.exec(line);
    if (!found) return [];
    const own = line.slice(0, found.index).trim() || (lines[index + 1] ?? '').trim();
    return [{ line: index + 1, mark: found[1] as Mark, text: own }];
  });
}
