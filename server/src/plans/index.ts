export { planOf, TEST_RATES } from './tiers.ts';
