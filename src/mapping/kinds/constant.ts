import type { JsonScalar } from '../../json.ts';
import * as part from '../schema-parts.ts';
import { valueText } from '../values/result.ts';
import { kind } from './kind.ts';

/** `value: EUR` */
export const constant = kind<JsonScalar>({
  schema: () => part.constant,
  shape: () => 'scalar',
  words: (value) => ({ from: `always ${valueText(value)}`, how: [] }),
  read: (value) => (value === '' ? () => undefined : () => value),
});
