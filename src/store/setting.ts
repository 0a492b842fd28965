/** Single values that a database keeps by their names. */
import type { Database } from './sqlite.ts';

/** `of`: which of the attached databases; the first one by default. */
type Of = 'plan' | 'checkpoint';

const table = (of?: Of): string => (of === undefined ? 'setting' : `${of}.setting`);

export function readSetting(db: Database, name: string, of?: Of): string | undefined {
  return db.get<{ value: string }>(`select value from ${table(of)} where name = ?`, name)?.value;
}

export function storeSetting(db: Database, name: string, value: string, of?: Of): void {
  db.run(`insert or replace into ${table(of)} (name, value) values (?, ?)`, name, value);
}
