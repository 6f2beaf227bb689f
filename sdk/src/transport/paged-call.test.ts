import { afterEach, beforeEach, expect, it } from 'vitest';
import { collect } from '../../testing/collect.ts';
import { auditEntry, refusal } from '../../testing/fixtures.ts';
import { type StubGateway, startStubGateway } from '../../testing/stub-gateway.ts';
import { PermissionError, Tallygate } from '../index.ts';

let gateway: StubGateway;
let tallygate: Tallygate;
beforeEach(async () => {
  gateway = await startStubGateway();
  tallygate = new Tallygate({ apiKey: 'tg_test_secret', baseUrl: gateway.baseUrl });
});
afterEach(() => gateway[Symbol.asyncDispose]());

const page = (numbers: number[], offset: number, total: number) => ({
  json: { items: numbers.map(auditEntry), total, limit: 2, offset },
});
const ids = (numbers: number[]) => numbers.map((number) => auditEntry(number).entry_id);
const queries = () => gateway.requests.map(({ query }) => query);

it('is the page that was asked for when it is awaited', async () => {
  gateway.script(page([5, 4], 0, 5));
  const { items, total } = await tallygate.auditLog.list({ limit: 2 });
  expect(items.map(({ entry_id }) => entry_id)).toEqual(ids([5, 4]));
  expect(total).toBe(5);
  expect(queries()).toEqual([{ limit: '2' }]);
});

it('is every item when it is iterated, with the same filter on every page', async () => {
  gateway.script(page([5, 4], 0, 5), page([3, 2], 2, 5), page([1], 4, 5));
  const entries = await collect(tallygate.auditLog.list({ action: 'key.created', limit: 2 }));
  expect(entries.map(({ entry_id }) => entry_id)).toEqual(ids([5, 4, 3, 2, 1]));
  const filter = { action: 'key.created', limit: '2' };
  expect(queries()).toEqual([filter, { ...filter, offset: '2' }, { ...filter, offset: '4' }]);
});

it('shows nothing twice that new items pushed from one page to the next', async () => {
  gateway.script(page([3, 2], 0, 3), page([2, 1], 2, 4));
  expect((await collect(tallygate.auditLog.list())).map(({ entry_id }) => entry_id)).toEqual(ids([3, 2, 1]));
});

it('fetches no page that the loop does not get to', async () => {
  gateway.script(page([5, 4], 0, 5));
  for await (const _ of tallygate.auditLog.list()) break;
  expect(gateway.requests).toHaveLength(1);
});

it('ends where a page is empty, whatever the total says', async () => {
  gateway.script(page([], 0, 5));
  expect(await collect(tallygate.auditLog.list())).toEqual([]);
});

it('throws out of the loop what a later page is refused with', async () => {
  gateway.script(page([5, 4], 0, 5), refusal('scope_required'));
  await expect(collect(tallygate.auditLog.list())).rejects.toBeInstanceOf(PermissionError);
});
