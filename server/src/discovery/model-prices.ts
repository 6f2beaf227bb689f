import type { Model } from '@tallygate/contract';

const TOKENS = /_tokens$/;
/** Decimal places between a unit and a million of it. */
const MILLION = 6;

/** The models with what they cost, as a table in Markdown. */
export function modelTable(models: readonly Model[]): string {
  const rows = models.map(({ id, kind, context_length, pricing }) => {
    const prices = Object.entries(pricing?.prices ?? {}).map(([meter, price]) => priceText(meter, price ?? '0'));
    return `| \`${id}\` | ${kind} | ${context_length ?? '–'} | ${prices.join('; ') || 'free'} |`;
  });
  return ['| model | kind | context | USD |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

/** `input 0.15/1M`: tokens by the million, as every price list has them; anything else by the piece. */
function priceText(meter: string, perUnit: string): string {
  const name = meter.replace(TOKENS, '').replaceAll('_', ' ');
  return TOKENS.test(meter) || meter === 'input_characters' ? `${name} ${perMillion(perUnit)}/1M` : `${name} ${perUnit} each`;
}

/** Moves the point in the text: a float would turn 0.15 into 0.15000000000000002. */
function perMillion(perUnit: string): string {
  const [whole = '', fraction = ''] = perUnit.split('.');
  const moved = fraction.padEnd(MILLION, '0');
  const left = `${whole}${moved.slice(0, MILLION)}`.replace(/^0+(?=\d)/, '');
  const right = moved.slice(MILLION).replace(/0+$/, '');
  return right === '' ? left : `${left}.${right}`;
}
