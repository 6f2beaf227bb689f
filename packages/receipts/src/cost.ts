import type { ReceiptPayload } from './receipt.ts';
import { Refused } from './refusal.ts';

type Priced = Pick<ReceiptPayload, 'usage' | 'unit_prices_pico_usd'> & Partial<Pick<ReceiptPayload, 'price_factor'>>;

const PICO_PER_NANO = 1000n;

/** One line of the calculation: so many units at one price. */
export interface CostLine {
  /** What was counted, `fresh_input_tokens` and `text_output_tokens` being what no part has of its whole. */
  readonly meter: string;
  readonly units: number;
  /** Under which name the price stands in `unit_prices_pico_usd`; null where none of the possible ones is there: such units cost nothing. */
  readonly price_meter: string | null;
  readonly unit_price_pico_usd: string;
  /** Units × price. */
  readonly pico_usd: string;
  /** Whether `price_factor` is on it: it is not on what tools of the provider used. */
  readonly has_factor: boolean;
}

/**
 * Every meter that was used with the price that applies to it. A part of the input or output has the price of its whole where it has none
 * of its own; output of an image model that has no other price has that of image tokens. What the prices do not name costs nothing.
 *
 * Throws `Refused` with `usage_inconsistent`.
 */
export function costLines({ usage, unit_prices_pico_usd: prices }: Priced): CostLine[] {
  const { cache_write_1h_tokens: hourly = 0, audio_input_tokens: audio = 0, image_input_tokens: image = 0 } = usage;
  const { cached_image_input_tokens: cachedImage = 0, image_output_tokens: imageOut = 0, reasoning_tokens: reasoning } = usage;
  const { cached_audio_input_tokens: cachedAudio = 0, audio_output_tokens: audioOut = 0 } = usage;
  const fresh = usage.input_tokens - usage.cached_input_tokens - usage.cache_write_tokens - hourly - audio - image;
  if (fresh < 0) throw inconsistent('cached, cache-write, audio and image tokens are more than the input tokens');
  if (cachedAudio > audio) throw inconsistent('cached audio tokens are more than the audio tokens in');
  if (cachedImage > image) throw inconsistent('cached image tokens are more than the image tokens in');
  if (reasoning > usage.output_tokens) throw inconsistent('reasoning tokens are more than the output tokens');
  if (imageOut + audioOut > usage.output_tokens) throw inconsistent('image and audio tokens out are more than the output tokens');

  const line = (meter: string, units: number, ...priceMeters: readonly string[]): CostLine[] => {
    if (units === 0) return [];
    const priceMeter = priceMeters.find((name) => prices[name] !== undefined) ?? null;
    const price = (priceMeter !== null && prices[priceMeter]) || '0';
    return [
      {
        meter,
        units,
        price_meter: priceMeter,
        unit_price_pico_usd: price,
        pico_usd: (BigInt(units) * BigInt(price)).toString(),
        has_factor: !isTool(meter),
      },
    ];
  };
  return [
    ...line('fresh_input_tokens', fresh, 'input_tokens'),
    ...line('cached_input_tokens', usage.cached_input_tokens, 'cached_input_tokens', 'input_tokens'),
    ...line('cache_write_tokens', usage.cache_write_tokens, 'cache_write_tokens', 'input_tokens'),
    ...line('cache_write_1h_tokens', hourly, 'cache_write_1h_tokens', 'cache_write_tokens', 'input_tokens'),
    ...line('audio_input_tokens', audio - cachedAudio, 'audio_input_tokens', 'input_tokens'),
    ...line('cached_audio_input_tokens', cachedAudio, 'cached_audio_input_tokens', 'audio_input_tokens', 'input_tokens'),
    ...line('image_input_tokens', image - cachedImage, 'image_input_tokens', 'input_tokens'),
    ...line('cached_image_input_tokens', cachedImage, 'cached_image_input_tokens', 'image_input_tokens', 'input_tokens'),
    ...line('text_output_tokens', usage.output_tokens - imageOut - audioOut, 'output_tokens', 'image_output_tokens'),
    ...line('image_output_tokens', imageOut, 'image_output_tokens', 'output_tokens'),
    ...line('audio_output_tokens', audioOut, 'audio_output_tokens', 'output_tokens'),
    ...[...OWN_METERS, ...TOOL_METERS].flatMap((meter) => line(meter, usage[meter] ?? 0, meter)),
  ];
}

/** What is part of nothing else, and has no other price than its own. */
const OWN_METERS = ['input_characters', 'audio_seconds', 'video_seconds', 'search_units'] as const;

/** What tools of the provider used: the factor is not on their prices. */
const TOOL_METERS = [
  'web_searches',
  'web_search_previews',
  'file_searches',
  'container_gigabytes',
  'image_tool_text_input_tokens',
  'image_tool_image_input_tokens',
  'image_tool_text_output_tokens',
  'image_tool_image_output_tokens',
] as const;

