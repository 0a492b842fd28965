/**
 * The one style sheet of the page: light and dark, narrow and printed. Colours have a contrast of at least 4.5 to 1 as
 * text.
 */
export const STYLE = `
:root {
  color-scheme: light dark;
  --paper: #ffffff; --shade: #8090a8; --panel: #f6f7f9; --ink: #1b2330; --soft: #566173; --rule: #d9dee6; --accent: #1f4f8f;
  --export: #5b7ea8; --acknowledged: #2f7d5b; --rejected: #c0392b; --pending: #c3cad4;
  --good: #1f6b4a; --good-paper: #e6f4ec; --bad: #9c2b1f; --bad-paper: #fbeae8; --warn: #80520a; --warn-paper: #fdf3df;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14181f; --shade: #6d7d96; --panel: #1d232d; --ink: #e6eaf0; --soft: #a3aebd; --rule: #343d4b; --accent: #8ab8f2;
    --export: #7fa3cf; --acknowledged: #4fae84; --rejected: #e2685b; --pending: #4d5766;
    --good: #86d8b0; --good-paper: #16352a; --bad: #f3a79e; --bad-paper: #43201d; --warn: #f0c987; --warn-paper: #3d2f14;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 2.5rem 1.5rem 4rem; max-width: 68rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "DejaVu Sans", sans-serif;
}
h1 { font-size: 1.85rem; line-height: 1.2; margin: 0 0 .35rem; letter-spacing: -.01em; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 3rem 0 .6rem; padding-top: 1.1rem; border-top: 1px solid var(--rule); }
h3 { font-size: 1rem; margin: 0; overflow-wrap: anywhere; }
p { margin: .5rem 0; max-width: 46rem; }
a { color: var(--accent); }
a:focus-visible, summary:focus-visible, .wide:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
code, .id { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .9em; overflow-wrap: anywhere; }
.soft { color: var(--soft); }
.code { color: var(--soft); font-size: .78em; font-weight: 400; overflow-wrap: break-word; } .code bdi { overflow-wrap: inherit; }
.banner { position: sticky; top: 0; z-index: 1; margin: 0 0 1.5rem; padding: .5rem 1rem; max-width: none; background: var(--warn-paper); color: var(--warn); border-radius: .4rem; }
.eyebrow { margin: 0 0 .4rem; color: var(--soft); font-size: .8rem; font-weight: 600; letter-spacing: .08em; text-transform: uppercase; }
.state { display: inline-block; margin: .6rem 0 0; padding: .35rem .8rem; border-radius: .4rem; font-weight: 600; }
.state.good { background: var(--good-paper); color: var(--good); }
.state.bad { background: var(--bad-paper); color: var(--bad); }
.state.warn, .notice { background: var(--warn-paper); color: var(--warn); }
.notice { padding: .7rem 1rem; border-radius: .4rem; margin: 1rem 0; max-width: none; }
dl.facts { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.2rem; margin: 1.2rem 0 0; }
dl.facts dt { color: var(--soft); } dl.facts dd { margin: 0; overflow-wrap: anywhere; }
ul.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .8rem; margin: 1.8rem 0 1rem; padding: 0; list-style: none; }
ul.figures li { padding: .9rem 1rem; background: var(--panel); border-radius: .5rem; border-left: 4px solid var(--pending); }
ul.figures b { display: block; font-size: 1.65rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
ul.figures small { display: block; color: var(--soft); font-size: .85rem; line-height: 1.4; }
ul.figures .good { border-color: var(--acknowledged); } ul.figures .bad { border-color: var(--rejected); }
nav ul { display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; margin: 1.4rem 0 0; padding: 0; list-style: none; font-size: .93rem; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
/* A shadow at the edge at which there is more to see. */
.wide {
  overflow-x: auto; margin: 1rem 0;
  background:
    linear-gradient(to right, var(--paper) 30%, transparent) left / 3rem 100% local,
    linear-gradient(to left, var(--paper) 30%, transparent) right / 3rem 100% local,
    radial-gradient(farthest-side at 0 50%, var(--shade), transparent) left / 1rem 100%,
    radial-gradient(farthest-side at 100% 50%, var(--shade), transparent) right / 1rem 100%;
  background-repeat: no-repeat; background-color: var(--paper);
  background-attachment: local, local, scroll, scroll;
}
table { border-collapse: collapse; width: 100%; font-size: .93rem; }
caption { text-align: left; color: var(--soft); padding: 0 0 .5rem; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .45rem .7rem; border-bottom: 1px solid var(--rule); }
thead th { color: var(--soft); font-weight: 600; white-space: nowrap; border-bottom-width: 2px; }
th:first-child, td:first-child { padding-left: 0; }
tbody th { font-weight: 500; min-width: 7rem; } time { white-space: nowrap; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tfoot th, tfoot td { font-weight: 700; border-bottom: 0; border-top: 2px solid var(--rule); }
td.value { min-width: 7rem; } bdi { overflow-wrap: anywhere; }
.place { white-space: nowrap; }
svg.pair { height: 1.1rem; margin-top: .3rem; min-width: 8rem; } .export { fill: var(--export); background: var(--export); }
.tick { color: var(--good); font-weight: 700; font-size: 1.1em; } .no { color: var(--bad); }
.sign { display: none; }
.sign .lines { display: grid; grid-template-columns: repeat(auto-fit, minmax(14rem, 1fr)); gap: 1rem 2rem; }
.sign .lines span { display: block; margin-top: 1.6rem; padding-top: .2rem; border-top: 1px solid var(--soft); color: var(--soft); font-size: .85rem; }
details > summary { padding: .5rem 0; } #appendix { margin-top: 3rem; border-top: 1px solid var(--rule); } #appendix > summary { font-size: 1.1rem; font-weight: 600; }
svg { display: block; width: 100%; forced-color-adjust: none; }
ul.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; padding: 0; margin: .6rem 0; list-style: none; font-size: .9rem; color: var(--soft); }
ul.legend i { display: inline-block; width: .8em; height: .8em; border-radius: .2em; margin-right: .45em; }
.acknowledged { fill: var(--acknowledged); background: var(--acknowledged); }
article { margin: 1rem 0; padding: 1rem 1.1rem .4rem; border: 1px solid var(--rule); border-radius: .5rem; }
article header { display: flex; flex-wrap: wrap; gap: .2rem 1rem; justify-content: space-between; align-items: baseline; }
article p { margin: .3rem 0; }
details { margin: .6rem 0; } summary { cursor: pointer; color: var(--accent); }
footer { margin-top: 3.5rem; padding-top: 1rem; border-top: 1px solid var(--rule); color: var(--soft); font-size: .88rem; }
@media (max-width: 40rem) {
  body { padding: 1.5rem 1rem 3rem; }
  h1 { font-size: 1.45rem; }
  ul.figures { grid-template-columns: 1fr 1fr; } ul.figures b { font-size: 1.3rem; }
  th, td { padding: .4rem .45rem; } td.value { min-width: 4.5rem; } #exports .id { white-space: nowrap; }
  /* Name above numbers, so that the tick is in sight; the same for what is missing, and who acts. */
  #stages tr, #missing tr { display: grid; grid-template-columns: 1fr 1fr minmax(4rem, 6rem); gap: 0 .5rem; border-bottom: 1px solid var(--rule); }
  #missing tr { grid-template-columns: 1fr 1fr; } #stages th, #stages td, #missing th, #missing td { border: 0; padding: .15rem 0; min-width: 0; }
  #stages th:first-child, #missing th:first-child { grid-column: 1 / -1; } #stages td:last-child, #stages thead th:last-child { text-align: right; }
  #stages .number, #missing .number { text-align: left; white-space: normal; }
  #verified th, #verified td { padding: .4rem .2rem; font-size: .85rem; white-space: normal; min-width: 0; }
  .stack table, .stack tbody, .stack tr, .stack th, .stack td, .stack caption { display: block; }
  .stack thead { display: none; } .stack tr { padding: .5rem 0; border-bottom: 1px solid var(--rule); }
  .stack th, .stack td { padding: 0; border: 0; } .stack td::before { content: "\\2192\\a0"; color: var(--soft); } .stack td + td::before { content: none; }
}
@media print {
  :root {
    color-scheme: light; font-size: 10pt;
    --paper: #fff; --panel: #f6f7f9; --ink: #111; --soft: #4a5362; --rule: #c9ced6; --accent: #111;
    --export: #5b7ea8; --acknowledged: #2f7d5b; --rejected: #c0392b; --pending: #c3cad4;
    --good: #1f6b4a; --good-paper: #e6f4ec; --bad: #9c2b1f; --bad-paper: #fbeae8; --warn: #80520a; --warn-paper: #fdf3df;
  }
  @page { margin: 16mm 14mm; }
  body { max-width: none; padding: 0; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  /* A heading of a table is repeated on every page. */
  body:has(> .banner) { display: table; width: 100%; } .banner { display: table-header-group; break-inside: avoid; background: none; }
  .banner span { display: block; margin-bottom: 4mm; padding: 1.5mm 3mm; background: var(--warn-paper); } .banner ~ :not(nav) { display: table-row-group; }
  nav, details:not([open]) { display: none; } summary { color: inherit; } .sign { display: block; break-inside: avoid; } .screen { display: none; }
  dl.facts { grid-template-columns: max-content 1fr max-content 1fr; gap: .1rem 1rem; } #exports .id { font-size: .75em; } tfoot { display: table-row-group; } a { text-decoration: none; }
  h2 { margin: 1.1rem 0 .3rem; padding-top: .6rem; break-after: avoid; } th, td { padding: .25rem .5rem; } .wide { margin: .4rem 0; } ul.figures { margin: .8rem 0; } svg.pair { height: .7rem; } h3, caption, thead { break-after: avoid; } .code { overflow-wrap: anywhere; }
  /* Of many stages, each has one line, so that what is signed is on two pages. */
  #stages .wide:has(tbody tr:nth-child(13)) {
    svg, br { display: none; } .number .soft { margin-left: .5em; } table { font-size: .76rem; } th, td { padding: .12rem .3rem; } thead th { white-space: normal; }
  }
  tr, article, ul.figures, svg { break-inside: avoid; }
  .wide { overflow: visible; background: none; }
}
`;
