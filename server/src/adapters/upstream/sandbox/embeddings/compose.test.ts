import { EmbeddingList } from '@tallygate/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sandboxAt } from '../testing/sandbox.ts';

const model = 'text-embedding-3-small';
const embeddings = sandboxAt('/v1/embeddings', { model, maxOutputTokens: null }, (call) => call);
const vectors = async (input: string | string[] | number[] | number[][], overrides: { model?: string; dimensions?: number } = {}) => {
  const { dimensions, ...call } = overrides;
  return (await embeddings.json({ model, input, ...(dimensions && { dimensions }) }, call)).data.map(
    ({ embedding }: { embedding: number[] }) => embedding,
  );
};
const dot = (a: readonly number[], b: readonly number[]) => a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
const floats = (base64: string) => {
  const bytes = Buffer.from(base64, 'base64');
  return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
};

describe('embeddings of the sandbox', () => {
  it.each([
    ['text-embedding-3-small', 1536],
    ['text-embedding-3-large', 3072],
    ['gemini-embedding-001', 3072],
    ['google/gemini-embedding-001', 3072],
  ])('of %s have %i dimensions', async (name, dimensions) => {
    const [vector] = await vectors('A ledger.', { model: name });
    expect(vector).toHaveLength(dimensions);
    expect(dot(vector, vector)).toBeCloseTo(1, 4);
  });

  it('are unit vectors of the length asked for, one for each input, the same as floats and as base64', async () => {
    const inputs = fc.oneof(
      fc.string({ minLength: 1 }),
      fc.array(fc.string({ minLength: 1, unit: 'grapheme' }), { minLength: 1, maxLength: 4 }),
      fc.array(fc.nat(), { minLength: 1, maxLength: 5 }),
      fc.array(fc.array(fc.nat(), { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 3 }),
    );
    await fc.assert(
      fc.asyncProperty(inputs, fc.integer({ min: 1, max: 1536 }), async (input, dimensions) => {
        const list = EmbeddingList.parse(await embeddings.json({ model, input, dimensions }));
        const packed = EmbeddingList.parse(await embeddings.json({ model, input, dimensions, encoding_format: 'base64' }));
        expect(list.data).toHaveLength(typeof input === 'string' || typeof input[0] === 'number' ? 1 : input.length);
        for (const [index, { embedding }] of list.data.entries()) {
          const vector = typeof embedding === 'string' ? [] : embedding;
          expect(vector).toHaveLength(dimensions);
          expect(dot(vector, vector)).toBeCloseTo(1, 4);
          expect(floats(String(packed.data[index]?.embedding))).toEqual(vector.map(Math.fround));
        }
        expect(packed.usage).toEqual(list.usage);
        expect(list.usage.prompt_tokens).toBeGreaterThan(0);
      }),
      { numRuns: 40 },
    );
  });

  it('lie nearer to each other the more words their texts share', async () => {
    const [cat, kitten, tax] = await vectors([
      'The cat sat on the mat and slept.',
      'A cat is sleeping on the mat.',
      'Quarterly revenue must be reported to authorities.',
    ]);
    expect(dot(cat, kitten)).toBeGreaterThan(dot(cat, tax) + 0.2);
    expect(dot(kitten, tax)).toBeLessThan(0.2);
    const [short, other, far] = await vectors(['the cat sat', 'a cat sat', 'tax law'], { dimensions: 256 });
    expect(dot(short, other)).toBeGreaterThan(dot(short, far));
  });

  it('are refused where more dimensions are asked for than the model has', async () => {
    expect(await embeddings.ask({ model, input: 'x', dimensions: 1537 })).toMatchObject({ kind: 'rejected', param: 'dimensions' });
    expect(await embeddings.ask({ model, input: 'x', dimensions: 3072 }, { model: 'gemini-embedding-001' })).toMatchObject({ ok: true });
  });

  it('are made one by one, so that thousands of them hold nobody up', async () => {
    const answer = await embeddings.answer({ model, input: Array.from({ length: 200 }, (_, index) => `Text ${index} `.repeat(200)) });
    let longestMicros = 0;
    let last = process.threadCpuUsage().user;
    await answer.pump(() => {
      const now = process.threadCpuUsage().user;
      longestMicros = Math.max(longestMicros, now - last);
      last = now;
    });
    expect(longestMicros).toBeLessThan(100_000);
  });
});
