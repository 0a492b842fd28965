import { describe, expect, it } from 'vitest';
import type { Survey } from '../../src/survey/survey.ts';
import { pilotLines } from '../../src/report/pilot.ts';
import { surveyRare, toSend } from './rare.ts';

const contents = (survey: Survey): string[] => toSend(survey).map(({ content }) => content);
const coverOf = ({ cover }: Survey): Pick<NonNullable<Survey['cover']>, 'counts' | 'missed'> => cover!;

describe('--pilot among 2,000 records whose branches are rare', () => {
  it('chooses records that together use every branch of the mapping, every stage and every owner', async () => {
    await surveyRare({ pilot: '40' }, (survey) => {
      const { counts } = coverOf(survey);
      expect(counts.records).toBe(40);
      expect(counts.events).toBe(toSend(survey).length);
      const { value, ...mapped } = counts.features;
      expect(mapped).toEqual({
        entry: { covered: 4, occurring: 4 },
        warning: { covered: 1, occurring: 1 },
        when: { covered: 5, occurring: 5 },
        map: { covered: 12, occurring: 12 },
        date: { covered: 6, occurring: 6 },
        from: { covered: 3, occurring: 3 },
        default: { covered: 3, occurring: 3 },
        field: { covered: 23, occurring: 23 },
        stage: { covered: 8, occurring: 8 },
        pipeline: { covered: 2, occurring: 2 },
        owner: { covered: 6, occurring: 6 },
        parent: { covered: 3, occurring: 3 },
        omission: { covered: 1, occurring: 1 },
      });
      expect(value?.covered).toBeGreaterThan(20);
    });
  });

  it('contains the rare values themselves, and every parent of what it contains', async () => {
    await surveyRare({ pilot: '60' }, (survey) => {
      const events = toSend(survey);
      const all = contents(survey).join('\n');
      for (const rare of [
        'Иван',
        'Annunziata',
        '"origin":"fair"',
        '"origin":"other"',
        'Upsell: ',
        '"amount":0.5',
        '"00184"',
      ])
        expect(all).toContain(rare);
      const ids = new Set(events.map(({ type, externalId }) => `${type.split('/')[0]}:${externalId}`));
      for (const { parent } of events) if (parent) expect(ids).toContain(`${parent.entity}:${parent.externalId}`);
    });
  });

  it('is the same for the same input', async () => {
    const first = await surveyRare({ pilot: '30' }, contents);
    expect(await surveyRare({ pilot: '30' }, contents)).toEqual(first);
  });

  it('says what occurs but did not fit', async () => {
    await surveyRare({ pilot: '5' }, (survey) => {
      const { counts, missed } = coverOf(survey);
      const { stage } = counts.features;
      expect(stage!.covered).toBeLessThan(stage!.occurring);
      expect(missed).toContain('stage `Agreed` in `Channel`');
      const [covered, left] = pilotLines(counts, missed);
      expect(covered).toMatch(/^pilot of 5 records, \d+ events with their parents: 4 of 4 entries, /);
      expect(covered).toContain(`${stage!.covered} of 8 stages`);
      expect(left).toMatch(/^in the input but not in the pilot: .+, and \d+ more$/);
    });
  });

  it('says nothing about what did not fit if everything fits', async () => {
    await surveyRare({ pilot: '100' }, (survey) => {
      const { counts, missed } = coverOf(survey);
      expect(missed).toEqual([]);
      expect(pilotLines(counts, missed)).toHaveLength(1);
      expect(counts.records).toBe(100);
    });
  });

  it('counts the features of the chosen types only, with --only', async () => {
    await surveyRare({ pilot: '20', only: 'lead' }, (survey) => {
      expect(new Set(toSend(survey).map(({ type }) => type))).toEqual(new Set(['lead/created']));
      expect(coverOf(survey).counts.features.entry).toEqual({ covered: 1, occurring: 1 });
      expect(coverOf(survey).counts.features.stage).toBeUndefined();
    });
  });

  it('shows the chosen events as samples', async () => {
    await surveyRare({ pilot: '12' }, (survey) => {
      const shown = [...survey.samples.values()].flat().map(({ content }) => content);
      expect(shown).toEqual(contents(survey));
    });
  });
});
