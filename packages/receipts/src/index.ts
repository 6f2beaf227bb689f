export {
  type ConfirmedAnchor,
  type ConfirmOptions,
  chainIdOf,
  confirmAnchor,
  type NodeOptions,
  type UnconfirmedAnchor,
} from './anchor/confirm-anchor.ts';
export type { AnchoredReceipt } from './anchor/receipt-anchor.ts';
export { canonicalJson } from './canonical.ts';
export type { Checks, ProofState } from './checks.ts';
export type { RequestComponents } from './client-signature.ts';
export { type CostLine, costLines, recomputeCost } from './cost.ts';
export {
  accountHash,
  accountHashInput,
  digestInput,
  endUserHash,
  endUserHashInput,
  invoiceDigest,
  keyHash,
  keyHashInput,
  keyThumbprint,
  projectHash,
  projectHashInput,
  receiptDigest,
  tagHash,
  tagHashInput,
} from './digest.ts';
export { isPublicKey, isWeakPublicKey, verifyEd25519 } from './ed25519.ts';
export { fromBase64, fromBase64url, fromHex, toBase64url, toHex } from './encoding.ts';
export {
  checkpointOfExport,
  type ExportedReceipt,
  type ExportFault,
  type ExportOptions,
  type ExportSummary,
  isExport,
  type ReceiptExportEnd,
  type ReceiptExportHeader,
  verifyExport,
} from './export.ts';
export { DeclarationsContradictedError, KeysContradictedError, rememberDeclarations, rememberKeys } from './history/kept-trust.ts';
export { LogAwayError, type LogForkCode, LogForkError } from './history/log-fork-error.ts';
export { type LogStore, memoryLogStore, webLogStore } from './history/log-store.ts';
export { compareState, type History, type Remembered, rememberCheckpoint } from './history/remember.ts';
export type { InvoiceMonth, InvoicePayload, InvoiceResponse, PlanQuota } from './invoice/invoice.ts';
export { invoiceChainFaults } from './invoice/invoice-chain.ts';
export { dueOf } from './invoice/invoice-sums.ts';
export {
  type BilledMonth,
  type BilledReceipt,
  type BillFault,
  type BillOptions,
  type BillSummary,
  figuresOf,
  verifyBill,
} from './invoice/verify-bill.ts';
export {
  type InvoiceOptions,
  type InvoiceVerification,
  isInvoice,
  type VerifiedInvoice,
  verifyInvoice,
  verifyInvoiceText,
} from './invoice/verify-invoice.ts';
export { detachedJws, type JwsType, jwsHeader, jwsSigningInput } from './jws.ts';
export { type Checkpoint, checkpointText, parseCheckpoint } from './log/checkpoint.ts';
export { declarationDigest, declarationInput, readDeclaration } from './log/declaration.ts';
export type { DeclarationKind } from './log/declaration-chain.ts';
export { requireDeclaredWitnesses, WitnessesUndeclaredError } from './log/declared-witnesses.ts';
export { keySuccession, type Succession } from './log/key-succession.ts';
export {
  cosignatureLine,
  cosignedText,
  fromVerifierKey,
  type Note,
  type NoteKey,
  type NoteSignature,
  noteKeyId,
  parseNote,
  type Signer,
  signatureLine,
  signersOf,
  toVerifierKey,
} from './log/note.ts';
export { type Consistency, type ConsistencyClaim, consistencyOf, type InclusionClaim, isConsistent, isIncluded } from './log/proofs.ts';
export { type LoggedReceipt, type LogTrust, type VerifiedCheckpoint, verifyCheckpoint } from './log/receipt-log.ts';
export { auditGrowth, type LogGrowth } from './log/tile-audit.ts';
export {
  type EntryBundle,
  entriesOf,
  entriesPath,
  hashesOf,
  parseEntriesPath,
  parseTilePath,
  placeInTile,
  type ReadEntries,
  type ReadTile,
  rangesFromTiles,
  rootOver,
  TILE_HEIGHT,
  TILE_WIDTH,
  type Tile,
  tileAt,
  tilePath,
} from './log/tiles.ts';
export {
  checkTlogProof,
  formatTlogProof,
  type LogFault,
  type Logged,
  type LogOf,
  parseTlogProof,
  type TlogProof,
} from './log/tlog-proof.ts';
export {
  completedBy,
  consistencyRanges,
  emptyRoot,
  HASH_BYTES,
  type Hash,
  inclusionRanges,
  type LeafRange,
  leafHash,
  nodeHash,
  nodesOf,
  rangeHash,
  type TreeNode,
} from './log/tree.ts';
export { formatWitnessPolicy, majorityOf, parseWitnessPolicy, type WitnessPolicy } from './log/witness-policy.ts';
export { readSignatureInput, type SignatureInput, sha256OfContentDigest, signatureBase } from './message-signature.ts';
export type { BookSums } from './month-sums.ts';
export type { PublishedPrice, PublishedPrices, UnitPrices } from './prices.ts';
export {
  PROMISED_HEAD,
  type PromiseOptions,
  type PromiseVerification,
  promisedHead,
  type ReceiptPromise,
  type VerifiedPromise,
  verifyPromise,
} from './promise.ts';
export { QUOTA_METERS, quotaUnits } from './quota-units.ts';
export type {
  ClientSignature,
  Declaration,
  KeyDeclaration,
  KeyPurpose,
  KeyRetiredDeclaration,
  LoggedPrice,
  LogPolicyDeclaration,
  PriceDeclaration,
  PriceEntry,
  QuotaMeter,
  ReceiptLog,
  ReceiptPayload,
  ReceiptPayment,
  ReceiptResponse,
  ReceiptUsage,
  Undeclared,
  VaasKey,
  VaasKeySet,
  VaasLogKey,
  VaasPromiseKey,
} from './receipt.ts';
export { type Refusal, type RefusalCode, Refused } from './refusal.ts';
export { sha256 } from './sha256.ts';
export { type Statement, statementOnChain } from './statement.ts';
export { type InnerList, parseDictionary } from './structured-fields.ts';
export { foreignSubject, type Subjects } from './subjects.ts';
export {
  type ParsedReceipt,
  parseReceipt,
  type UnparsedReceipt,
  type Verification,
  type Verified,
  type VerifyOptions,
  verifyReceipt,
  verifyReceiptText,
} from './verify.ts';
