import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { mappingJsonSchema } from '../../src/mapping/schema.ts';
import { TRANSFORM_BY_NAME } from '../../src/mapping/transforms/index.ts';

test('the JSON Schema file is up to date (run `crm-backfill schema`)', async () => {
  const file = new URL('../../mappings/mapping.schema.json', import.meta.url);
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(mappingJsonSchema());
});

test('the schema contains every transform and requires the required fields', () => {
  const schema = JSON.stringify(mappingJsonSchema());
  for (const name of TRANSFORM_BY_NAME.keys()) expect(schema).toContain(`"${name}"`);
  expect(schema).toContain('"required":["type","source","data"]');
  expect(schema).toContain('"required":["external_id"]');
  expect(schema).toContain('"required":["content"]');
});
