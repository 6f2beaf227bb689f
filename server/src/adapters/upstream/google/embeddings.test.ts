import { describe, expect, it, test } from 'vitest';
import { atOnce } from '../../../kernel/turn.ts';
import { batchEmbedRequest, embeddingList as embeddingSteps } from './embeddings.ts';

const embeddingList = (...given: Parameters<typeof embeddingSteps>) => atOnce(embeddingSteps(...given));

const ask = (fields: object) => ({ model: 'gemini-embedding-001', input: 'x', ...fields });
const answer = (...vectors: number[][]) => ({ embeddings: vectors.map((values) => ({ values })) });

describe('embeddings', () => {
  it('are asked for one by one in a batch', () => {
    expect(batchEmbedRequest(ask({ input: ['a', 'b'], dimensions: 768 }), 'models/m')).toEqual({
      requests: [
        { model: 'models/m', content: { parts: [{ text: 'a' }] }, outputDimensionality: 768 },
        { model: 'models/m', content: { parts: [{ text: 'b' }] }, outputDimensionality: 768 },
      ],
    });
  });

  test.each([[[1, 2]], [[[1], [2]]]])('of another maker’s tokens are refused: %j', (input) => {
    expect(() => batchEmbedRequest(ask({ input }), 'models/m')).toThrow(expect.objectContaining({ param: 'input' }));
  });

  it('come as OpenAI’s list', () => {
    expect(embeddingList(answer([3, 4]), ask({}), 'm')).toEqual({
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [3, 4] }],
      model: 'm',
    });
    expect(embeddingList({ ...answer([3, 4]), usageMetadata: { promptTokenCount: 5 } }, ask({}), 'm')).toMatchObject({
      usage: { prompt_tokens: 5, total_tokens: 5 },
    });
  });

  it('of a chosen length have the length one', () => {
    expect(embeddingList(answer([3, 4]), ask({ dimensions: 2 }), 'm')).toMatchObject({ data: [{ embedding: [0.6, 0.8] }] });
  });

  it('in base64 are little-endian floats', () => {
    const list = embeddingList(answer([1, -2]), ask({ encoding_format: 'base64' }), 'm');
    expect(list).toMatchObject({ data: [{ embedding: Buffer.from(new Float32Array([1, -2]).buffer).toString('base64') }] });
  });

  it('are made in steps between which other work has its turn, however long a vector is', () => {
    const values = Array.from({ length: 300_000 }, () => 0.5);
    const steps = embeddingSteps(answer(values), ask({ dimensions: 300_000, encoding_format: 'base64' }), 'm');
    let taken = 0;
    while (!steps.next().done) taken += 1;
    expect(taken).toBeGreaterThan(3 * Math.floor(values.length / 16_384));
  });

  test.each([[null], [{}], [answer()], [answer([1], [2])], [answer([])]])('that are not as many as asked for are none: %j', (document) => {
    expect(embeddingList(document, ask({}), 'm')).toBeUndefined();
  });
});
