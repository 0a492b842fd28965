import type * as htmlToTextModule from 'html-to-text';
import type { DomNode, FormatCallback, HtmlToTextOptions } from 'html-to-text';
import type * as htmlparser2Module from 'htmlparser2';
import { onText, transform } from './transform.ts';
import { issueOf } from '../../report/words/words.ts';

let library: typeof htmlToTextModule | undefined;
let parsing: typeof htmlparser2Module | undefined;

export const htmlToText = transform({
  name: 'html_to_text',
  doc: 'Converts HTML to plain text: paragraphs and `<br>` become line breaks, list items get a dash or a number, and links and images keep their address. Words in angle brackets that are not HTML (`<Mario Rossi>`, `<EUR 500>`) stay. A text without a tag that breaks lines keeps its own; without any tag, only entities such as `&amp;` are decoded.',
  usage: ['html_to_text'],
  examples: [
    { apply: 'html_to_text', from: '<p>Ada &amp; Co</p><p>call <b>back</b></p>', to: 'Ada & Co\n\ncall back' },
    {
      apply: 'html_to_text',
      from: 'the <a href="https://x.test/offer">offer</a>',
      to: 'the offer (https://x.test/offer)',
    },
    { apply: 'html_to_text', from: '<p>call <Mario Rossi></p>', to: 'call <Mario Rossi>' },
    { apply: 'html_to_text', from: 'R&amp;D\n- Ada <ada@x.test>', to: 'R&D\n- Ada <ada@x.test>' },
    { apply: 'html_to_text', from: 'call\n<b>today</b>', to: 'call\ntoday' },
  ],
  load: async () => {
    library ??= await import('html-to-text');
    parsing ??= await import('htmlparser2');
  },
  compile: () => {
    const convert = library!.compile(OPTIONS);
    return onText((input) => {
      const html = withTextEscaped(input);
      if (html === undefined) return ENTITY.test(input) ? withText(convert(asPreformatted(input))) : input;
      return isTooDeep(html) ? issueOf('bad_html') : tidy(convert(html));
    });
  },
});

const MOST_LEVELS = 500;
/** Of the text that is parsed at once: each element costs time for all those around it. */
const CHUNK = 10_000;

/** Whether elements are nested more deeply than can be converted. Stops there, for parsing takes time quadratic in the depth. */
function isTooDeep(html: string): boolean {
  if (html.split('<', MOST_LEVELS + 2).length <= MOST_LEVELS + 1) return false;
  let [level, deepest] = [0, 0];
  const parser = new parsing!.Parser({
    onopentagname: () => (deepest = Math.max(deepest, (level += 1))),
    onclosetag: () => (level -= 1),
  });
  for (let at = 0; at < html.length && deepest <= MOST_LEVELS; at += CHUNK) parser.write(html.slice(at, at + CHUNK));
  return deepest > MOST_LEVELS;
}

