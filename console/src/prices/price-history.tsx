import type { ModelPricing } from '@tallygate/sdk';
import { day } from '../format.ts';
import { Badge, Mono } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { type Meter, meterName, priceOf, tierOf, unitOf } from './versions.ts';

const isLater = ({ effective_from: from }: ModelPricing): boolean => Date.parse(from) > Date.now();

/** Which of its versions is charged now, will be, or was. */
function stateOf(pricing: ModelPricing, now: ModelPricing | null) {
  if (now && (pricing.version === now.version || pricing.version.startsWith(`${now.version}/`))) {
    return <Badge state="charged now" tone="good" />;
  }
  return <Badge state={isLater(pricing) ? 'from then on' : 'past'} tone={isLater(pricing) ? 'wait' : 'quiet'} />;
}

const columnsOf = (now: ModelPricing | null, meters: readonly Meter[]): readonly Column<ModelPricing>[] => [
  { name: 'From', cell: ({ effective_from: from }) => <time dateTime={from}>{day(from)}</time> },
  { name: 'Tier', cell: (pricing) => tierOf(pricing) ?? 'standard' },
  { name: 'State', cell: (pricing) => stateOf(pricing, now), isSecondary: true },
  ...meters.map((meter) => ({
    name: `${meterName(meter)}, ${unitOf(meter)}`,
    cell: ({ prices }: ModelPricing) => priceOf(meter, prices[meter]),
    isFigure: true as const,
  })),
  { name: 'Version', cell: ({ version }) => <Mono>{version}</Mono>, isSecondary: true },
  { name: 'Set by', cell: ({ source }) => source, isSecondary: true },
  { name: 'Entry of the log', cell: ({ entry }) => (entry === null ? 'waits for its place' : entry.index), isSecondary: true },
];

interface PriceHistoryProps {
  readonly now: ModelPricing | null;
  /** The newest first. */
  readonly versions: readonly ModelPricing[];
}

/** Every price that was, is and will be charged, each with its entry of the log. */
export function PriceHistory({ now, versions }: PriceHistoryProps) {
  const meters = [...new Set(versions.flatMap(({ prices }) => Object.keys(prices)))] as Meter[];
  const cited = versions[0]?.cited ?? null;
  return (
    <>
      <Table label="Prices, the newest first" rows={versions} columns={columnsOf(now, meters)} idOf={({ version }) => version} />
      {cited !== null && <p className="hint">The newest is from {cited}.</p>}
    </>
  );
}
