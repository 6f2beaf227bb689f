import { ServiceTier } from '@tallygate/contract';
import { madeOnce } from '../../kernel/made-once.ts';
import { Problem } from '../../kernel/problem.ts';
import type { CatalogModel, Price } from '../../money/catalog/index.ts';
import type { Call } from './call.ts';
import type { ServedBy } from './deployments.ts';

/** What a request asks for, where that has a price of its own: `auto` and `default` are the standard tier. */
export const askedTier = (given: unknown): ServiceTier | undefined => ServiceTier.safeParse(given).data;

/** What an answer, or its usage, says that it was served at; undefined where it says none. */
export function tierSaid(answer: unknown): string | undefined {
  const tier = typeof answer === 'object' && answer !== null ? (answer as { service_tier?: unknown }).service_tier : undefined;
  return typeof tier === 'string' && tier !== 'auto' ? tier : undefined;
}

/** The price of requests that are served at that tier: of every tier without one of its own, the standard one. */
function priceAt(price: Price, tier: string | undefined): Price {
  const { serviceTiers } = price;
  if (!serviceTiers) return price;
  return (tier !== undefined && Object.hasOwn(serviceTiers, tier) ? serviceTiers[tier as ServiceTier] : undefined) ?? standardOf(price);
}

/** There are few prices, and every request asks for its own several times. */
const standardOf = madeOnce(({ serviceTiers: _, ...price }: Price): Price => price);

/** What is charged for an answer: the tier that it names, else the one that was asked for. Lines of batches are at none. */
export function chargedPrice({ kind, startedAt, work }: Call, { model, serviceTier = work.serviceTier }: ServedBy): Price | undefined {
  const price = model.priceAt(startedAt);
  return price && kind !== 'batch_line' ? priceAt(price, serviceTier) : price;
}

/** What may be charged for a request: who asks for another tier may be served at the standard one. */
export const possiblePrices = (price: Price, tier: ServiceTier | undefined): readonly [Price, ...Price[]] => {
  const ofTier = priceAt(price, tier);
  return tier === undefined || ofTier === price ? [price] : [price, ofTier];
};

/** Whether the tier that is asked for has a price. */
export const isTierPriced = ({ serviceTiers = {} }: Price, { kind, work: { serviceTier } }: Call): boolean =>
  serviceTier === undefined || (kind !== 'batch_line' && serviceTiers[serviceTier] !== undefined);

/** Says what gives the tier a price. */
export function tierWithoutPrice({ id }: Pick<CatalogModel, 'id'>, { kind, work: { serviceTier = 'flex' } }: Call): Problem {
  const way =
    kind === 'batch_line'
      ? 'batches have a price of their own: leave it out'
      : `leave it out, or give the model a price with \`service_tiers.${serviceTier}\`, by \`POST /v1/admin/models/{model}/prices\` as an administrator or in \`MODELS_FILE\``;
  return new Problem(
    'unpriced_feature',
    `The model ${id} has no price at the service tier ${serviceTier}, so no cap could hold \`service_tier\`: ${way}.`,
    {
      param: 'service_tier',
    },
  );
}

/** Who answered, with the tier that the answer names. */
export const servedAt = <T extends ServedBy>(target: T, serviceTier: string | undefined): T =>
  serviceTier === undefined ? target : { ...target, serviceTier };
