import type { PublishedPrices } from '../src/prices.ts';
import { altered, type BrokenVector, broken, honest, usage } from './broken-vector.ts';
import { issue, noUsage, payloadWith, refundWith } from './vector-receipts.ts';

const dishonest: Record<string, BrokenVector> = {
  overcharged: broken(
    'cost_mismatch',
    'Signed by the right key, yet one nano-USD too much.',
    issue(payloadWith({ cost_nano_usd: '384001' })),
  ),
  'waived-and-charged': broken(
    'cost_mismatch',
    'What was waived is charged all the same.',
    issue(payloadWith({ waived_nano_usd: '84000' })),
  ),
  'waived-nothing': broken('malformed', 'That nothing was waived is said by leaving it out.', issue(payloadWith({ waived_nano_usd: '0' }))),
  'waived-refund': broken('cost_mismatch', 'A refund that waives something.', issue(refundWith({ waived_nano_usd: '1' }))),
  'cached-charged-as-fresh': broken(
    'cost_mismatch',
    'Cached tokens were charged at the price of fresh ones although they have their own.',
    issue(payloadWith({ usage: { ...usage, cached_input_tokens: 1000 } })),
  ),
  'reasoning-charged-twice': broken(
    'cost_mismatch',
    'Reasoning tokens were added to the output of which they are a part.',
    issue(payloadWith({ usage: { ...usage, reasoning_tokens: 100 }, cost_nano_usd: '444000' })),
  ),
  'charged-failure': broken('charged_failure', 'A request without an answer was charged.', issue(payloadWith({ outcome: 'failed' }))),
  'charged-cached': broken('charged_cached', 'An answer that was kept was charged again.', issue(payloadWith({ outcome: 'cached' }))),
  'charged-cached-usage': broken(
    'charged_cached',
    'It costs nothing, yet it states usage: a kept answer uses none.',
    issue(payloadWith({ outcome: 'cached', unit_prices_pico_usd: {}, cost_nano_usd: '0' })),
  ),
  'price-missing': broken(
    'price_missing',
    'Output was charged at a price that the receipt does not state.',
    issue(payloadWith({ unit_prices_pico_usd: { input_tokens: '150000' } })),
  ),
  'cached-beyond-input': broken(
    'usage_inconsistent',
    'More cached tokens than input tokens: the fresh input would be negative.',
    issue(payloadWith({ usage: { ...usage, cached_input_tokens: 1201 } })),
  ),
  'reasoning-beyond-output': broken(
    'usage_inconsistent',
    'More reasoning tokens than output tokens.',
    issue(payloadWith({ usage: { ...usage, reasoning_tokens: 341 } })),
  ),
  'tier-not-reached': broken(
    'tier_mismatch',
    'The tier above 272,000 input tokens, applied to 1,200.',
    issue(payloadWith({ price_tier_above_input_tokens: 272000 })),
  ),
  'unpublished-price': {
    ...broken('price_mismatch', 'Signed and consistent, yet the published output price is another.', honest),
    prices: {
      'gpt-4o-mini': {
        '2026-07-24': { unit_prices_pico_usd: { input_tokens: '150000', cached_input_tokens: '75000', output_tokens: '500000' } },
      },
    },
  },
  'unpublished-version': {
    ...broken('price_unpublished', 'Signed and consistent, yet this price version was never published.', honest),
    prices: { 'gpt-4o-mini': { '2026-01-01': { unit_prices_pico_usd: honest.payload.unit_prices_pico_usd } } },
  },
  'unpublished-by-then': {
    ...broken('price_not_in_force', 'Charged at a published version in whose place another one had come by then.', honest),
    prices: {
      'gpt-4o-mini': {
        '2026-07-24': { effective_from: '2026-07-24', unit_prices_pico_usd: honest.payload.unit_prices_pico_usd },
        '2026-11-01': { effective_from: '2026-11-01', unit_prices_pico_usd: honest.payload.unit_prices_pico_usd },
      },
    },
  },
};

const batchLine = payloadWith({ kind: 'batch_line', price_factor: '0.5', cost_nano_usd: '192000' });
const publishedAt = (batch_factor: string | undefined): PublishedPrices => ({
  'gpt-4o-mini': {
    '2026-07-24': { unit_prices_pico_usd: honest.payload.unit_prices_pico_usd, ...(batch_factor !== undefined && { batch_factor }) },
  },
});

const factors: Record<string, BrokenVector> = {
  'factor-not-applied': broken(
    'cost_mismatch',
    'A line of a batch that states half the price and was charged all of it.',
    issue({ ...batchLine, cost_nano_usd: '384000' }),
  ),
  'factor-outside-batch': broken(
    'factor_mismatch',
    'A factor on a request that was no line of a batch.',
    issue(payloadWith({ price_factor: '2', cost_nano_usd: '768000' })),
  ),
  'factor-second-spelling': broken('malformed', '0.50 is the factor 0.5 in a second spelling.', altered({ price_factor: '0.50' })),
  'factor-negative': broken('malformed', 'A negative factor.', altered({ price_factor: '-1' })),
  'unpublished-factor': {
    ...broken('factor_mismatch', 'Signed and consistent, yet the published batch factor is another.', issue(batchLine)),
    prices: publishedAt('0.4'),
  },
  'unpublished-factor-of-none': {
    ...broken('factor_mismatch', 'Signed and consistent, yet no batch factor was published.', issue(batchLine)),
    prices: publishedAt(undefined),
  },
  'batch-line-at-full-price': {
    ...broken(
      'factor_mismatch',
      'A line of a batch was charged in full although a batch factor is published.',
      issue(payloadWith({ kind: 'batch_line' })),
    ),
    prices: publishedAt('0.5'),
  },
};

