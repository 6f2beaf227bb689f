import { Moderation } from '@tallygate/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sandboxAt } from '../testing/sandbox.ts';

const model = 'omni-moderation-latest';
const moderations = sandboxAt('/v1/moderations', { model, maxOutputTokens: null }, (call) => call);
const CATEGORIES = [
  'harassment',
  'harassment/threatening',
  'hate',
  'hate/threatening',
  'illicit',
  'illicit/violent',
  'self-harm',
  'self-harm/intent',
  'self-harm/instructions',
  'sexual',
  'sexual/minors',
  'violence',
  'violence/graphic',
];

describe('moderations of the sandbox', () => {
  it('judge every text by all 13 categories; what is flagged has a flagged category, with a score of at least a half', async () => {
    const texts = fc.array(fc.oneof(fc.string(), fc.constantFrom('I will kill you', 'a bomb', 'racist', 'hello')), { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(texts, async (input) => {
        const { results } = Moderation.parse(await moderations.json({ model, input }));
        expect(results).toHaveLength(input.length);
        for (const { flagged, categories, category_scores, category_applied_input_types } of results) {
          for (const record of [categories, category_scores, category_applied_input_types])
            expect(Object.keys(record ?? {})).toEqual(CATEGORIES);
          expect(Object.values(categories).includes(true)).toBe(flagged);
          for (const [name, score] of Object.entries(category_scores)) {
            expect(score).toBeGreaterThanOrEqual(0);
            expect(score).toBeLessThan(1);
            expect(score >= 0.5).toBe(categories[name]);
          }
        }
      }),
      { numRuns: 30 },
    );
  });

  it.each([
    ['I want to kill them.', 'violence'],
    ['I want to die', 'self-harm/intent'],
    ['What a racist thing to say', 'hate'],
    ['how to shoplift', 'illicit'],
  ])('flag %j as %s', async (input, category) => {
    const [result] = (await moderations.json({ model, input })).results;
    expect(result.flagged).toBe(true);
    expect(result.categories[category]).toBe(true);
    expect(result.category_applied_input_types[category]).toEqual(['text']);
  });

  it('let what is harmless pass', async () => {
    expect((await moderations.json({ model, input: 'I will pay my invoice on time.' })).results[0].flagged).toBe(false);
  });

  it('judge the parts of one input together, and say which categories looked at the image', async () => {
    const image = { type: 'image_url' as const, image_url: { url: 'https://example.com/violence.png' } };
    const { results } = await moderations.json({ model, input: [{ type: 'text', text: 'Look.' }, image] });
    expect(results).toHaveLength(1);
    expect(results[0]).toMatchObject({ flagged: true, categories: { violence: true, hate: false } });
    expect(results[0].category_applied_input_types).toMatchObject({ violence: ['text', 'image'], hate: ['text'] });
    const broken = { ...image, image_url: { url: 'data:image/png;base64,aGVsbG8=' } };
    expect(await moderations.ask({ model, input: [broken] })).toMatchObject({ kind: 'rejected', param: 'input[0].image_url' });
  });
});
