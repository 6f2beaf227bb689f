import type { CostLine, ReceiptPayload, ReceiptUsage } from '@tallygate/receipts';
import type { Column } from '../print.ts';

/**
 * How the cost of a receipt comes about, a line for every meter that was used: units × the unit price that applies, then the factor.
 *
 * @throws Refused where the receipt's parts are more than their whole
 */
export async function calculation(payload: ReceiptPayload): Promise<Column<ReceiptPayload>[]> {
  const { costLines, recomputeCost } = await import('@tallygate/receipts');
  const { price_factor: factor, kind } = payload;
  const lines = costLines(payload).map((line) => ({
    title: `  ${meterName(line.meter)}`,
    of: () => `${lineText(line)}${factor === '1' || line.has_factor ? '' : ', without the factor'}`,
  }));
  const total = `${usdText(recomputeCost(payload).toString(), NANO_DIGITS)} USD`;
  return [
    ...lines,
    ...(factor === '1' ? [] : [{ title: '  factor', of: () => `× ${factor}` }]),
    { title: '  total', of: () => `= ${total}, rounded up once${kind === 'refund' ? ', at most given back' : ''}` },
  ];
}

const NANO_DIGITS = 9;
const PICO_DIGITS = 12;

/** The name of the price for the part of a total that no other part covers. */
const OWN_PRICE: Readonly<Record<string, string>> = { fresh_input_tokens: 'input_tokens', text_output_tokens: 'output_tokens' };

function lineText({ units, meter, price_meter: priceMeter, unit_price_pico_usd: price, pico_usd: pico }: CostLine): string {
  if (priceMeter === null) return `${units}, counted without a price`;
  const at = priceMeter !== (OWN_PRICE[meter] ?? meter) ? ` (price of ${meterName(priceMeter)})` : '';
  return `${units} × ${usdText(price, PICO_DIGITS)} USD${at} = ${usdText(pico, PICO_DIGITS)} USD`;
}

const meterName = (meter: string): string => meter.replaceAll('_', ' ');

/** The usage in one line: tokens if there are any, and the other units. */
export function usageText({ input_tokens: input, output_tokens: output, ...usage }: ReceiptUsage): string {
  const counts = [
    [usage.images, 'images'],
    [usage.input_characters, 'characters'],
    [usage.audio_seconds, 'seconds of audio'],
    [usage.video_seconds, 'seconds of video'],
    [usage.search_units, 'search units'],
    [(usage.web_searches ?? 0) + (usage.web_search_previews ?? 0), 'web searches'],
    [usage.file_searches, 'file searches'],
    [usage.container_gigabytes, 'gigabytes of containers'],
  ] as const;
  const others = counts.flatMap(([count, what]) => (count ? [`${count} ${what}`] : []));
  const hasTokens = input > 0 || output > 0 || others.length === 0;
  return [...(hasTokens ? [`${input} tokens in, ${output} out`] : []), ...others].join(', ');
}

/** Integer pico-USD as decimal USD, exactly. */
export const picoUsdText = (amount: string): string => usdText(amount, PICO_DIGITS);

/** Integer nano-USD as decimal USD, exactly. */
export const nanoUsdText = (amount: string): string => usdText(amount, NANO_DIGITS);

function usdText(amount: string, places: number): string {
  if (amount.startsWith('-')) return `-${usdText(amount.slice(1), places)}`;
  const digits = amount.padStart(places + 1, '0');
  return `${digits.slice(0, -places)}.${digits.slice(-places)}`.replace(/\.?0+$/, '');
}
