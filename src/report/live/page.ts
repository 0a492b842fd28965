import { createHash } from 'node:crypto';
import { html, trusted } from '../html/markup.ts';
import { STYLE } from '../html/style.ts';
import { SECTIONS, type LiveSections } from './sections.ts';

/** Path of the server-sent events, relative to the page. */
export const EVENTS = 'events';

/** Each event has the sections that have changed, by their ids. */
const SCRIPT = `
const lost = document.getElementById('lost');
const source = new EventSource('${EVENTS}');
source.onopen = () => { lost.hidden = true; };
source.onerror = () => { lost.hidden = false; };
source.onmessage = ({ data }) => {
  for (const [id, content] of Object.entries(JSON.parse(data))) document.getElementById(id).innerHTML = content;
};
`;

/** Only this script and this style sheet, and requests to the server of the page. */
export const POLICY = [
  "default-src 'none'",
  `script-src '${hash(SCRIPT)}'`,
  `style-src '${hash(STYLE)}'`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

function hash(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

/** The whole page, complete without its script. */
export function livePage(sections: LiveSections): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>Migration status</title>
        ${trusted(`<style>${STYLE}</style>`)}
      </head>
      <body>
        <p class="notice" id="lost" role="alert" hidden>
          No connection to <code>backfill status --serve</code>: what is shown may be out of date.
        </p>
        <main>${SECTIONS.map((id) => html`<div id="${id}">${trusted(sections[id])}</div>`)}</main>
        <footer><p>Updated every two seconds. Contains external ids of records, but no other field values.</p></footer>
        ${trusted(`<script>${SCRIPT}</script>`)}
      </body>
    </html> `.text;
}
