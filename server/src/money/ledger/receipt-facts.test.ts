import { expect, test } from 'vitest';
import { receiptFacts } from './receipt-facts.ts';
import { sampleRecord } from './sample-records.ts';

test('a clock that is set back while a request runs yields no receipt that completed before it began', () => {
  const record = { ...sampleRecord(), charged: 20n, debt: 0n, covered: {} };
  const { started_at, completed_at } = receiptFacts({ ...record, completedAt: record.startedAt - 5 }, { number: 1, price: null });
  expect(completed_at).toBe(started_at);
});
