import { expect, test } from 'vitest';
import { outcome } from './apply.ts';

test.each([
  ['plain text stays', 'plain text stays'],
  ['a < b & c', 'a < b & c'],
  ['<p>one</p><p>two</p>', 'one\n\ntwo'],
  ['<div>one</div><div>two</div>', 'one\ntwo'],
  ['one<br>two<br/><br />three', 'one\ntwo\n\nthree'],
  ['<p>  many \n  spaces&nbsp;here </p>', 'many spaces here'],
  ['<b>bold</b>, <i>italic</i>', 'bold, italic'],
  ['&lt;b&gt; &amp;amp; &#39;&#x41;&#128512;&euro;&#150;&unknown;', "<b> &amp; 'A😀€–&unknown;"],
  ['<ul><li>one</li><li>two</li></ul>', '- one\n- two'],
  ['before<ol><li>one<li>two</ol>after', 'before\n\n1. one\n2. two\n\nafter'],
  ['<a href="https://x.test/a?b=1&amp;c=2">here</a>', 'here (https://x.test/a?b=1&c=2)'],
  [
    '<a href="https://x.test/">x.test</a> <a href="#top">top</a> <a href="mailto:a@x.test">a@x.test</a>',
    'x.test top a@x.test',
  ],
  ['<style>p { color: red }</style><p>shown</p><script>if (a < b) alert("<p>no</p>")</script>', 'shown'],
  ['a<!-- hidden <p> -->b', 'ab'],
  ['<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>', 'a b\nc'],
  ['<pre>two\n  lines</pre>', 'two\n  lines'],
  ['<img src="x.png" alt="a picture">', 'a picture'],
  ['<p title="a > b">text</p>', 'text'],
  ['<p>unclosed <b>tags', 'unclosed tags'],
  ['<P>CAPITALS</P>', 'CAPITALS'],
  ['<p> </p><br>', undefined],
])('%j is read as %j', async (html, text) => {
  expect(await outcome('html_to_text', html)).toBe(text);
});

test('a page of unclosed brackets is text, and read in one go', async () => {
  expect(await outcome('html_to_text', '<a '.repeat(20_000))).toHaveLength(59_999);
});
