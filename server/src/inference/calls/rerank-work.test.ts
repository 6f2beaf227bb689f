import { RerankRequest } from '@tallygate/contract';
import { describe, expect, it } from 'vitest';
import { loadCatalog } from '../../money/catalog/index.ts';
import { rerankWork } from './rerank-work.ts';
import { countTokensGuarded } from './token-count.ts';

const RECEIVED = { bytes: Buffer.alloc(0), files: [], sha256: () => '0'.repeat(64) };
const modelOf = (id: string) => {
  const model = loadCatalog().find(id);
  if (!model) throw new Error(id);
  return model;
};
const SEARCHES = modelOf('rerank-v4.0-pro');
const TOKENS = modelOf('jina-reranker-v2-base-multilingual');
const tokenizer = { count: countTokensGuarded, close: async () => {} };
const DOCUMENTS = ['The ledger sums to zero.', 'Grüße, 世界'];

const work = (fields: object = {}) =>
  rerankWork(RerankRequest.parse({ model: SEARCHES.id, query: 'What sums to zero?', documents: DOCUMENTS, ...fields }), RECEIVED);
const formAt = (model: typeof SEARCHES, fields: object = {}) => {
  const dialect = work(fields).dialects.find(({ suits }) => suits?.(model, { readsGoogleFields: false }) ?? true);
  if (!dialect) throw new Error(model.id);
  return dialect.form;
};
const read = (model: typeof SEARCHES, answer: unknown, fields: object = {}) =>
  formAt(model, fields).read(Buffer.from(JSON.stringify(answer)), 'application/json');
const unitsOf = (fields: object) => work(fields).bound(SEARCHES).searchUnits;

describe('the worst case of a ranking', () => {
  it('has a token for each byte of each document, and of the query with each of them', () => {
    const least = DOCUMENTS.reduce((sum, text) => sum + Buffer.byteLength(text) + 'What sums to zero?'.length, 0);
    expect(work().bound(TOKENS).inputTokens).toBeGreaterThanOrEqual(least);
    expect(work().bound(TOKENS).searchUnits).toBeUndefined();
  });

  it('has a search for each hundred documents', () => {
    const documents = Array.from({ length: 100 }, () => 'short');
    expect([unitsOf({ documents }), unitsOf({ documents: [...documents, 'one more'] })]).toEqual([1, 2]);
  });

  it('counts a long document as its parts, up to the tokens that documents are cut to', () => {
    const documents = Array.from({ length: 10 }, () => 'a'.repeat(50_000));
    // With the query of 100 bytes 400 of the 500 tokens of a part are the document's.
    const query = 'q'.repeat(100);
    expect(unitsOf({ documents, query })).toBe(13);
    expect(unitsOf({ documents, query, max_tokens_per_doc: 4_000 })).toBe(1);
    expect(unitsOf({ documents: [documents[0], 'a'], query: 'q'.repeat(5_000) })).toBe(3);
  });

  it.each([SEARCHES, TOKENS])('is never less than what is charged where the provider does not say it: $id', async (model) => {
    const fields = { documents: ['x', '', '世界'.repeat(5_000)], query: '世' };
    const { inputTokens, searchUnits = 0 } = work(fields).bound(model);
    const usage = await work(fields).estimate(model, { text: '', scale: 1 }, null, tokenizer);
    expect(usage.input_tokens).toBeLessThanOrEqual(inputTokens);
    expect(usage.search_units ?? 0).toBeLessThanOrEqual(searchUnits);
    expect(usage.input_tokens + (usage.search_units ?? 0)).toBeGreaterThan(0);
  });
});

