export { recordLimitAlerts } from './limit-alerts.ts';
export { LimitRefusals } from './limit-refusals.ts';
export { Limits } from './limits.ts';
export { type CallNames, limitLanes, limitRates } from './passing.ts';
export { limitRoutes } from './routes.ts';
export { createSpendingReader, type SpendingReader } from './spending-reader.ts';
export type { SpendingRules } from './spending-rules.ts';
