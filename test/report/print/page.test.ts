// Lost without it: the page could show values, or what the input made it run.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { writeReport } from '../../../src/report/print/page.ts';
import { storeVerification } from '../../../src/report/files/documents.ts';
import { verification } from '../../verify/verification.ts';
import { openCheckpoint } from '../../../src/store/checkpoint.ts';
import type { StateDir } from '../../../src/files/state-dir.ts';
import { missingSection } from '../../../src/report/figures/missing.ts';
import { WORDS, type SentenceKey } from '../../../src/report/words/words.ts';
import { inSentence } from '../../../src/report/words/sentence.ts';
import { stateDirectory, type GivenState } from '../../state.ts';
import { FIXTURES, HOSTILE, hostileWith } from './hostile.ts';

vi.stubEnv('TZ', 'UTC');

async function written(state: StateDir, withValues = false): Promise<string> {
  return readFile(writeReport(state, state, { withValues }).path, 'utf8');
}

async function pageOf(given: GivenState, withValues = false): Promise<string> {
  return written(await stateDirectory(given), withValues);
}

/** The text of a page, row by row. */
function textOf(page: string): string {
  return page
    .replace(/<style>.*?<\/style>/s, '')
    .replace(/<\/(tr|p|li|h\d|caption|header|dd)>/g, '\n')
    .replace(/<[^>]*>/g, ' ')
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n+/g, '\n')
    .replace(/Written .* by crm-backfill\/\S+\./, 'Written TIME by TOOL.')
    .trim();
}

/** A run that was killed: 60 leads, of which eight had been acknowledged by an earlier run. */
const KILLED: GivenState = {
  survey: { migration: 'killed', at: '2026-03-02T21:00:01.000Z' },
  events: [
    { state: 'acknowledged', times: 29 },
    { state: 'duplicate' },
    { state: 'invalid' },
    { state: 'rejected' },
    { state: 'retry' },
    { state: 'ready', times: 27 },
  ],
  runs: [
    {
      at: '2026-03-02T21:00:01.000Z',
      answers: [
        ...Array.from({ length: 29 }, (_, n) => ({ id: `r${n}`, at: '2026-03-02T21:01:00.000Z' })),
        { status: 'rejected', at: '2026-03-02T21:01:00.000Z' },
        { status: 'rejected', at: '2026-03-02T21:01:00.000Z' },
      ],
    },
  ],
};

