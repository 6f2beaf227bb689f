export { BatchLocks } from './batch-locks.ts';
export { createBatches } from './batches.ts';
export { deleteAccountBatches } from './close-account.ts';
export { messageBatchRoutes, ownIdOf } from './message-batch-routes.ts';
export { MessageBatches } from './message-batches.ts';
export { batchRoutes } from './routes.ts';
export { BATCHES_DUE, BatchWork, unfinishedAmong } from './work.ts';
