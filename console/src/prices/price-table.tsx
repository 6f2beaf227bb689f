import type { ModelPricing } from '@tallygate/sdk';
import { count } from '../format.ts';
import { type Column, Table } from '../ui/table.tsx';
import { type Meter, meterName, priceOf, tierOf, tiersBeside, times, unitOf } from './versions.ts';

/** A meter, with its price in each way to be served. */
interface PriceRow {
  readonly meter: Meter;
  /** Of a request with more tokens in than this. */
  readonly above: number | undefined;
}

const pricesOf = (pricing: ModelPricing, above: number | undefined) =>
  above === undefined ? pricing.prices : pricing.tiers.find((tier) => tier.above_input_tokens === above)?.prices;

const rowsOf = (pricing: ModelPricing): readonly PriceRow[] =>
  [undefined, ...pricing.tiers.map((tier) => tier.above_input_tokens)].flatMap((above) =>
    (Object.keys(pricesOf(pricing, above) ?? {}) as Meter[]).map((meter) => ({ meter, above })),
  );

const isSame = ({ batch_factor: factor }: ModelPricing): boolean => Number(factor) === 1;

function columnsOf(pricing: ModelPricing, tiers: readonly ModelPricing[]): readonly Column<PriceRow>[] {
  const column = (name: string, of: ModelPricing): Column<PriceRow> => ({
    name,
    cell: ({ meter, above }) => priceOf(meter, pricesOf(of, above)?.[meter]),
    isFigure: true,
  });
  const batch: Column<PriceRow> = {
    name: 'Batch',
    cell({ meter, above }) {
      const price = pricesOf(pricing, above)?.[meter];
      return priceOf(meter, price === undefined ? undefined : times(price, pricing.batch_factor));
    },
    isFigure: true,
  };
  return [
    {
      name: 'Of',
      cell: ({ meter, above }) => `${meterName(meter)}, ${unitOf(meter)}${above === undefined ? '' : `, above ${count(above)} tokens in`}`,
    },
    column('Standard', pricing),
    ...tiers.map((tier) => column(tierOf(tier) ?? '', tier)),
    ...(isSame(pricing) ? [] : [batch]),
  ];
}

interface PriceTableProps {
  /** What is charged now. */
  readonly pricing: ModelPricing;
  readonly versions: readonly ModelPricing[];
}

/** What is charged now, by service tier and in batches. */
export function PriceTable({ pricing, versions }: PriceTableProps) {
  const rows = rowsOf(pricing);
  const idOf = ({ meter, above }: PriceRow): string => `${meter} ${above}`;
  return <Table label="Prices now, by service tier" rows={rows} columns={columnsOf(pricing, tiersBeside(pricing, versions))} idOf={idOf} />;
}
