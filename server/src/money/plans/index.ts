export { createAccountLock, type Unit } from './account-lock.ts';
export { planAdministrationRoutes } from './account-routes.ts';
export { expirePage } from './checkout-pages.ts';
export { CAPACITY_CHANNEL, reservedConcurrency } from './dedicated-capacity.ts';
export { DEFAULT_OFFER } from './default-offer.ts';
export { createGivenPlans } from './given-plans.ts';

export { type Offer, readOffer } from './offer.ts';
export { createPlanBook, largerPlan, OPERATOR, type PlanBook, planOfOperator, planOfSeller, planRef, requireFeature } from './plan-book.ts';
export { ChangedPlan, PLANS_CHANNEL, recordedPlans, recordOffer } from './plan-versions.ts';
export { type AccountPlans, asking, createAccountPlans, createPlans, type Plans } from './plans.ts';
export { planRoutes } from './routes.ts';
export type { OnPurchase } from './sync-payment.ts';
export type { CheckoutTable } from './tables.ts';
export { type Author, authorOf, recordBySystem, type Trail } from './tell.ts';
export { type Plan, type RateLimits, TEST_RATES } from './tiers.ts';
