export { type IssuedReceipt, issueReceipt } from './issue-receipt.ts';
export { receiptRoutes } from './routes.ts';
export { newSigningSeed, publishSigningKey, type SigningKey, signingKeyFromSeed } from './signing-keys.ts';
