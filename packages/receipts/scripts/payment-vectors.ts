import type { ReceiptPayload } from '../src/receipt.ts';
import { altered, type BrokenVector, broken, honest } from './broken-vector.ts';
import { issue, noUsage, payloadWith } from './vector-receipts.ts';

type Payment = ReceiptPayload['payment'];

const paid = (payment: Partial<Payment>): Payment => ({ ...honest.payload.payment, ...payment });

/** Costs 384,000 nano-USD, of 1,540 tokens, of which 770 are covered: half is charged. */
export const halfCovered = (changes: Partial<ReceiptPayload> = {}): ReceiptPayload =>
  payloadWith({ payment: paid({ covered: { requests: 1, tokens: 770 }, charged_nano_usd: '192000' }), ...changes });

/** Receipts whose payment holds, by name. */
export const goodPayments = {
  'covered-by-quota': [
    'The quota covered all of it.',
    payloadWith({ payment: paid({ covered: { requests: 1, tokens: 1540 }, charged_nano_usd: '0' }) }),
  ],
  'covered-in-part': ['770 of its 1,540 tokens were covered: half of its cost is charged.', halfCovered()],
  'covered-in-part-rounded-up': [
    '1,539 of its 1,540 tokens were covered: 384,000 ÷ 1,540 nano-USD are charged, rounded up to 250.',
    payloadWith({ payment: paid({ covered: { requests: 1, tokens: 1539 }, charged_nano_usd: '250' }) }),
  ],
  'paid-by-invoice': ['Beyond the quota an invoice pays.', payloadWith({ payment: paid({ plan: 'enterprise@2', funding: 'invoice' }) })],
  'beyond-the-quota-of-a-plan-that-stops-there': [
    'The provider billed more than was held: what exceeds the quota is charged, although nothing may go beyond it.',
    payloadWith({ payment: paid({ plan: 'free@1', funding: 'none', covered: { requests: 1, tokens: 1232 }, charged_nano_usd: '76800' }) }),
  ],
  'scarcest-meter-decides': [
    'All of the tokens were left and 15 of 60 seconds of audio: a quarter is covered, of the tokens rounded up.',
    payloadWith({
      model_requested: 'whisper-1',
      model_served: 'whisper-1',
      usage: { ...noUsage, output_tokens: 41, audio_seconds: 60 },
      unit_prices_pico_usd: { audio_seconds: '100000000' },
      cost_nano_usd: '6000000',
      payment: paid({ covered: { requests: 1, tokens: 11, audio_seconds: 15 }, charged_nano_usd: '4500000' }),
    }),
  ],
  'batch-line-charged-less': [
    'A line of a batch may be charged less than its share: units do not divide as finely as money.',
    payloadWith({ kind: 'batch_line', payment: paid({ covered: { requests: 1, tokens: 770 }, charged_nano_usd: '191999' }) }),
  ],
} as const satisfies Readonly<Record<string, readonly [why: string, payload: ReceiptPayload]>>;

const wrong = (why: string, payment: Partial<Payment>, changes: Partial<ReceiptPayload> = {}): BrokenVector =>
  broken('payment_mismatch', why, altered({ ...changes, payment: paid(payment) }));

export const brokenPayments: Readonly<Record<string, BrokenVector>> = {
  'charged-although-covered': wrong('The quota covered all of it, and all of it was charged.', { covered: { requests: 1, tokens: 1540 } }),
  'charged-one-too-many': wrong('Half was covered, and a nano-dollar more than half charged.', {
    covered: { requests: 1, tokens: 770 },
    charged_nano_usd: '192001',
  }),
  'charged-one-too-few': wrong('Half was covered, and a nano-dollar less than half charged.', {
    covered: { requests: 1, tokens: 770 },
    charged_nano_usd: '191999',
  }),
  'charged-above-cost': wrong('More was charged than it cost.', { charged_nano_usd: '384001' }),
  'batch-line-charged-more': wrong(
    'A line of a batch that is charged more than its share.',
    { covered: { requests: 1, tokens: 770 }, charged_nano_usd: '192001' },
    { kind: 'batch_line' },
  ),
  'covered-above-usage': wrong('More tokens were covered than used.', { covered: { requests: 1, tokens: 1541 }, charged_nano_usd: '0' }),
  'covered-in-two-shares': wrong('Half of the tokens were covered, and the request not at all.', {
    covered: { tokens: 770 },
    charged_nano_usd: '384000',
  }),
  'covered-unused-meter': wrong('Images were covered, and none made.', { covered: { images: 1 } }),
  'test-mode-charged': wrong('Nobody pays in test mode.', { funding: 'test', plan: null }, { livemode: false }),
  'test-mode-covered': wrong(
    'No quota covers anything in test mode.',
    { funding: 'test', plan: null, covered: { requests: 1, tokens: 1540 }, charged_nano_usd: '0' },
    { livemode: false },
  ),
  'live-mode-paid-by-nobody': wrong('A live request that nobody pays.', { funding: 'test', plan: null, charged_nano_usd: '0' }),
  'failure-takes-quota': wrong(
    'A request without an answer takes a request of the quota.',
    { covered: { requests: 1 }, charged_nano_usd: '0' },
    { outcome: 'failed', usage: noUsage, cost_nano_usd: '0' },
  ),
  'cached-takes-quota': wrong(
    'An answer that was kept takes a request of the quota.',
    { covered: { requests: 1 }, charged_nano_usd: '0' },
    { outcome: 'cached', usage: noUsage, cost_nano_usd: '0' },
  ),
  'covered-zero': broken(
    'malformed',
    'A zero is left out: it would be a second spelling.',
    altered({ payment: paid({ covered: { images: 0 } }) }),
  ),
  'covered-unknown-meter': broken(
    'unknown_field',
    'A meter that no quota has.',
    altered({ payment: paid({ covered: { bytes: 1 } as object }) }),
  ),
  'plan-without-version': broken('malformed', 'A plan is named with its version.', altered({ payment: paid({ plan: 'pro' }) })),
  'payment-missing': broken('malformed', 'It does not say who paid.', issue(withoutPayment())),
};

function withoutPayment(): ReceiptPayload {
  const { payment: _, ...rest } = honest.payload;
  return rest as ReceiptPayload;
}
