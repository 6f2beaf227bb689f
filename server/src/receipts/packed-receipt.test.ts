import { PlanMeter, PriceMeter, ReceiptUsage } from '@tallygate/contract';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newId, newReceiptId, newRequestId } from '../kernel/ids.ts';
import { issueReceipt, type ReceiptFacts, receiptColumns } from './issue-receipt.ts';
import { payloadOf } from './packed-receipt.ts';

const hex = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map((bytes) => Buffer.from(bytes).toString('hex'));
const amount = fc.bigInt({ min: 0n, max: 10n ** 29n }).map(String);
const counts = (...names: string[]) =>
  fc.dictionary(fc.constantFrom(...names), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), { maxKeys: names.length });
const text = fc.string({ unit: 'grapheme', maxLength: 40 });
const REQUIRED = { input_tokens: 0, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 0, reasoning_tokens: 0 };

/** Whatever a receipt may say. */
const facts = fc.record({
  kind: fc.constantFrom('usage', 'batch_line', 'media_job', 'refund', 'correction'),
  receipt_id: fc.constant('').map(() => newReceiptId()),
  request_id: fc.constant('').map(() => newRequestId()),
  account_id: fc.constant('').map(() => newId()),
  key_id: fc.option(fc.constant('').map(() => newId())),
  project_id: fc.option(fc.constant('').map(() => newId())),
  end_user: fc.option(text),
  tags: fc.option(fc.array(text, { maxLength: 10 })),
  livemode: fc.boolean(),
  account_sequence: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
  endpoint: fc.oneof(fc.constant('/v1/chat/completions'), text),
  run_id: fc.option(text),
  model_requested: text,
  model_served: text,
  provider: text,
  fallback: fc.constantFrom('none', 'deployment', 'model'),
  outcome: fc.constantFrom('completed', 'cancelled', 'abandoned', 'cut', 'failed', 'refunded', 'cached'),
  request_sha256: hex(32),
  response_sha256: hex(32),
  usage: counts(...Object.keys(ReceiptUsage.shape)).map((used) => ({
    ...REQUIRED,
    ...used,
  })),
  estimated: fc.boolean(),
  price_version: text,
  price_entry: fc.option(fc.record({ index: fc.nat({ max: 2 ** 40 }), digest: hex(32) })),
  price_tier_above_input_tokens: fc.option(fc.nat()),
  unit_prices_pico_usd: fc.dictionary(fc.constantFrom(...PriceMeter.options), amount, { maxKeys: PriceMeter.options.length }),
  price_factor: fc.constantFrom('1', '0.5', '0.25'),
  cost_nano_usd: amount,
  payment: fc.record({
    plan: fc.option(fc.constantFrom('pro@1', 'enterprise-large@27')),
    funding: fc.constantFrom('test', 'balance', 'invoice', 'none'),
    covered: counts(...PlanMeter.options),
    charged_nano_usd: amount,
  }),
  refund_of: fc.option(fc.constant('').map(() => newReceiptId())),
  started_at: fc.constant('2026-11-21T10:00:00.000Z'),
  completed_at: fc.integer({ min: 0, max: 10 ** 9 }).map((ms) => new Date(Date.parse('2026-11-21T10:00:00.000Z') + ms).toISOString()),
});
const receipts = fc
  .record({ facts, reason: text, waived: fc.option(amount), isSigned: fc.boolean() })
  .map(({ facts: said, reason, ...more }) => {
    const signature = { alg: 'ed25519', public_key: 'a', signature: 'b', signature_input: 'c"', content_digest: 'd' };
    return {
      ...said,
      refund_reason: said.refund_of === null ? null : reason,
      client_signature: more.isSigned ? signature : null,
      ...(more.waived !== null && { waived_nano_usd: more.waived }),
    } as unknown as ReceiptFacts;
  });

/** As it is read back from the table. */
const rowOf = (said: ReceiptFacts) => ({ ...receiptColumns(said), started_at: new Date(said.started_at) });

test('what is stored of a receipt, packed, gives back the very text that was digested', () => {
  fc.assert(
    fc.property(receipts, (said) => {
      const row = rowOf(said);
      expect(row.packed).not.toBeNull();
      expect(payloadOf(row)).toBe(issueReceipt(said).payload);
    }),
  );
});

test('a receipt that has no packed form is stored as text', () => {
  const [said] = fc.sample(receipts, 1);
  if (!said) throw new Error('no sample');
  for (const strange of [
    { usage: { ...said.usage, furlongs: 3 } as ReceiptFacts['usage'] },
    { completed_at: '2026-11-21T09:59:59.999Z' },
    { request_sha256: 'none' },
    { outcome: 'lost' as ReceiptFacts['outcome'] },
  ]) {
    const row = rowOf({ ...said, ...strange });
    expect(row.packed).toBeNull();
    expect(payloadOf(row)).toBe(issueReceipt({ ...said, ...strange }).payload);
  }
});

test('the packed form of today is that of the receipts that are stored: none of its lists has changed', () => {
  const said = {
    ...{ kind: 'usage', receipt_id: '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77', request_id: 'req_019aa2f1c2d37b6e8c4d1f00aa55ee77' },
    ...{ account_id: '019aa2f1-c2d3-7b6e-8c4d-000000000001', key_id: '019aa2f1-c2d3-7b6e-8c4d-000000000002', livemode: true },
    ...{ account_sequence: 7, endpoint: '/v1/audio/translations', run_id: null, model_requested: 'm', model_served: 'n', provider: 'groq' },
    ...{ fallback: 'model', outcome: 'refunded', request_sha256: 'a'.repeat(64), response_sha256: 'b'.repeat(64) },
    usage: { ...REQUIRED, input_tokens: 1, images: 2 },
    ...{ estimated: true, price_version: 'v', price_entry: { index: 300, digest: 'c'.repeat(64) }, price_tier_above_input_tokens: 5 },
    ...{ unit_prices_pico_usd: { video_seconds: '12345678901' }, price_factor: '0.5', cost_nano_usd: '20', waived_nano_usd: '3' },
    payment: { plan: 'pro@1', funding: 'none', covered: { tokens: 9 }, charged_nano_usd: '1' },
    ...{ refund_of: '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee78', refund_reason: 'r' },
    ...{ started_at: '2026-11-21T10:00:00.000Z', completed_at: '2026-11-21T10:00:01.500Z', client_signature: null },
  } as unknown as ReceiptFacts;
  expect(rowOf(said).packed?.toString('hex')).toMatchInlineSnapshot(
    `"01fb57019aa2f1c2d37b6e8c4d000000000002aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb1c2e0376040b70726f4031036d050200010d02010cb5b8f0fe2d010f09140103dc0bac02cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc019aa2f1c2d37b6e8c4d1f00aa55ee780372"`,
  );
});
