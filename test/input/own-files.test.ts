// Lost without it: a file that this program wrote could be read as an export.
import { expect, test } from 'vitest';
import { failure, folderWith, openIn, readAll } from './reading.ts';

test('a glob says which files it passes over, and for what', async () => {
  const folder = folderWith({
    'a.csv': 'id\n1\n',
    'B.CSV': 'id\n2\n',
    '~$a.csv': '\0\0',
    'references.csv':
      '\ufeff"kind";"pipeline";"old_name";"records";"suggestion";"new_name";"choices"\r\nowner;;Ada;1;;;\r\n',
    'rejects.ndjson': '{"id":1,"_row":"r0123456789abcdef0123"}\n',
  });
  const source = await openIn(folder, '*.csv');
  expect((await readAll(source)).map(({ raw }) => raw)).toEqual([['1']]);
  const [said] = source.notices();
  expect(said).toMatchObject({ code: 'not_an_export', at: { file: '*.csv' } });
  for (const name of ['B.CSV', '~$a.csv', 'references.csv']) expect(said!.message).toContain(name);
  expect((await failure(openIn(folder, 'r*.*'))).message).toContain('rejects.ndjson');
  expect((await openIn(folder, 'references.csv')).columns).toContain('new_name');
});
