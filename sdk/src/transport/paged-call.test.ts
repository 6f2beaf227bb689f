import { afterEach, beforeEach, expect, it } from 'vitest';
import { collect } from '../../testing/collect.ts';
import { exampleAnswer } from '../../testing/contract-examples.ts';
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

const page = (numbers: number[], next_cursor: string | null = null) => ({
  json: { data: numbers.map(auditEntry), has_more: next_cursor !== null, next_cursor },
});
const ids = (numbers: number[]) => numbers.map((number) => auditEntry(number).entry_id);
const queries = () => gateway.requests.map(({ query }) => query);

it('is the page that was asked for when it is awaited', async () => {
  gateway.script(page([5, 4], 'next'));
  const { data, has_more, next_cursor } = await tallygate.auditLog.list({ limit: 2 });
  expect(data.map(({ entry_id }) => entry_id)).toEqual(ids([5, 4]));
  expect([has_more, next_cursor]).toEqual([true, 'next']);
  expect(queries()).toEqual([{ limit: '2' }]);
});

it('is every item when it is iterated, with the same filter on every page', async () => {
  gateway.script(page([5, 4], 'one'), page([3, 2], 'two'), page([1]));
  const entries = await collect(tallygate.auditLog.list({ action: 'key.created', limit: 2 }));
  expect(entries.map(({ entry_id }) => entry_id)).toEqual(ids([5, 4, 3, 2, 1]));
  const filter = { action: 'key.created', limit: '2' };
  expect(queries()).toEqual([filter, { ...filter, cursor: 'one' }, { ...filter, cursor: 'two' }]);
});

it('begins at the cursor that it is given', async () => {
  gateway.script(page([3, 2], 'two'), page([1]));
  expect(await collect(tallygate.auditLog.list({ cursor: 'one' }))).toHaveLength(3);
  expect(queries()).toEqual([{ cursor: 'one' }, { cursor: 'two' }]);
});

it('shows no person twice whom new ones moved to the next page', async () => {
  const {
    data: [person],
    ...counts
  } = exampleAnswer('people.list') as { data: object[] };
  const idOf = (n: number) => `019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee7${n}`;
  const people = (numbers: number[], offset: number, total: number) => ({
    json: { ...counts, data: numbers.map((n) => ({ ...person, person_id: idOf(n) })), has_more: offset + 2 < total, total, offset },
  });
  gateway.script(people([3, 2], 0, 3), people([2, 1], 2, 4));
  expect((await collect(tallygate.people.list({ limit: 2 }))).map(({ person_id }) => person_id)).toEqual([3, 2, 1].map(idOf));
  expect(queries()).toEqual([{ limit: '2' }, { limit: '2', offset: '2' }]);
});

it('fetches no page that the loop does not get to', async () => {
  gateway.script(page([5, 4], 'next'));
  for await (const _ of tallygate.auditLog.list()) break;
  expect(gateway.requests).toHaveLength(1);
});

it('ends where a page is empty, even if it says that the list continues', async () => {
  gateway.script(page([], 'next'));
  expect(await collect(tallygate.auditLog.list())).toEqual([]);
});

it('throws out of the loop what a later page is refused with', async () => {
  gateway.script(page([5, 4], 'next'), refusal('scope_required'));
  await expect(collect(tallygate.auditLog.list())).rejects.toBeInstanceOf(PermissionError);
});
