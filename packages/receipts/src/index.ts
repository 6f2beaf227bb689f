export { canonicalJson } from './canonical.ts';
export { recomputeCost } from './cost.ts';
export { accountHash, keyHash, keyThumbprint, receiptDigest, signingInput } from './digest.ts';
export { isWeakPublicKey, verifyEd25519 } from './ed25519.ts';
export { fromBase64url, fromHex, toBase64url, toHex } from './encoding.ts';
export type { PublishedPrice, PublishedPrices, UnitPrices } from './prices.ts';
export type { ReceiptPayload, ReceiptResponse, ReceiptUsage, VaasKey, VaasKeySet } from './receipt.ts';
export { type Refusal, type RefusalCode, Refused } from './refusal.ts';
export { sha256 } from './sha256.ts';
export {
  type Checks,
  type ParsedReceipt,
  type ProofState,
  parseReceipt,
  type UnparsedReceipt,
  type Verification,
  type Verified,
  type VerifyOptions,
  verifyReceipt,
  verifyReceiptText,
} from './verify.ts';
