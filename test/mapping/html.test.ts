// Lost without it: HTML could reach the service, or its text be lost.
import { expect, test } from 'vitest';
import { outcome } from './apply.ts';

test.each([
  ['plain text stays', 'plain text stays'],
  ['a < b & c', 'a < b & c'],
  ['Called R&D.\nShe wants:\n- offer', 'Called R&D.\nShe wants:\n- offer'],
  ['Ada <ada@x.test>\n\n\n  R&amp;D,  &lt;b&gt;\n', 'Ada <ada@x.test>\n\n\n  R&D,  <b>\n'],
  ['\r\n\tone &gt;\r\n two', '\r\n\tone >\r\n two'],
  ['see <attached>\nList<String> if a <b and c> d', 'see <attached>\nList<String> if a <b and c> d'],
  ['https://x.test/?a=1&copy=2&amp;b=3', 'https://x.test/?a=1&copy=2&b=3'],
  ['&nbsp; &nbsp;', undefined],
  ['first line<br>\nsecond', 'first line\nsecond'],
  ['<font color=red>one</font>\n two', 'one\n two'],
  ['<p>one</p><p>two</p>', 'one\n\ntwo'],
  ['<div>one</div><div>two</div>', 'one\ntwo'],
  ['one<br>two<br/><br />three', 'one\ntwo\n\nthree'],
  ['<p>  many \n  spaces&nbsp;here </p>', 'many spaces here'],
  ['<b>bold</b>, <i>italic</i>', 'bold, italic'],
  ['&lt;b&gt; &amp;amp; &#39;&#x41;&#128512;&euro;&#150;&unknown;', "<b> &amp; 'A😀€–&unknown;"],
  ['<ul><li>one</li><li>two</li></ul>', '- one\n- two'],
  ['before<ol><li>one<li>two</ol>after', 'before\n1. one\n2. two\n\nafter'],
  ['<ol start="3"><li>one<ul><li>inside</ul></ol>', '3. one\n   - inside'],
  ['<li>without<li>a list', 'without\na list'],
  ['<a href="https://x.test/a?b=1&amp;c=2">here</a>', 'here (https://x.test/a?b=1&c=2)'],
  [
    '<a href="https://x.test/">x.test</a> <a href="#top">top</a> <a href="mailto:a@x.test">a@x.test</a>',
    'x.test top a@x.test',
  ],
  ['<a href="https://x.test/b"><img src="i.png"></a>next', '(i.png) (https://x.test/b)next'],
  ['<style>p { color: red }</style><p>shown</p><script>if (a < b) alert("<p>no</p>")</script>', 'shown'],
  ['a<!-- hidden <p> -->b', 'ab'],
  ['<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>', 'a b\nc'],
  ['<table><caption>title</caption><tr><th>a<th><th>b<tr><td><p>c</p><td>d</table>', 'title\na b\n\nc\n\nd'],
  ['<table><tr><td colspan="999999999">wide</td><td>b</td></tr></table>', 'wide b'],
  ['<pre>two\n  lines</pre>', 'two\n  lines'],
  ['<img src="x.png" alt="a picture">', 'a picture (x.png)'],
  ['<img src="data:image/png;base64,AAAA" alt="inline">', 'inline'],
  ['<p title="a > b">text</p>', 'text'],
  ['<p>unclosed <b>tags', 'unclosed tags'],
  ['<P>CAPITALS</P>', 'CAPITALS'],
  ['<h1>Heading</h1>text<hr>text', 'Heading\n\ntext\n\ntext'],
  ['<p>one</p><p>&nbsp;</p><p>two</p>', 'one\n\ntwo'],
  ['before<body>within</body>after', 'before\nwithin\nafter'],
  ['Ada <ada@x.test>, see <https://x.test/>: <b>a <b', 'Ada <ada@x.test>, see <https://x.test/>: a <b'],
  ['<![CDATA[<p>one</p>]]>', 'one'],
  ['<p>Call <Mario Rossi> of <Acme GmbH></p>', 'Call <Mario Rossi> of <Acme GmbH>'],
  ['<p>paid <EUR 500> <500 EUR> <€ 500></p>', 'paid <EUR 500> <500 EUR> <€ 500>'],
  ["<b>To:</b> <Mario>, <Zoë>, <Иван>, <O'Neil>", "To: <Mario>, <Zoë>, <Иван>, <O'Neil>"],
  [
    '<p>by <Mark Rossi>, <Art Main>, <Main Street 5>, <Time 10:00></p>',
    'by <Mark Rossi>, <Art Main>, <Main Street 5>, <Time 10:00>',
  ],
  [
    '<p>send it to <address> with <title> and <link> by <time></p>',
    'send it to <address> with <title> and <link> by <time>',
  ],
  ['<p>a <mark>marked</mark> <time datetime="10:00">ten</time></p>', 'a marked ten'],
  ['<address>Rome</address><title>hidden</title>shown', 'Rome\nshown'],
  ['<p>see <script> and <style> of <template></p>', 'see <script> and <style> of <template>'],
  ['<p>if a <b and c> d</p>', 'if a <b and c> d'],
  ['<p>one <!-- never closed</p>', 'one <!-- never closed'],
  ['<p>one <!important> <?> <???> <! > two</p>', 'one <!important> <?> <???> <! > two'],
  [
    '<p>List<String>, Map<K, V>, </Mario>, <e-mail>, <tel:123>, <fax: 5></p>',
    'List<String>, Map<K, V>, </Mario>, <e-mail>, <tel:123>, <fax: 5>',
  ],
  ['<p>a <-- b --> c <3 <= d</p>', 'a <-- b --> c <3 <= d'],
  ['<!DOCTYPE html><html><head><title>x</title></head><body><p>one</p></body></html>', 'one'],
  ['<p>one<o:p></o:p></p><?xml:namespace prefix = o ns = "urn:x" /><![if !supportLists]>two<![endif]>', 'one\n\ntwo'],
  ['<td nowrap>one</td><hr noshade size=1><input disabled><p class>two</p>', 'one\n\ntwo'],
  ['<p title=it\'s class="a>b">one</p><font color="red"size=2>two</font><br/ >three', 'one\n\ntwo\nthree'],
  ['<svg width="1"><path d="M0 0"/><g></g></svg><p>one</p>', 'one'],
  ['a\0<b>b</b>', 'a\ufffdb'],
  ['<p> </p><br>', undefined],
  ['<div>'.repeat(499) + 'deep', 'deep'],
])('%j becomes %j', async (html, text) => {
  expect(await outcome('html_to_text', html)).toBe(text);
});

test('long lines are not wrapped, and 17 million characters are not cut off', async () => {
  const words = 'word '.repeat(3_400_000).trim();
  expect(await outcome('html_to_text', `<p>${words}</p>`)).toBe(words);
});

test('HTML nested too deeply is an error of that value', async () => {
  expect(await outcome('html_to_text', '<div>'.repeat(20_000) + 'deep')).toBe('error bad_html');
});

test('many unclosed brackets are text and take linear time', async () => {
  expect(await outcome('html_to_text', '<a '.repeat(20_000))).toHaveLength(60_000);
  expect(await outcome('html_to_text', '<b>' + '<a '.repeat(20_000))).toHaveLength(59_999);
  for (const part of [
    '<!--',
    '<p a="',
    "<p a='",
    '<p =',
    '<p a=" b=\'',
    '<svg>',
    '<p    ',
    '<p class ',
    '</',
    '<![if ',
  ])
    await outcome('html_to_text', '<b>' + part.repeat(50_000));
});
