export { BatchLocks } from './batch-locks.ts';
export { createBatches } from './batches.ts';
export { deleteAccountBatches } from './close-account.ts';
export { batchRoutes } from './routes.ts';
export { BATCHES_DUE, BatchWork, unfinishedAmong } from './work.ts';
