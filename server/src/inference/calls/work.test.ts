import { CompletionRequest, EmbeddingRequest } from '@tallygate/contract';
import { describe, expect, it } from 'vitest';
import { loadCatalog } from '../../money/catalog/index.ts';
import { completionWork } from './completion-work.ts';
import { embeddingWork } from './embedding-work.ts';
import { countTokensGuarded } from './token-count.ts';

const RECEIVED = { bytes: Buffer.alloc(0), files: [], sha256: () => '0'.repeat(64) };
const modelOf = (id: string) => {
  const model = loadCatalog().find(id);
  if (!model) throw new Error(id);
  return model;
};
const tokenizer = { count: countTokensGuarded, close: async () => {} };

describe('embeddings', () => {
  const work = (input: unknown) => embeddingWork(EmbeddingRequest.parse({ model: 'text-embedding-3-small', input }), RECEIVED);
  const small = modelOf('text-embedding-3-small');

  it.each([['hello'], [['hello', 'Grüße, 世界']], [[1, 2, 3]], [[[1, 2], [3]]]])(
    '%j costs at most a token for each byte or token',
    (input) => {
      const texts = (Array.isArray(input) ? input : [input]).flat();
      const least = texts.reduce<number>((sum, one) => sum + (typeof one === 'string' ? Buffer.byteLength(one) : 1), 0);
      expect(work(input).bound(small).inputTokens).toBeGreaterThanOrEqual(least);
    },
  );

  it('are counted where bytes do not fit, tokens are not', async () => {
    const text = 'the ledger sums to zero '.repeat(50);
    const counted = await work([text, text]).countedBound?.(small, tokenizer);
    expect(counted?.inputTokens).toBeLessThan(work([text, text]).bound(small).inputTokens / 2);
    expect(await work([1, 2]).countedBound?.(small, tokenizer)).toBeUndefined();
  });

  it('show the cost in their usage, and are read where the provider sent none', async () => {
    const [{ form }] = work('hello').dialects;
    const body = { object: 'list', data: [{ object: 'embedding', index: 0, embedding: 'AAAA' }], model: 'm' };
    const answer = await form.read(Buffer.from(JSON.stringify({ ...body, usage: { prompt_tokens: 3, total_tokens: 3 } })), null);
    expect(answer?.usage).toMatchObject({ input_tokens: 3, output_tokens: 0 });
    const silent = await form.read(Buffer.from(JSON.stringify(body)), null);
    expect(silent?.usage).toBeUndefined();
    const shown = await silent?.toBytes({
      usage: { input_tokens: 2, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 0, reasoning_tokens: 0 },
      costUsd: 0.5,
    });
    expect(JSON.parse(String(shown))).toEqual({ ...body, usage: { prompt_tokens: 2, total_tokens: 2, cost: 0.5 } });
  });

  it.each(['nonsense', '[]', '{"data":[]}', '{"data":"x"}'])('%s is no answer', async (body) => {
    expect(await work('x').dialects[0].form.read(Buffer.from(body), null)).toBeUndefined();
  });
});

describe('completions', () => {
  const work = (fields: object) => completionWork(CompletionRequest.parse({ model: 'gpt-3.5-turbo-instruct', ...fields }), RECEIVED);

  it('hold for every choice that is made, best_of included, of every prompt', () => {
    expect(work({ prompt: ['a', 'b'], n: 2, best_of: 5, max_tokens: 10 }).output).toMatchObject({ asked: 10, choices: 10 });
  });

  it('end after sixteen tokens where the caller says nothing, as OpenAI’s do', () => {
    expect(work({ prompt: 'a' }).output).toMatchObject({ asked: 16, choices: 1 });
  });

  it('refuse best_of below n', () => {
    expect(() => work({ prompt: 'a', n: 3, best_of: 2 })).toThrow('`best_of` is too small');
  });
});