const refunds: Record<string, BrokenVector> = {
  'refund-of-nothing': broken(
    'refund_inconsistent',
    'A refund that does not say of which receipt.',
    issue(refundWith({ refund_of: null })),
  ),
  'refund-without-reason': broken('refund_inconsistent', 'A refund without a reason.', issue(refundWith({ refund_reason: null }))),
  'refund-of-itself': broken(
    'refund_inconsistent',
    'A refund that names itself.',
    issue(refundWith({ refund_of: refundWith().receipt_id })),
  ),
  'refund-larger-than-cost': broken(
    'refund_exceeds_cost',
    'One nano-USD more is given back than the request cost.',
    issue(refundWith({ cost_nano_usd: '384001' })),
  ),
  'refund-larger-than-factor': broken(
    'refund_exceeds_cost',
    'A line of a batch is given back at its full price.',
    issue(refundWith({ price_factor: '0.5' })),
  ),
  'refund-as-usage': broken('refund_inconsistent', 'A charge that looks like a refund.', issue(payloadWith({ outcome: 'refunded' }))),
  'usage-as-refund': broken('refund_inconsistent', 'A refund that looks like a charge.', issue(refundWith({ outcome: 'completed' }))),
  'usage-names-refund': broken(
    'refund_inconsistent',
    'A charge that names another receipt.',
    issue(payloadWith({ refund_of: refundWith().receipt_id })),
  ),
  'correction-of-nothing': broken(
    'refund_inconsistent',
    'A correction that does not say of which receipt.',
    issue(payloadWith({ kind: 'correction' })),
  ),
};

const video = {
  kind: 'media_job',
  usage: { ...noUsage, video_seconds: 8 },
  unit_prices_pico_usd: { video_seconds: '100000000000' },
} as const;

const modalities: Record<string, BrokenVector> = {
  'parts-beyond-input': broken(
    'usage_inconsistent',
    'Cached, audio and image tokens are together more than the input: the fresh input would be negative.',
    issue(payloadWith({ usage: { ...usage, cached_input_tokens: 400, audio_input_tokens: 400, image_input_tokens: 401 } })),
  ),
  'cached-audio-beyond-audio': broken(
    'usage_inconsistent',
    'More cached audio tokens than audio tokens in.',
    issue(payloadWith({ usage: { ...usage, audio_input_tokens: 10, cached_audio_input_tokens: 11 } })),
  ),
  'cached-image-beyond-image': broken(
    'usage_inconsistent',
    'More cached image tokens than image tokens in.',
    issue(payloadWith({ usage: { ...usage, image_input_tokens: 10, cached_image_input_tokens: 11 } })),
  ),
  'audio-output-beyond-output': broken(
    'usage_inconsistent',
    'More image and audio tokens out than tokens out.',
    issue(payloadWith({ usage: { ...usage, image_output_tokens: 200, audio_output_tokens: 141 } })),
  ),
  'tool-at-half': broken(
    'cost_mismatch',
    'A line of a batch with the factor on what a tool cost, which has the whole price.',
    issue(
      payloadWith({
        ...{ kind: 'batch_line', price_factor: '0.5', usage: { ...usage, web_searches: 1 }, cost_nano_usd: '5192000' },
        unit_prices_pico_usd: { ...honest.payload.unit_prices_pico_usd, web_searches: '10000000000' },
      }),
    ),
  ),
  'tool-unpriced': broken(
    'price_missing',
    'A search of the web that was charged, without its price.',
    issue(payloadWith({ usage: { ...usage, web_searches: 1 }, cost_nano_usd: '10384000' })),
  ),
  'image-output-beyond-output': broken(
    'usage_inconsistent',
    'More image tokens out than tokens out.',
    issue(payloadWith({ usage: { ...usage, image_output_tokens: 341 } })),
  ),
  'video-second-too-much': broken(
    'cost_mismatch',
    'Nine seconds of video charged where eight were made.',
    issue(payloadWith({ ...video, cost_nano_usd: '900000000' })),
  ),
  'characters-without-price': broken(
    'price_missing',
    'Characters were charged at a price that the receipt does not state.',
    issue(payloadWith({ usage: { ...noUsage, input_characters: 250 }, unit_prices_pico_usd: {}, cost_nano_usd: '3750000' })),
  ),
  'zero-count': broken(
    'malformed',
    'A count of zero that has to be absent: a second spelling.',
    altered({ usage: { ...usage, images: 0 } }),
  ),
  'negative-seconds': broken('malformed', 'Negative seconds lower the cost.', altered({ usage: { ...usage, video_seconds: -8 } })),
  'unknown-price-meter': broken(
    'unknown_field',
    'A price of something that this version cannot count.',
    altered({ unit_prices_pico_usd: { ...honest.payload.unit_prices_pico_usd, embedding_dimensions: '1' } }),
  ),
};

/** Signed by the right key, and yet the figures do not hold, or are not the published ones. */
export const brokenMoneyVectors: Readonly<Record<string, BrokenVector>> = { ...dishonest, ...factors, ...refunds, ...modalities };
