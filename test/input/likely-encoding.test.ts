import iconv from 'iconv-lite';
import { expect, it } from 'vitest';
import { likelyEncoding } from '../../src/input/text/undecodable.ts';

const encoded = (text: string, encoding: string): Buffer[] =>
  text.split(' ').map((word) => iconv.encode(word, encoding));

it.each([
  ['windows-1252', 'Müller Schäfer Köhler Groß Jürgen Björn Käthe Günther Möbel Straße München für Gespräch Geschäft'],
  [
    'windows-1252',
    'François Amélie Lefèvre Gérard Noël Hélène société générale étape téléphone réunion créé Zoé Benoît',
  ],
  ['windows-1252', 'Åsa Björn Sjöström Åkesson Öberg Håkan Göran Lindström Malmö Västerås möte Märta'],
  [
    'windows-1250',
    'Łukasz Małgorzata Paweł Żaneta Grażyna Wiśniewski Wójcik Dąbrowska Zieliński Żółw Łąka Kraków Łódź',
  ],
  ['windows-1251', 'Иван Пётр Ольга Светлана Дмитрий Екатерина Алексей Петров Иванова Смирнов'],
  ['windows-1253', 'Γιώργος Μαρία Ελένη Παπαδόπουλος Νικολάου Ελληνική Αθήνα εταιρεία'],
  ['shift_jis', '田中太郎 鈴木花子 佐藤次郎 高橋 伊藤 株式会社サンプル 有限会社テスト 顧客 電話番号'],
  ['gb18030', '张伟 王芳 李娜 赵敏 陈静 北京科技有限公司 上海贸易公司 客户 电话'],
  ['euc-kr', '김철수 이영희 박민준 최지우 한국전자 서울상사 고객 전화'],
])('%s is recognised by words such as %s', async (encoding, words) => {
  expect(await likelyEncoding(encoded(words, encoding))).toBe(encoding);
});

it('few words show nothing: then it is that of Western Europe', async () => {
  expect(await likelyEncoding(encoded('Łódź Kraków', 'windows-1250'))).toBe('windows-1252');
  expect(await likelyEncoding([])).toBe('windows-1252');
});
