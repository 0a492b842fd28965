import type * as htmlToTextModule from 'html-to-text';
import type { DomNode, FormatCallback, HtmlToTextOptions } from 'html-to-text';
import { ValueError } from '../values/result.ts';
import { onText, transform } from './transform.ts';
import { issueOf } from '../../vocabulary/words.ts';

let library: typeof htmlToTextModule | undefined;

export const htmlToText = transform({
  name: 'html_to_text',
  doc: 'Converts HTML to plain text: paragraphs and `<br>` become line breaks, list items get a dash or a number, links and images keep their address, and table cells stay separate. Scripts, styles and comments are removed. A text without any HTML tag keeps its lines, blanks and angle brackets; only entities such as `&amp;` are decoded. Fails with `bad_html` for HTML nested more than 500 levels deep.',
  usage: ['html_to_text'],
  examples: [
    { apply: 'html_to_text', from: '<p>Ada &amp; Co</p><p>call <b>back</b></p>', to: 'Ada & Co\n\ncall back' },
    {
      apply: 'html_to_text',
      from: 'the <a href="https://x.test/offer">offer</a>',
      to: 'the offer (https://x.test/offer)',
    },
    { apply: 'html_to_text', from: 'R&amp;D\n- Ada <ada@x.test>', to: 'R&D\n- Ada <ada@x.test>' },
  ],
  load: async () => (library ??= await import('html-to-text')),
  compile: () => {
    const convert = library!.compile(OPTIONS);
    return onText((input) => {
      if (!MARKUP.test(input)) return ENTITY.test(input) ? withText(convert(asPreformatted(input))) : input;
      const text = convert(withStrayBracketsEscaped(input));
      if (text.includes(TOO_DEEP)) return new ValueError(issueOf('bad_html'));
      return tidy(text);
    });
  },
});

/** Marks where nesting was cut off. Removed from the input first. */
const TOO_DEEP = '\0';

const PARAGRAPHS = ['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'blockquote', 'table', 'hr'];
/** Elements that begin on a new line. */
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

const OPTIONS: HtmlToTextOptions = {
  // By default, text outside the body and input beyond 16 MiB would be lost.
  baseElements: { selectors: [] },
  limits: { maxInputLength: Infinity, maxDepth: 500, ellipsis: TOO_DEEP },
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

/** What HTML editors, e-mail programs and CRMs write: `<attached>` or `List<String>` is text. */
const TAGS = `
  a abbr acronym address article aside b base basefont bdi bdo big blockquote body br button caption center cite code col
  colgroup dd del details dfn dialog dir div dl dt em embed fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6
  head header hr html i iframe img input ins kbd label legend li link main map mark meta nav noscript object ol optgroup
  option p picture pre q s samp script section select small source span strike strong style sub summary sup svg table
  tbody td template textarea tfoot th thead title tr tt u ul var video wbr
`;
const NAMES = TAGS.trim().split(/\s+/).join('|');
/** Without attributes, or with an attribute that has a value: `a <b and c> d` is no tag. */
const MARKUP = new RegExp(
  String.raw`<(?:\/?(?:${NAMES}|o:p)(?:\s*\/?>|\s[^<>=]*=[^<>]*>)|!--|!doctype\s|!\[CDATA\[)`,
  'i',
);
/** With its semicolon: the `&copy=2` of an address is text. */
const ENTITY = /&(?:#\d+|#x[\da-f]+|[a-z][a-z\d]*);/i;

const TAG = String.raw`\/?[a-z][a-z0-9-]*(?::[a-z0-9-]+)?(?:[\s/](?:"[^"]*"|'[^']*'|[^'"<>])*)?>`;
const STRAY = new RegExp(String.raw`<(?!${TAG}|!--|[!?][^<>]*>)`, 'gi');

/** The parser would drop `<ada@x.test>`, an unclosed `<b` and CDATA sections. */
function withStrayBracketsEscaped(html: string): string {
  return html
    .replaceAll(TOO_DEEP, '\ufffd')
    .replace(/<!\[CDATA\[([\s\S]*?)(?:\]\]>|$)/g, '$1')
    .replace(STRAY, '&lt;');
}

/** HTML that shows the text as it is, with its entities decoded. */
function asPreformatted(text: string): string {
  const escaped = text.replace(new RegExp(`&(?!${ENTITY.source.slice(1)})`, 'gi'), '&amp;').replaceAll('<', '&lt;');
  return `<pre>${escaped}</pre>`;
}

/** Empty where nothing but blanks is left, such as that of `&nbsp;`. */
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
