import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { collect } from '../testing/collect.ts';
import { exampleAnswer } from '../testing/contract-examples.ts';
import { refusal } from '../testing/fixtures.ts';
import { type StubGateway, startStubGateway } from '../testing/stub-gateway.ts';
import { ConflictError, type MarketingContentRecord, Tallygate } from './index.ts';

let gateway: StubGateway;
let tallygate: Tallygate;
beforeEach(async () => {
  gateway = await startStubGateway();
  tallygate = new Tallygate({ sessionToken: 'tgs_secret', baseUrl: gateway.baseUrl });
});
afterEach(() => gateway[Symbol.asyncDispose]());

const ID = '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77';
const piece: MarketingContentRecord = {
  ...{ content_id: ID, type: 'post', slug: 'hello', title: 'Hello', summary: null, body: 'Text.', tags: [], status: 'draft', version: 1 },
  ...{ created_by: null, updated_by: null, created_at: '2026-11-21T08:00:00.000Z', updated_at: '2026-11-21T08:00:00.000Z' },
  ...{ first_published_at: null, published_at: null },
};

describe('content', () => {
  it('is written, changed from a version, published and taken back', async () => {
    gateway.script({ status: 201, json: piece }, { json: piece }, { json: piece }, { json: piece }, { json: piece });
    const request = { type: 'post', slug: 'hello', title: 'Hello', body: 'Text.' } as const;
    expect(await tallygate.content.create(request)).toEqual(piece);
    await tallygate.content.get(ID);
    await tallygate.content.update(ID, { version: 1, title: 'Hi' });
    await tallygate.content.publish(ID);
    await tallygate.content.unpublish(ID);
    expect(gateway.requests.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['POST', '/v1/marketing/content', request],
      ['GET', `/v1/marketing/content/${ID}`, undefined],
      ['PATCH', `/v1/marketing/content/${ID}`, { version: 1, title: 'Hi' }],
      ['POST', `/v1/marketing/content/${ID}/publish`, undefined],
      ['POST', `/v1/marketing/content/${ID}/unpublish`, undefined],
    ]);
    expect(gateway.requests[0]?.headers['idempotency-key']).toBeDefined();
  });

  it('that another user has changed rejects with a conflict', async () => {
    gateway.script(refusal('conflict'));
    await expect(tallygate.content.update(ID, { version: 1, title: 'Hi' })).rejects.toBeInstanceOf(ConflictError);
  });

  it('is listed over all pages', async () => {
    const other = '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee78';
    gateway.script(
      { json: { data: [piece], has_more: true, next_cursor: 'next' } },
      { json: { data: [{ ...piece, content_id: other }], has_more: false, next_cursor: null } },
    );
    const found = await collect(tallygate.content.list({ type: 'post', limit: 1 }));
    expect(found.map(({ content_id }) => content_id)).toEqual([ID, other]);
    expect(gateway.requests.map(({ query }) => query)).toEqual([
      { type: 'post', limit: '1' },
      { type: 'post', limit: '1', cursor: 'next' },
    ]);
  });

  it('that is published is read without a credential', async () => {
    const anybody = new Tallygate({ apiKey: null, baseUrl: gateway.baseUrl });
    gateway.script({ json: exampleAnswer('content.getPublished') }, { json: { data: [], has_more: false, next_cursor: null } });
    expect((await anybody.content.read('receipts-are-here')).title).toBe('Receipts are here');
    await anybody.content.listPublished();
    expect(gateway.requests.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ['/v1/content/receipts-are-here', undefined],
      ['/v1/content', undefined],
    ]);
  });
});
