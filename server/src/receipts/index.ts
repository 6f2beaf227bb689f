export { issueReceipt, type ReceiptFacts } from './issue-receipt.ts';
export { appendAll } from './log/append.ts';
export { receiptRoutes } from './routes.ts';
export { newSigningSeed, publishSigningKeys, type SigningKey, signingKeyFromSeed } from './signing-keys.ts';
