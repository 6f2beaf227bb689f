import { Ranking } from '@tallygate/contract';
import { describe, expect, it } from 'vitest';
import { sandboxAt } from '../testing/sandbox.ts';

const model = 'rerank-v4.0-pro';
const rankings = sandboxAt('/v1/rerank', { model, maxOutputTokens: null }, (call) => call);
const DOCUMENTS = ['The weather is fine.', 'The ledger sums to zero.', 'A ledger.'];
const query = 'What does the ledger sum to?';

describe('rankings of the sandbox', () => {
  it('put first what shares the most words with the query, the same each time', async () => {
    const answer = await rankings.json({ model, query, documents: DOCUMENTS });
    const { results } = Ranking.parse({ ...answer, usage: answer.usage });
    expect(results.map(({ index }) => index)).toEqual([1, 2, 0]);
    for (const { relevance_score: score } of results) expect(score).toBeGreaterThanOrEqual(0);
    expect((await rankings.json({ model, query, documents: DOCUMENTS })).results).toEqual(results);
  });

  it('give as many results as are asked for, and tell search units and tokens', async () => {
    const documents = Array.from({ length: 101 }, (_, at) => `document ${at}`);
    const { results, meta, usage } = await rankings.json({ model, query, documents, top_n: 2 });
    expect(results).toHaveLength(2);
    expect(meta.billed_units).toEqual({ search_units: 2 });
    expect(usage.total_tokens).toBeGreaterThan(202);
  });
});
