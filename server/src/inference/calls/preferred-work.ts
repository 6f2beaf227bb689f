import { Problem } from '../../kernel/problem.ts';
import type { CatalogModel, Price } from '../../money/catalog/index.ts';
import type { Deployments, Traffic } from './deployments.ts';
import type { Preference } from './provider-preference.ts';
import type { Work, WorkBound } from './work.ts';

/** The work with what its request prefers, also where it is made lighter. */
export const withPreference = (work: Work, preference: Preference): Work => ({
  ...work,
  preference,
  ...(work.lighter && { lighter: () => withPreference(work.lighter?.() ?? work, preference) }),
});

/** Whether a model is no dearer than the request wants, in any of the tiers that its prompt may reach. */
export function isAffordable(price: Price, bound: WorkBound, { preference }: Pick<Work, 'preference'>): boolean {
  if (!preference || (preference.maxInput === undefined && preference.maxOutput === undefined)) return true;
  const reached = price.tiers.filter(({ aboveInputTokens }) => bound.inputTokens > aboveInputTokens);
  const isWithin = (cost: bigint | undefined, most: bigint | undefined) => most === undefined || (cost ?? 0n) <= most;
  return [price, ...reached].every(
    ({ unit }) => isWithin(unit.input_tokens, preference.maxInput) && isWithin(unit.output_tokens, preference.maxOutput),
  );
}

interface Unserved {
  readonly model: CatalogModel;
  readonly work: Work;
  readonly traffic: Traffic;
  readonly startedAt: number;
}

/** Where what the request prefers leaves nothing of its model to be asked; undefined where something else does. */
export function preferenceRefusal({ model, work, traffic, startedAt }: Unserved, deployments: Deployments): Problem | undefined {
  const { preference, ...others } = work;
  if (!preference) return undefined;
  const refused = (param: string, detail: string) =>
    new Problem('validation_failed', detail, { param, errors: [{ loc: ['body', ...param.split('.')], msg: detail, type: 'unsupported' }] });
  const price = model.priceAt(startedAt);
  if (price && !isAffordable(price, work.bound(model), work))
    return refused('provider.max_price', `${model.id} costs more than \`provider.max_price\` allows: raise it, or name another model.`);
  const { targets } = deployments.choose(model, others, traffic, startedAt);
  if (targets.length === 0) return undefined;
  const served = [...new Set(targets.map(({ deployment }) => deployment.provider))].sort().join(', ');
  return refused('provider', `\`provider\` leaves no provider of ${model.id} to be asked. It is served here by: ${served}.`);
}
