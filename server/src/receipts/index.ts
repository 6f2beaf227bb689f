export { AnchorWorker } from './anchors/anchor-worker.ts';
export type { AnchoringView } from './anchors/anchoring.ts';
export { exportReceipts } from './export-receipts.ts';
export { issueReceipt, type ReceiptFacts } from './issue-receipt.ts';
export { appendAll } from './log/append.ts';
export { readTile } from './log/read-tile.ts';
export { anchorRoutes, receiptRoutes, scopeOf } from './routes.ts';
export { newSigningSeed, publishSigningKeys, type SigningKey, signingKeyFromSeed } from './signing-keys.ts';
