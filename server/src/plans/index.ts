export { type Meter, type OveragePolicy, type Plan, planOf, type RateLimits, TEST_RATES } from './tiers.ts';
