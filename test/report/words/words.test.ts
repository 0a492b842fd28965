// Lost without it: a code could have no sentence, or no way to fix it.
import { describe, expect, it } from 'vitest';
import { INGEST_CODES } from '../../../src/contract.ts';
import { codeHelp } from '../../../src/report/words/code-help.ts';
import { hintFor, issueOf, meaningOf, WORDS } from '../../../src/report/words/words.ts';

const codes = Object.keys(WORDS).filter((key) => !key.includes('/'));

describe('the vocabulary', () => {
  it('has a sentence for every code, and fixes that are sentences', () => {
    expect(codes.length).toBeGreaterThan(100);
    for (const code of codes) {
      const { what, fix } = meaningOf(code, undefined);
      expect(what, code).toMatch(/^[A-Z].*\.$/);
      if (fix !== '') expect(fix, code).toMatch(/^[A-Z`].*\.$/);
    }
  });

  it('is explained by `help CODE`: every code, with messages as people meet them', () => {
    for (const code of codes) {
      const text = codeHelp(code)!.join('\n');
      expect(text).toContain(meaningOf(code, undefined).what);
      expect(text).not.toMatch(/undefined|NaN|\[object/);
    }
    expect(codeHelp('bad_date/no_offset')).toBeUndefined();
  });

  it('explains every refusal with which the service rejects an event', () => {
    const { authFailed: _stops, ...refusals } = INGEST_CODES;
    for (const code of Object.values(refusals)) expect(codes).toContain(code);
  });

  it('explains an unknown code by the kind of its issue', () => {
    expect(meaningOf('http_418', 'send').what).toBe('The service rejected the event.');
    expect(meaningOf('http_418', undefined)).toEqual({ what: '', fix: '' });
  });
});

describe('an issue', () => {
  it('has a hint of its own where its code has further sentences', () => {
    const issue = issueOf('bad_date/no_offset', '`x`');
    expect(issue).toMatchObject({ code: 'bad_date', hint: 'set `defaults.timezone`' });
    expect(hintFor(issue)).toBe('set `defaults.timezone`');
  });
});
