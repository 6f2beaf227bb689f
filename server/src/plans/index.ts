export { createPlans, type Plans } from './plans.ts';
export { planRoutes } from './routes.ts';
export { planOf, TEST_RATES } from './tiers.ts';
