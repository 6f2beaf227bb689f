export { laneId } from './lane-ids.ts';
export { ledgerLaneSource } from './lane-source.ts';
export { LedgerWriter } from './ledger-writer.ts';
export { ensurePartitions } from './partitions.ts';
export { reconcileLanes } from './reconcile.ts';
export { ledgerRoutes } from './routes.ts';
export type { SettlementRecord } from './settlement-record.ts';
export { unitsOf } from './usage-units.ts';
