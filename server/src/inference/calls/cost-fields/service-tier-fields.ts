import { ServiceTier } from '@tallygate/contract';
import { counted, type FieldRule, refused } from './field-rule.ts';

const STANDARD_TIERS: ReadonlySet<unknown> = new Set(['auto', 'default']);

const tierInWords = (tier: unknown): string => `the service tier "${String(tier).slice(0, 40)}"`;

/** Where no other tier has a price. */
export const STANDARD_SERVICE_TIER: FieldRule = {
  ...refused('service tiers other than auto and default'),
  unpriced: (tier, param) => (STANDARD_TIERS.has(tier) ? undefined : { param, what: tierInWords(tier) }),
};

/** Which of them has a price, the model says. */
const PRICED_TIERS: ReadonlySet<unknown> = new Set([...STANDARD_TIERS, ...ServiceTier.options]);
export const PRICED_SERVICE_TIER: FieldRule = counted(
  'held at the dearest tier that it may be served at, settled at the one that the answer names',
  (tier, param) => (PRICED_TIERS.has(tier) ? undefined : { param, what: tierInWords(tier) }),
);
