export { Archive, type ArchivedPiece, archivedMonths, isOfArchivedMonth } from './archive.ts';
export { archiveMonth, archiveOldMonths } from './archive-month.ts';
export { MONTHLY_TABLES, RECEIPTS, USAGE_RECORDS } from './monthly-tables.ts';
export { ensurePartitions, makePartitionsAhead } from './partitions.ts';
