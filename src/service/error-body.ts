/** Reads the bodies of answers that are errors, whatever their shape. Pure. */
import type { AnswerHeaders } from '../contract.ts';
import { tryParseJson } from '../json.ts';
import { printable, shortened } from '../report/words/visible.ts';
import { isFields } from './list-page.ts';

/** An HTTP answer. */
export interface Reply {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly body: string;
}

interface ServiceError {
  readonly code?: string;
  readonly message: string;
  readonly field?: string;
}

/**
 * Reads an error in any of the service's formats: `{error: text}`, `{error: {code, message}}`, `{message}`, HTML,
 * empty.
 */
export function errorOf(reply: Reply): ServiceError {
  const body = tryParseJson(reply.body);
  const outer = isFields(body) ? body : {};
  const inner = isFields(outer.error) ? outer.error : outer;
  const code = nameOf(inner.code) ?? nameOf(outer.code);
  const message = textOf(inner.message) ?? textOf(outer.error) ?? textOf(outer.message);
  const field = nameOf(inner.field) ?? nameOf(outer.field);
  return {
    ...(code === undefined ? {} : { code }),
    message: message === undefined ? `answered ${reply.status} with ${describeBody(reply)}` : shorten(message),
    ...(field === undefined ? {} : { field }),
  };
}

/** Codes and names of fields are kept in the checkpoint, in reports and in logs, so nothing that may be a value counts as one. */
const NAME = /^[a-z_][\w.[\]:-]{0,79}$/i;

function nameOf(value: unknown): string | undefined {
  return typeof value === 'string' && NAME.test(value) ? value : undefined;
}

/** A body in a few words, for messages. */
export function describeBody(reply: Reply): string {
  const body = reply.body.trim();
  if (body === '') return 'an empty body';
  if (/^<(!doctype|html|\?xml)/i.test(body)) {
    const title = /<title[^>]*>([^<]*)<\/title>/i.exec(body)?.[1]?.trim();
    return title ? `a web page titled ${shorten(title, 80)}` : 'a web page';
  }
  const head = body.slice(0, 1_000);
  const unprintable = head.match(/[^\P{C}\s]|\ufffd/gu)?.length ?? 0;
  if (unprintable > head.length / 10) return 'binary data';
  return `\`${shorten(body, 120)}\``;
}

/** The message of an answer that may be a web page: then its first words, without markup and unprintable characters. */
export function messageOfPage(reply: Reply): string {
  if (tryParseJson(reply.body) !== undefined) return errorOf(reply).message;
  const text = reply.body
    .slice(0, 10_000)
    .replace(/<(script|style)\b[\s\S]*?<\/\1\s*>/gi, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/[\p{C}\uFFFD]+/gu, ' ');
  return `answered ${reply.status} with ${text.trim() === '' ? describeBody(reply) : `"${shorten(text, 120)}"`}`;
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && printable(value) !== '' ? value : undefined;
}

export function shorten(text: string, maxLength = 300): string {
  return shortened(printable(text), maxLength);
}
