import type { StoredVerification } from '../../src/report/files/documents.ts';

/** The result of a `verify`, with what a test says of it. */
export function verification(given: Partial<StoredVerification>): StoredVerification {
  return {
    ...{ migration: 'people', base_url: 'https://crm.example', finished_at: '2026-03-04T10:00:00Z' },
    ...{ sample: 'all', exit: { code: 1, reason: 'different' }, entities: {}, requests: 3 },
    plan: { digest: null, is_dry_run: false },
    files: { verify: 'verify.csv' },
    ...given,
  };
}
