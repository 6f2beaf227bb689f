export { Archive, type ArchivedPiece, archivedMonths, DamagedArchive, isOfArchivedMonth } from './archive.ts';
export { archiveMonth, archiveOldMonths, oldestKept } from './archive-month.ts';
export { MONTHLY_TABLES, RECEIPTS, USAGE_RECORDS } from './monthly-tables.ts';
export { ensurePartitions, isWithoutPartition, makePartitionsAhead } from './partitions.ts';
export { restoreMonth } from './restore-month.ts';