const PARAGRAPHS = ['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'blockquote', 'table', 'hr'];
const LINES = `
  address article aside body caption center dd details dialog div dl dt fieldset figcaption figure footer form
  header html legend li main nav option section summary tr
`;
const HIDDEN = ['head', 'title', 'template', 'noscript'];

const link: FormatCallback = (element, walk, builder) => {
  let shown = '';
  builder.pushWordTransform((word) => {
    shown += word;
    return word;
  });
  walk(element.children, builder);
  builder.popWordTransform();
  const address = addressOf(attribute(element, 'href'), shown);
  if (address !== undefined) builder.addInline(` (${address})`);
};

const image: FormatCallback = (element, _walk, builder) => {
  const alt = attribute(element, 'alt');
  const address = addressOf(attribute(element, 'src'), alt);
  builder.addInline(address === undefined ? alt : `${alt} (${address})`);
};

/** Separates cells with one space. The formatter of the library aligns columns but drops captions. */
const cell: FormatCallback = (element, walk, builder) => {
  walk(element.children, builder);
  builder.addInline(' ');
};

/** The formatter of the library puts a space before each number. */
const orderedList: FormatCallback = (element, walk, builder) => {
  const breaks = element.parent?.name === 'li' ? 1 : 2;
  let number = Number(attribute(element, 'start')) || 1;
  builder.openList({ leadingLineBreaks: breaks });
  for (const item of element.children) {
    if (item.type === 'text' && item.data?.trim() === '') continue;
    builder.openListItem({ prefix: item.name === 'li' ? `${number++}. ` : '' });
    walk([item], builder);
    builder.closeListItem();
  }
  builder.closeList({ trailingLineBreaks: breaks });
};

/** Where none of them is, nor a document around the text, somebody typed its line breaks. */
const BREAKING = new RegExp(
  `<(?:[!?]|(?:${[...PARAGRAPHS, ...LINES.trim().split(/\s+/), 'br', 'ul', 'ol', 'pre'].join('|')})[\\s/>])`,
  'i',
);

const OPTIONS: HtmlToTextOptions = {
  // By default, text outside the body and input beyond 16 MiB would be lost.
  baseElements: { selectors: [] },
  limits: { maxInputLength: Infinity },
  wordwrap: false,
  whitespaceCharacters: ' \t\r\n\f',
  formatters: { link, image, cell, orderedList },
  selectors: [
    ...PARAGRAPHS.map((selector) => ({ selector, format: 'block' })),
    ...LINES.trim()
      .split(/\s+/)
      .map((selector) => ({
        selector,
        format: 'block',
        options: { leadingLineBreaks: 1, trailingLineBreaks: 1 },
      })),
    ...HIDDEN.map((selector) => ({ selector, format: 'skip' })),
    ...['td', 'th'].map((selector) => ({ selector, format: 'cell' })),
    { selector: 'ul', options: { itemPrefix: '- ' } },
    { selector: 'a', format: 'link' },
    { selector: 'img', format: 'image' },
  ],
};

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Elements of HTML that are written without attributes, and often without an end. */
const PLAIN = words(`
  a abbr acronym b basefont bdi bdo big blockquote body br caption center cite col colgroup dd del dfn div dl dt em fieldset
  figcaption font frameset h1 h2 h3 h4 h5 h6 hr html i img ins kbd li nav nobr ol optgroup option p pre q s samp small span
  strike strong sub sup table tbody td textarea tfoot th thead tr tt u ul var wbr
`);
/** Elements of HTML whose names are words: without an attribute, and never closed, `<address>` is text. */
const NAMED = words(`
  address area article aside audio base button canvas code data datalist details dialog dir embed figure footer form frame
  head header hgroup iframe input label legend link main map mark math menu meta meter noframes object output param picture
  progress rp rt ruby search section select slot source summary svg time track video xml
  circle clippath defs ellipse g line lineargradient path polygon polyline rect stop symbol tspan use
`);
/** Elements that hide everything up to their end: without one, they are text. */
const ENDED = words('noscript script style template title');
/** Of Office documents. */
const PREFIXES = words('o v w m x st1 dc mml svg');

/** Attributes that HTML has without a value, so that `<Mark Rossi>` and `<b and c>` are no tags. */
const VALUELESS =
  'allowfullscreen|alt|async|autofocus|autoplay|border|checked|class|compact|controls|default|defer|disabled|download|' +
  'formnovalidate|height|hidden|href|id|ismap|itemscope|loop|multiple|muted|name|nohref|noresize|noshade|novalidate|nowrap|' +
  'open|playsinline|readonly|required|reversed|selected|src|style|title|value|width|data-[\\w-]+';
const ATTRIBUTES = new RegExp(String.raw`^(?:[\s/]+(?:${VALUELESS})(?=[\s/]|$))*[\s/]*(?:$|[\w:@.*#()[\]-]+\s*=)`, 'i');

/** A possible tag with its name and attributes, the beginning of a comment and the like, or a bracket alone. */
const BRACKET =
  /<(?:\/?(?:(?<prefix>[a-z][a-z0-9]*):)?(?<name>[a-z][a-z0-9]*)(?<attributes>(?:[\s/](?:=\s*"[^"]*"|=\s*'[^']*'|=(?!\s*["'])|[^<>=])*)?)>|!--|!doctype\s[^<>]*>|\?xml[^<>]*>|!\[(?:if|endif)[^<>]*>)?/gi;

type Bracket = Readonly<Record<'prefix' | 'name' | 'attributes', string>>;

/** With its semicolon: the `&copy=2` of an address is text. */
const ENTITY = /&(?:#\d+|#x[\da-f]+|[a-z][a-z\d]*);/i;

/**
 * Escapes text that only looks like a tag, because a parser would drop it: `<Mario Rossi>`, `<ada@x.test>`, an unclosed `<b`.
 * Undefined if nothing is markup.
 */
function withTextEscaped(text: string): string | undefined {
  if (!text.includes('<')) return undefined;
  let isHtml = /<!\[CDATA\[/.test(text);
  // As a browser shows a NUL.
  const html = text.replaceAll('\0', '\ufffd').replace(/<!\[CDATA\[([\s\S]*?)(?:\]\]>|$)/g, '$1');
  const closed = new Set(Array.from(html.matchAll(/<\/([a-z][a-z0-9]*)[\s>]/gi), ([, name]) => name!.toLowerCase()));
  const lastComment = html.lastIndexOf('-->');
  const isElement = (name: string, attributes: string): boolean => {
    if (PLAIN.has(name)) return true;
    // Of one that is never closed, an attribute shows that it is no word.
    return closed.has(name) ? NAMED.has(name) || ENDED.has(name) : NAMED.has(name) && attributes.trim() !== '';
  };
  const isMarkup = (match: string, at: number, { name, prefix, attributes = '' }: Partial<Bracket>): boolean => {
    if (name === undefined) return match === '<!--' ? at < lastComment : match !== '<';
    if (!ATTRIBUTES.test(attributes)) return false;
    return prefix === undefined ? isElement(name.toLowerCase(), attributes) : PREFIXES.has(prefix.toLowerCase());
  };
  const escaped = html.replace(BRACKET, (match: string, ...rest: unknown[]) => {
    const [at, , groups] = rest.slice(-3) as [number, string, Partial<Bracket>];
    if (!isMarkup(match, at, groups)) return match.replaceAll('<', '&lt;');
    isHtml = true;
    return match;
  });
  if (!isHtml) return undefined;
  return escaped.includes('\n') && !BREAKING.test(escaped) ? `<pre>${escaped}</pre>` : escaped;
}

/** HTML that shows the text as it is, with its entities decoded. */
function asPreformatted(text: string): string {
  const escaped = text.replace(new RegExp(`&(?!${ENTITY.source.slice(1)})`, 'gi'), '&amp;').replaceAll('<', '&lt;');
  return `<pre>${escaped}</pre>`;
}

/** Empty where only blanks are left, such as the one of `&nbsp;`. */
function withText(text: string): string {
  return text.trim() === '' ? '' : text;
}

function tidy(text: string): string {
  return text
    .replaceAll('\u00a0', ' ')
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/** The address of a link or image, unless the text already shows it or it is useless in plain text. */
function addressOf(target: string, beside: string): string | undefined {
  const address = target.trim().replace(/^(?:mailto|tel):/i, '');
  if (address === '' || address.startsWith('#') || /^(?:javascript|data):/i.test(address)) return undefined;
  return beside.includes(address) || address.replace(/^https?:\/\/|\/$/gi, '') === beside ? undefined : address;
}

function attribute(element: DomNode, name: string): string {
  return (element.attribs as Readonly<Record<string, string>>)[name] ?? '';
}
