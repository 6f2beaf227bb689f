export { createBudgetRecords } from './budget-records.ts';
export { createBudgets } from './budgets.ts';
export { createKeyRefusals } from './refusals.ts';
export { budgetRoutes, toSummary } from './routes.ts';
export { createSettlementAlerts } from './settlement-alerts.ts';
