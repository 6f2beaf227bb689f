export { RECEIPTS, USAGE_RECORDS } from './monthly-tables.ts';
export { ensurePartitions, makePartitionsAhead } from './partitions.ts';
