import { quotaUnits } from '@tallygate/receipts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Units } from '../../adapters/lanes/port.ts';
import { unitsBound } from './units-bound.ts';
import { NO_USAGE } from './usage.ts';
import type { WorkBound } from './work.ts';

const some = fc.nat({ max: 3_000 });
const bounds: fc.Arbitrary<WorkBound> = fc.record(
  {
    inputTokens: some,
    fixedOutputTokens: some,
    imageOutputTokens: some,
    inputCharacters: some,
    audioSeconds: some,
    videoSeconds: some,
    images: fc.integer({ min: 1, max: 10 }),
    rereads: fc.integer({ min: 1, max: 9 }),
  },
  { requiredKeys: ['inputTokens'] },
);

/** All that is allowed by a bound, or less; images are made where there is a bound on them. */
const usages = (bound: WorkBound, output: number) => {
  const upTo = (most = 0) => fc.nat({ max: most });
  return fc
    .record({
      ...{ prompt: upTo(bound.inputTokens), text: upTo(output + (bound.fixedOutputTokens ?? 0)), image: upTo(bound.imageOutputTokens) },
      ...{
        input_characters: upTo(bound.inputCharacters),
        audio_seconds: upTo(bound.audioSeconds),
        video_seconds: upTo(bound.videoSeconds),
      },
      reread: fc.double({ min: 0, max: bound.rereads ?? 0, noNaN: true }),
      images: bound.images ? fc.integer({ min: 1, max: bound.images }) : fc.constant(0),
    })
    .map(({ prompt, text, image, reread, ...others }) => ({
      ...NO_USAGE,
      ...others,
      input_tokens: prompt + Math.floor(text * reread),
      output_tokens: text + image,
    }));
};

test('no usage within any of the bounds counts more units than are held for them together', () => {
  const cases = fc
    .record({ offered: fc.array(bounds, { minLength: 1, maxLength: 3 }), output: some, isForImages: fc.boolean() })
    .map(({ offered, isForImages, output }) => ({
      // Either all models make images, or none does.
      offered: offered.map(({ images = 1, ...bound }) => (isForImages ? { ...bound, images } : bound)),
      output,
    }))
    .chain(({ offered, output }) =>
      fc
        .constantFrom(...offered)
        .chain((bound) => usages(bound, output))
        .map((usage) => ({ offered, output, usage })),
    );
  fc.assert(
    fc.property(cases, ({ offered, output, usage }) => {
      const { units, unitsPerOutputToken = 1 } = unitsBound(offered);
      const held: Units = { ...units, tokens: (units['tokens'] ?? 0n) + BigInt(output * unitsPerOutputToken) };
      for (const [meter, used] of Object.entries(quotaUnits(usage))) expect(used <= (held[meter] ?? 0n), `${used} ${meter}`).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});
