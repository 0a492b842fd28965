/**
 * The one style sheet of the page: light and dark, narrow and printed. Colours have a contrast of at least 4.5 to 1 as
 * text.
 */
export const STYLE = `
:root {
  color-scheme: light dark;
  --paper: #ffffff; --panel: #f6f7f9; --ink: #1b2330; --soft: #566173; --rule: #d9dee6; --accent: #1f4f8f;
  --export: #5b7ea8; --there: #2f7d5b; --edge: #c3cad4;
  --good: #1f6b4a; --good-paper: #e6f4ec; --bad: #9c2b1f; --bad-paper: #fbeae8; --warn: #80520a; --warn-paper: #fdf3df;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14181f; --panel: #1d232d; --ink: #e6eaf0; --soft: #a3aebd; --rule: #343d4b; --accent: #8ab8f2;
    --export: #7fa3cf; --there: #4fae84; --edge: #4d5766;
    --good: #86d8b0; --good-paper: #16352a; --bad: #f3a79e; --bad-paper: #43201d; --warn: #f0c987; --warn-paper: #3d2f14;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 2.5rem 1.5rem 4rem; max-width: 68rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "DejaVu Sans", sans-serif;
}
h1 { font-size: 1.85rem; line-height: 1.2; margin: 0 0 .35rem; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 3rem 0 .6rem; padding-top: 1.1rem; border-top: 1px solid var(--rule); overflow-wrap: anywhere; }
h3 { font-size: 1rem; margin: 1.6rem 0 .2rem; overflow-wrap: anywhere; }
p { margin: .5rem 0; max-width: 46rem; }
a { color: var(--accent); }
a:focus-visible, summary:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .9em; }
bdi, code { overflow-wrap: anywhere; } td.label bdi { overflow-wrap: normal; }
small { color: var(--soft); font-size: .85rem; }
.banner { position: sticky; top: 0; z-index: 1; margin: 0 0 1.5rem; padding: .5rem 1rem; max-width: none; background: var(--warn-paper); color: var(--warn); border-radius: .4rem; font-weight: 600; }
.eyebrow { margin: 0 0 .4rem; color: var(--soft); font-size: .8rem; font-weight: 600; letter-spacing: .08em; text-transform: uppercase; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.2rem; margin: 1.2rem 0 0; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
.state { display: inline-block; margin: 1.6rem 0 0; padding: .35rem .8rem; border-radius: .4rem; font-weight: 600; }
.state.good { background: var(--good-paper); color: var(--good); }
.state.bad { background: var(--bad-paper); color: var(--bad); }
.state.warn { background: var(--warn-paper); color: var(--warn); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .8rem; margin: 1rem 0; padding: 0; list-style: none; }
.tiles li { padding: .9rem 1rem; background: var(--panel); border-radius: .5rem; border-left: 4px solid var(--edge); }
.tiles b { display: block; font-size: 1.65rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
.tiles small { display: block; line-height: 1.4; }
.tiles .good { border-color: var(--there); } .tiles .bad { border-color: var(--bad); }
nav ul { display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; margin: 1.4rem 0 0; padding: 0; list-style: none; font-size: .93rem; }
table { border-collapse: collapse; width: 100%; margin: .6rem 0 1rem; font-size: .93rem; }
caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
th, td { text-align: left; vertical-align: top; padding: .45rem .5rem; border-bottom: 1px solid var(--rule); }
thead th { color: var(--soft); font-weight: 600; border-bottom-width: 2px; }
th:first-child { padding-left: 0; } tbody th { font-weight: 500; min-width: 7rem; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; } thead .number { white-space: normal; }
tfoot th, tfoot td { font-weight: 700; border-bottom: 0; border-top: 2px solid var(--rule); }
.tick { color: var(--good); font-weight: 700; font-size: 1.1em; }
svg { display: block; width: 100%; height: 1.1rem; margin-top: .3rem; fill: var(--export); forced-color-adjust: none; }
th i { display: inline-block; width: .8em; height: .8em; margin-right: .4em; border-radius: .2em; background: var(--export); } .there, th .there { fill: var(--there); background: var(--there); }
.lines { display: none; grid-template-columns: repeat(auto-fit, minmax(14rem, 1fr)); gap: 1rem 2rem; }
.lines span { display: block; margin-top: 1.6rem; padding-top: .2rem; border-top: 1px solid var(--soft); color: var(--soft); font-size: .85rem; }
summary { padding: .5rem 0; cursor: pointer; color: var(--accent); }
#appendix { margin-top: 3rem; border-top: 1px solid var(--rule); } #appendix > summary { font-size: 1.1rem; font-weight: 600; }
footer { margin-top: 3.5rem; padding-top: 1rem; border-top: 1px solid var(--rule); color: var(--soft); font-size: .88rem; }
@media screen and (max-width: 40rem) {
  body { padding: 1.5rem 1rem 3rem; }
  h1 { font-size: 1.45rem; }
  .tiles { grid-template-columns: 1fr 1fr 1fr; gap: .4rem; } .tiles li { padding: .6rem; } .tiles b { font-size: 1.3rem; }
  /* A row is a block: its name, then each cell with its heading. */
  table, tbody, tfoot { display: block; } thead { display: none; }
  tr { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: .1rem 1rem; padding: .6rem 0; border-bottom: 1px solid var(--rule); }
  tbody tr > *, tfoot tr > * { padding: 0; border: 0; min-width: 0; } th[scope=row], td.text { grid-column: 1 / -1; }
  td.number { text-align: left; white-space: normal; } td::before { content: attr(data-head) " "; color: var(--soft); font-size: .85rem; font-weight: 400; }
  td br { display: none; } td small { margin-left: .4em; }
}
@media print {
  :root {
    color-scheme: light; font-size: 10pt;
    --paper: #fff; --panel: #f6f7f9; --ink: #111; --soft: #4a5362; --rule: #c9ced6; --accent: #111; --export: #5b7ea8; --there: #2f7d5b;
    --edge: #c3cad4; --good: #1f6b4a; --good-paper: #e6f4ec; --bad: #9c2b1f; --bad-paper: #fbeae8; --warn: #80520a; --warn-paper: #fdf3df;
  }
  @page { margin: 16mm 14mm; }
  body { max-width: none; padding: 0; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  /* A heading of a table is repeated on every page. */
  body:has(> .banner) { display: table; width: 100%; } .banner { display: table-header-group; break-inside: avoid; background: none; }
  .banner span { display: block; margin-bottom: 4mm; padding: 1.5mm 3mm; background: var(--warn-paper); } .banner ~ :not(nav) { display: table-row-group; }
  nav, details:not([open]), .screen { display: none; } .lines { display: grid; } #sign { break-inside: avoid; }
  dl { grid-template-columns: max-content 1fr max-content 1fr; gap: .1rem 1rem; } tfoot { display: table-row-group; } a { text-decoration: none; }
  h2 { margin: 1.1rem 0 .3rem; padding-top: .6rem; break-after: avoid; } h3, thead { break-after: avoid; }
  th, td { padding: .2rem .5rem; } table { margin: .3rem 0; font-size: .85rem; } .tiles { margin: .8rem 0; } svg { height: .7rem; }
  /* Of many stages, each has one line. */
  #stages table:has(tbody tr:nth-child(13)) { br { display: none; } small { margin-left: .5em; font-size: 1em; } & { font-size: .76rem; } th, td { padding: .1rem .3rem; } }
  tr, .tiles, svg { break-inside: avoid; }
}
`;
