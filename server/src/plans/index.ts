export { type Meter, type OveragePolicy, type Plan, planOf } from './tiers.ts';
