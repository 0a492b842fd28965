import type { Database } from './sqlite.ts';

/** What is stored as one JSON document in a plan. */
export type DocumentName = 'account' | 'mapping' | 'survey' | 'summary';

export function setDocument(db: Database, name: DocumentName, value: unknown): void {
  db.run('insert or replace into main.document (name, content) values (?, ?)', name, JSON.stringify(value));
}

/** Undefined if the plan has none. It was written by this version: another one has another schema. */
export function documentOf<Value>(db: Database, name: DocumentName): Value | undefined {
  const row = db.get<{ content: string }>('select content from main.document where name = ?', name);
  return row && (JSON.parse(row.content) as Value);
}
