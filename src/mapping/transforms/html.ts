import { onText, transform } from './transform.ts';
import { decodeEntities } from './html-entities.ts';

export const htmlToText = transform({
  name: 'html_to_text',
  doc: 'HTML becomes plain text: paragraphs and `<br>` become line breaks, list items get a dash, links keep their address, scripts and styles go.',
  usage: ['html_to_text'],
  examples: [
    { apply: 'html_to_text', from: '<p>Ada &amp; Co</p><p>call <b>back</b></p>', to: 'Ada & Co\n\ncall back' },
  ],
  compile: () => onText((input) => (/[<&]/.test(input) ? toText(input) : input)),
});

/** Blocks with an empty line around them, and blocks that merely begin on a new line. */
const PARAGRAPHS = new Set(['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'blockquote', 'ul', 'ol', 'table', 'pre', 'hr']);
const BLOCKS = new Set([
  'div',
  'li',
  'tr',
  'section',
  'article',
  'header',
  'footer',
  'address',
  'dl',
  'dt',
  'dd',
  'form',
  'body',
  'html',
]);
const SILENT = /^(?:script|style|head|title|template|noscript)$/;
const TOKEN =
  /<!--[\s\S]*?(?:-->|$)|<!\[CDATA\[[\s\S]*?(?:\]\]>|$)|<[!?][^<>]*>|<(\/?)([a-zA-Z][a-zA-Z0-9:-]*)((?:"[^"]*"|'[^']*'|[^'"<>])*)>/g;

/** Collects text line by line, as a browser would lay it out. */
class Lines {
  #text = '';
  #breaks = 0;
  #space = false;

  /** Runs of white space are one space, none at the beginning of a line. */
  write(text: string): void {
    for (const word of text.split(/([ \t\r\n\f]+)/)) {
      if (word === '') continue;
      if (/^[ \t\r\n\f]/.test(word)) this.#space = true;
      else this.#append(word);
    }
  }

  verbatim(text: string): void {
    for (const [index, line] of text.split(/\r\n|\r|\n/).entries()) {
      if (index > 0) this.breakLine();
      if (line !== '') this.#append(line);
    }
  }

  /** At least this many line breaks before what follows. */
  separate(breaks: number): void {
    this.#breaks = Math.max(this.#breaks, breaks);
    this.#space = false;
  }

  breakLine(): void {
    this.#breaks += 1;
    this.#space = false;
  }

  /** What was written since `from`. */
  since(from: number): string {
    return this.#text.slice(from).trim();
  }

  get length(): number {
    return this.#text.length;
  }

  finish(): string {
    return this.#text
      .replace(/\u00a0/g, ' ')
      .replace(/[ \t]+$/gm, '')
      .trim();
  }

  #append(word: string): void {
    if (this.#text !== '') this.#text += this.#breaks > 0 ? '\n'.repeat(this.#breaks) : this.#space ? ' ' : '';
    this.#text += word;
    this.#breaks = 0;
    this.#space = false;
  }
}

function toText(html: string): string {
  const lines = new Lines();
  const lists: { ordered: boolean; number: number }[] = [];
  let silent: string | undefined;
  let preformatted = 0;
  let link: { href: string; from: number } | undefined;
  let position = 0;
  const text = (raw: string): void => {
    if (silent !== undefined || raw === '') return;
    const decoded = decodeEntities(raw);
    if (preformatted > 0) lines.verbatim(decoded);
    else lines.write(decoded);
  };
  for (const match of html.matchAll(TOKEN)) {
    text(html.slice(position, match.index));
    position = match.index + match[0].length;
    const tag = match[2]?.toLowerCase();
    if (tag === undefined) {
      if (match[0].startsWith('<![CDATA[')) text(match[0].slice(9, -3));
      continue;
    }
    const closing = match[1] === '/';
    if (silent !== undefined || SILENT.test(tag)) {
      if (closing && tag === silent) silent = undefined;
      else if (!closing && silent === undefined && !match[0].endsWith('/>')) silent = tag;
      continue;
    }
    if (tag === 'br') lines.breakLine();
    else if (tag === 'ul' || tag === 'ol') {
      lines.separate(lists.length + (closing ? -1 : 0) > 0 ? 1 : 2);
      if (closing) lists.pop();
      else lists.push({ ordered: tag === 'ol', number: 0 });
    } else if (PARAGRAPHS.has(tag)) lines.separate(lists.length > 0 ? 1 : 2);
    else if (BLOCKS.has(tag)) lines.separate(1);
    else if ((tag === 'td' || tag === 'th') && !closing) lines.write(' ');
    if (tag === 'pre') preformatted = Math.max(0, preformatted + (closing ? -1 : 1));
    if (tag === 'li' && !closing) lines.write(marker(lists));
    if (tag === 'img' && !closing) text(attribute(match[3]!, 'alt') ?? '');
    if (tag === 'a') {
      if (!closing) link = { href: decodeEntities(attribute(match[3]!, 'href') ?? ''), from: lines.length };
      else if (link) {
        const address = addressBeside(link.href, lines.since(link.from));
        if (address !== undefined) lines.write(` (${address})`);
        link = undefined;
      }
    }
  }
  text(html.slice(position));
  return lines.finish();
}

function marker(lists: readonly { ordered: boolean; number: number }[]): string {
  const list = lists.at(-1);
  if (!list?.ordered) return '- ';
  list.number += 1;
  return `${list.number}. `;
}

/** The address that a link's text does not show already; none for anchors within the page and scripts. */
function addressBeside(href: string, shown: string): string | undefined {
  const address = href.trim().replace(/^(?:mailto|tel):/i, '');
  if (address === '' || address.startsWith('#') || /^(?:javascript|data):/i.test(address)) return undefined;
  return shown.includes(address) || address.replace(/^https?:\/\/|\/$/gi, '') === shown ? undefined : address;
}

function attribute(attributes: string, name: string): string | undefined {
  const match = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'i').exec(attributes);
  return match ? (match[1] ?? match[2] ?? match[3]) : undefined;
}