describe('the report page', () => {
  it('shows the outcome of every event, what is missing and omitted values', async () => {
    await expect(`${textOf(await pageOf(HOSTILE))}\n`).toMatchFileSnapshot(join(FIXTURES, 'hostile.page.txt'));
  });

  it('contains field values only with --with-values', async () => {
    expect(await pageOf(HOSTILE)).not.toContain('SECRET');
    const withValues = await pageOf(HOSTILE, true);
    for (const value of ['SECRET-DATE', 'SECRET-REPLY', 'SECRET-CELL', 'SECRET-PHONE', 'SECRET-MAIL']) {
      expect(withValues).toContain(value);
    }
    expect(withValues).toContain('handle it like the exports');
  });

  it.each([false, true])('escapes everything from the input (values: %s)', async (withValues) => {
    const page = await pageOf(HOSTILE, withValues);
    const tags = new Set([...page.matchAll(/<([a-z][a-z0-9]*)/g)].map(([, tag]) => tag));
    for (const tag of ['script', 'img', 'link', 'iframe', 'i>odd', 'form', 'object']) expect(tags).not.toContain(tag);
    expect(page.match(/<\/style>/g)).toHaveLength(1);
    expect(page).not.toMatch(/<[^>]*\son\w+=/);
    expect(page).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
    expect(page).toContain('[U+202E]');
    expect(page).not.toMatch(/(?:src|href)="(?!#)/);
    expect(page).not.toMatch(/url\(|@import/);
  });

  it('shows the present outcomes if the last run was killed', async () => {
    const text = textOf(await pageOf(KILLED));
    expect(text).toContain('Not finished');
    expect(text).toMatch(/leads 60 29 27 1 1 2$/m);
  });

  it('sends to whoever runs the migration what the mapping mends, and nothing else', () => {
    const told = (Object.keys(WORDS) as SentenceKey[]).flatMap((key) => {
      const { severity, kind, fix }: { severity: string; kind: string; fix?: string } = WORDS[key];
      const [code] = key.split('/') as [string];
      if (severity !== 'error' || kind === 'send' || !fix) return [];
      const cause = {
        kind,
        code,
        field: null,
        count: 1,
        frees: 1,
        message: 'it',
        http_status: null,
        messages: 1,
        places: [],
      };
      const place = { file: 'a.csv', line: 2, record: 1, externalId: null, original: null, data: null, types: [] };
      const error = { ...cause, ...place, share: 1, repeated: 0, hint: code === key ? null : inSentence(fix) };
      const [row] = missingSection({ errors: [error], omissions: [], warnings: [], several: 0 }, 0, true)!.rows;
      return [{ key, fix, who: row![3], how: row![4] }];
    });
    const who = (key: string) => told.find((each) => each.key === key)?.who;
    for (const { key, fix, who: found, how } of told.filter(({ fix: text }) =>
      /^(?:Set|Use|Convert|Parse) /.test(text),
    ))
      expect([key, found, how]).toEqual([key, 'migration team', fix]);
    expect(who('bad_phone')).toBe('customer');
    expect(who('bad_date')).toBe('customer');
    expect(who('bad_phone/rounded')).toBe('whoever exports');
    expect(who('unresolved_stage')).toBe('customer');
  });

  it.each([
    ['aaaa1111bbbb', false],
    ['cccc2222dddd', true],
  ])('of a plan that was compared with the service as %s, says whether to verify again', async (digest, isOther) => {
    const state = await stateDirectory(hostileWith({ plan: { digest: 'aaaa1111bbbb', events: 9 } }));
    const checkpoint = openCheckpoint(state);
    const lead = { acknowledged: 9, without_id: 0, not_in_input: 0, read_back: 9, equal: 8, missing: 0, unreadable: 0 };
    const entities = { lead: { ...lead, refused: 0, not_shown: null, fields: {} } };
    storeVerification(checkpoint, verification({ plan: { digest, is_dry_run: false }, entities }));
    checkpoint.close();
    const text = textOf(await written(state));
    expect(text).toMatch(/\nLeads 9 9 8 1 0\n/);
    expect(text).toContain('8 of 9 records match');
    expect(text).toContain(`Compared with the plan that was sent (${digest})`);
    expect(/another plan \(aaaa1111bbbb\): verify again/.test(text)).toBe(isOther);
  });

  it('stays small with many errors, stages and owners', async () => {
    const events = Array.from({ length: 20_000 }, (_, n) => {
      const problem = { code: `code_${n % 700}`, message: 'long '.repeat(40) };
      return { state: 'invalid' as const, problem };
    });
    const deals = Array.from({ length: 1_000 }, (_, n) => {
      const deal = { from_stage: `Stage ${n % 30}`, from_owner: `Owner ${n % 60}`, currency: n % 2 ? 'EUR' : 'USD' };
      return { type: 'deal/created', state: 'ready', deal: { ...deal, amount: '5' } } as const;
    });
    const page = await pageOf({ events: [...events, ...deals] }, true);
    expect(page.length).toBeLessThan(500_000);
    expect(page).toContain('20,000');
    expect(page).toContain('660 more are in errors.csv');
  });

  it('allows nothing but its own style sheet', async () => {
    expect(await pageOf(HOSTILE)).toMatch(
      /<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; style-src &#39;sha256-[\w+/]{43}=&#39;; base-uri &#39;none&#39;; form-action &#39;none&#39;"/,
    );
  });
});
