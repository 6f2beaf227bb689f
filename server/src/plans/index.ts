export { asking, createPlans, type Plans } from './plans.ts';
export { planRoutes } from './routes.ts';
export type { OnPurchase } from './sync-payment.ts';
export { type Author, authorOf, type Trail } from './tell.ts';
export { planOf, TEST_RATES } from './tiers.ts';
