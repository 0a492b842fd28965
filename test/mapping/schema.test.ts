import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { EVENT_TYPES } from '../../src/model.ts';
import { mappingJsonSchema } from '../../src/mapping/load.ts';
import { fieldReference, policyReference, transformReference } from '../../src/mapping/reference.ts';
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

test('the reference describes every transform, field and policy', () => {
  expect(transformReference().map(({ name }) => name)).toEqual([...TRANSFORM_BY_NAME.keys()]);
  expect(fieldReference().map(({ type }) => type)).toEqual(EVENT_TYPES);
  const docs = [...transformReference(), ...fieldReference().flatMap(({ fields }) => fields), ...policyReference()];
  for (const { name, doc } of docs) expect(doc, name).toMatch(/\w/);
  expect(policyReference().map(({ name, types }) => [name, types.length])).toEqual([
    ['if_exists', 3],
    ['if_changed', 4],
    ['if_missing', 2],
    ['if_parent_missing', 3],
    ['if_both', 1],
    ['if_edited', 2],
    ['if_contact_exists', 1],
    ['duplicates', 5],
  ]);
});
