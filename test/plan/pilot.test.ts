import { describe, expect, it } from 'vitest';
import { defaultAccount } from '../../src/commands/sandbox/account.ts';
import type { Survey } from '../../src/survey/survey.ts';
import { pilotLines } from '../../src/report/pilot.ts';
import { surveyRare, toSend, type PlannedEvent } from './rare.ts';

const contents = (survey: Survey): string[] => toSend(survey).map(({ data }) => JSON.stringify(data));
const idOf = ({ entity, external_id: id }: PlannedEvent): string => `${entity}:${id}`;
const coverOf = ({ cover }: Survey): Pick<NonNullable<Survey['cover']>, 'counts' | 'missed'> => cover!;

describe('--pilot among 2,000 records whose branches are rare', () => {
  it('chooses records that together show every source, entry, stage, owner, field, omission and warning', async () => {
    await surveyRare({ pilot: '20' }, (survey) => {
      const { counts, missed } = coverOf(survey);
      expect(missed).toEqual([]);
      expect(counts).toEqual({
        records: 20,
        events: toSend(survey).length,
        features: {
          source: { covered: 3, occurring: 3 },
          entry: { covered: 4, occurring: 4 },
          stage: { covered: 8, occurring: 8 },
          owner: { covered: 5, occurring: 5 },
          omission: { covered: 1, occurring: 1 },
          warning: { covered: 1, occurring: 1 },
          field: { covered: 21, occurring: 21 },
        },
      });
    });
  });

  it('says of every record what it is the first to show, by the names of the service: each record shows it, and parents come first', async () => {
    await surveyRare({ pilot: '20' }, (survey) => {
      const { toSee } = survey.cover!;
      const events = new Map(toSend(survey).map((event) => [event.id, event]));
      const firstWith = (shown: string): PlannedEvent => {
        const { event } = toSee.find(({ shows }) => shows.includes(shown))!;
        return events.get(event)!;
      };
      const [sales] = defaultAccount().pipelines.filter(({ name }) => name === 'Sales');
      const won = sales!.stages.find(({ name }) => name === 'Won')!;
      expect(firstWith('stage Sales / Won').data.stage_id).toBe(won.id);
      const grace = defaultAccount().users.find(({ email }) => email === 'grace@example.test')!;
      expect(firstWith('owner Grace Hopper').data.owner_id).toBe(grace.id);
      const withoutPhone = firstWith('phone_number left out: bad_phone');
      expect([withoutPhone.type, withoutPhone.data.phone_number]).toEqual(['lead/created', undefined]);
      expect(firstWith('new deal (entry 3)').data.title).toMatch(/^(Renewal|Upsell): /);
      const places = new Map(toSee.map(({ event }, place) => [idOf(events.get(event)!), place]));
      for (const [place, { event }] of toSee.entries()) {
        const { parent_entity: entity, parent_id: id } = events.get(event)!;
        if (id !== null) expect(places.get(`${entity}:${id}`) ?? -1).toBeLessThan(place);
      }
    });
  });

  it('sends every parent of what it contains', async () => {
    await surveyRare({ pilot: '60' }, (survey) => {
      const ids = new Set(toSend(survey).map(idOf));
      for (const { parent_entity: entity, parent_id: id } of toSend(survey))
        if (id !== null) expect(ids).toContain(`${entity}:${id}`);
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
      expect(missed).toContain('stage Partners / Signed');
      const [covered, left] = pilotLines(counts, missed);
      expect(covered).toMatch(/^pilot of 5 records, \d+ events with their parents: 3 of 3 sources, /);
      expect(covered).toContain(`${stage!.covered} of 8 stages`);
      expect(left).toBe(`in the input but not in the pilot: ${missed.join(', ')}`);
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
});