describe('what a provider is sent', () => {
  it('is texts, whatever the documents are', () => {
    const documents = ['a', { text: 'b', image: 'https://a.test/b.png' }];
    const [{ request }] = work({ documents, return_documents: true, top_n: 1 }).dialects;
    expect(request).toEqual({ model: SEARCHES.id, query: 'What sums to zero?', documents: ['a', 'b'], top_n: 1 });
  });

  it('is the fields that documents are ranked by, in their order', () => {
    const documents = [{ title: 'T', body: 'B', id: 7 }, { body: 'C' }];
    expect(work({ documents, rank_fields: ['body', 'title'] }).dialects[0].request).toMatchObject({ documents: ['B\nT', 'C'] });
  });

  it.each([
    [{ documents: [{ title: 'T' }] }, 'documents.0'],
    [{ documents: ['a', { text: 1 }] }, 'documents.1'],
    [{ documents: [{ text: 'a' }], rank_fields: ['title'] }, 'documents.0'],
    [{ documents: [{ text: 'a' }], rank_fields: ['constructor'] }, 'documents.0'],
  ])('is nothing for a document without a text: %j', (fields, at) => {
    expect(() => work(fields)).toThrow(
      expect.objectContaining({
        code: 'validation_failed',
        extras: expect.objectContaining({ errors: [expect.objectContaining({ loc: ['body', 'documents', Number(at.slice(-1))] })] }),
      }),
    );
  });
});

describe('the answer of a ranking', () => {
  const results = [
    { index: 1, relevance_score: 0.9 },
    { index: 0, relevance_score: 0.1 },
  ];
  const cost = async (answer: Awaited<ReturnType<typeof read>>) => {
    if (!answer?.usage) throw new Error('no usage');
    return JSON.parse(String(await answer.toBytes({ usage: answer.usage, costUsd: 0.5 })));
  };

  it('is charged by the units that Cohere bills, also where it tells its tokens beside them', async () => {
    const meta = { billed_units: { search_units: 2 }, tokens: { input_tokens: 900 } };
    const answer = await read(SEARCHES, { id: 'a', results, meta });
    expect(answer?.usage).toMatchObject({ search_units: 2 });
    expect(await cost(answer)).toMatchObject({ id: 'a', meta, results, usage: { search_units: 2, cost: 0.5 } });
    const inText = { billed_units: { search_units: '2' } };
    expect((await read(SEARCHES, { results, meta: inText }))?.usage).toMatchObject({ search_units: 2 });
    expect((await read(SEARCHES, { results, meta, usage: { total_tokens: 900 } }))?.usage).toMatchObject({ search_units: 2 });
  });

  it('is charged by the tokens that Jina and Cohere’s newer models count', async () => {
    expect((await read(TOKENS, { results, usage: { total_tokens: 815, prompt_tokens: 815 } }))?.usage).toMatchObject({ input_tokens: 815 });
    expect((await read(TOKENS, { results, meta: { billed_units: { input_tokens: 40 } } }))?.usage).toMatchObject({ input_tokens: 40 });
    expect(await cost(await read(TOKENS, { results, usage: { total_tokens: 3 } }))).toMatchObject({
      usage: { total_tokens: 3, cost: 0.5 },
    });
  });

  it.each([
    [SEARCHES, { total_tokens: 3 }],
    [SEARCHES, { search_units: 0 }],
    [TOKENS, { search_units: 3 }],
    [TOKENS, undefined],
  ])('says nothing of the price of another unit: %#', async (model, usage) => {
    expect((await read(model, { results, usage }))?.usage).toBeUndefined();
  });

  it('has the documents where they were asked for, as they were sent, and no more results than that', async () => {
    const documents = ['a', { text: 'b', id: 7 }];
    const answer = await read(SEARCHES, { results, meta: { billed_units: { search_units: 1 } } }, { documents, return_documents: true });
    expect((await cost(answer)).results).toEqual([
      { ...results[0], document: { text: 'b', id: 7 } },
      { ...results[1], document: { text: 'a' } },
    ]);
    const first = await read(SEARCHES, { results, meta: { billed_units: { search_units: 1 } } }, { top_n: 1 });
    expect((await cost(first)).results).toEqual([results[0]]);
  });

  it('begins with the most relevant document, in whatever order its provider gives them', async () => {
    const meta = { billed_units: { search_units: 1 } };
    const answer = await read(SEARCHES, { results: results.toReversed(), meta }, { top_n: 1 });
    expect((await cost(answer)).results).toEqual([results[0]]);
  });

  it.each(['[]', '{"results":[]}', '{"results":[{"index":2,"relevance_score":1}]}', '{"results":[{"index":0}]}', '{"data":[{"index":0}]}'])(
    'is none that names no document: %s',
    async (body) => {
      expect(await formAt(SEARCHES).read(Buffer.from(body), null)).toBeUndefined();
    },
  );
});