const isTool = (meter: string): boolean => TOOL_METERS.some((tool) => tool === meter);

const inconsistent = (what: string): Refused => new Refused('usage_inconsistent', `payload.usage: ${what}.`);

/**
 * The cost in nano-USD (10⁻⁹) that follows from usage and unit prices: the sum of `costLines`, exact in pico-USD (10⁻¹²), times the factor
 * where it is on them, rounded up once, so that no order of adding can change it.
 *
 * Throws `Refused` with `usage_inconsistent`.
 */
export function recomputeCost(payload: Priced): bigint {
  const [whole = '1', fraction = ''] = (payload.price_factor ?? '1').split('.');
  const unit = 10n ** BigInt(fraction.length);
  const factor = BigInt(whole + fraction);
  const pico = costLines(payload).reduce((sum, line) => sum + BigInt(line.pico_usd) * (line.has_factor ? factor : unit), 0n);
  const divisor = PICO_PER_NANO * unit;
  return (pico + divisor - 1n) / divisor;
}

/** Whether the receipt's own figures agree with each other. Throws `Refused` where they do not. */
export function checkCost(payload: ReceiptPayload): void {
  checkUncharged(payload);
  checkTierReached(payload);
  checkFactorOfKind(payload);
  checkRefund(payload);
  const cost = recomputeCost(payload);
  const stated = BigInt(payload.cost_nano_usd) + waivedOf(payload);
  if (payload.kind === 'refund') {
    if (stated > cost)
      throw new Refused('refund_exceeds_cost', `payload.cost_nano_usd gives back ${stated}, usage × unit prices is ${cost}.`);
    return;
  }
  if (stated === cost) return;
  const unpriced = costLines(payload).find((line) => line.price_meter === null);
  if (unpriced && stated > cost)
    throw new Refused(
      'price_missing',
      `payload.unit_prices_pico_usd has no price for ${unpriced.units} ${unpriced.meter}, which were charged.`,
    );
  throw new Refused(
    'cost_mismatch',
    `payload.cost_nano_usd${payload.waived_nano_usd === undefined ? '' : ' and what was waived'} is ${stated}, usage × unit prices is ${cost}.`,
  );
}

/** Only what is charged can be waived: a refund says what is given back, a correction what is charged instead. */
function waivedOf({ kind, waived_nano_usd: waived = '0' }: ReceiptPayload): bigint {
  if (waived !== '0' && (kind === 'refund' || kind === 'correction'))
    throw new Refused('cost_mismatch', `payload.waived_nano_usd is ${waived}, yet the receipt is a ${kind}.`);
  return BigInt(waived);
}

/** A factor is what batches have; what is given back or corrected may have been a line of one. */
function checkFactorOfKind({ kind, price_factor: factor }: ReceiptPayload): void {
  if (factor !== '1' && (kind === 'usage' || kind === 'media_job'))
    throw new Refused('factor_mismatch', `payload.price_factor is ${factor}, yet the receipt is of no batch.`);
}

function checkRefund({ kind, outcome, receipt_id: id, refund_of: of, refund_reason: reason }: ReceiptPayload): void {
  const refused = (what: string) => new Refused('refund_inconsistent', `payload.refund_of and its like: ${what}.`);
  if ((outcome === 'refunded') !== (kind === 'refund')) throw refused(`the outcome is ${outcome}, the kind ${kind}`);
  const namesAnother = kind === 'refund' || kind === 'correction';
  if (namesAnother && (of === null || reason === null)) throw refused(`a ${kind} has to name the receipt and the reason`);
  if (!namesAnother && (of !== null || reason !== null)) throw refused(`the kind is ${kind}, yet another receipt or a reason is named`);
  if (of === id) throw refused('the receipt names itself');
}

/** Without an answer, or with one that was kept, no model was run. */
function checkUncharged({ outcome, usage, cost_nano_usd: cost }: ReceiptPayload): void {
  if (outcome !== 'failed' && outcome !== 'cached') return;
  if (cost !== '0' || Object.values(usage).some((units) => units !== 0))
    throw new Refused(
      outcome === 'failed' ? 'charged_failure' : 'charged_cached',
      `payload.outcome is ${outcome}, yet usage or cost is not zero.`,
    );
}

/** The dearer prices of long contexts are due only when the input is longer than the tier's threshold. */
function checkTierReached({ price_tier_above_input_tokens: threshold, usage }: ReceiptPayload): void {
  if (threshold !== null && usage.input_tokens <= threshold)
    throw new Refused('tier_mismatch', `The tier above ${threshold} input tokens was applied to ${usage.input_tokens}.`);
}
