import { defineEntity, p } from '@mikro-orm/core';
import type { KeyPurpose } from '@tallygate/receipts';
import type { Month } from '../kernel/clock.ts';

export const AnchorTransaction = defineEntity({
  name: 'AnchorTransaction',
  tableName: 'anchor_transactions',
  properties: {
    transactionHash: p.text().primary(),
    anchorId: p.uuid(),
    nonce: p.bigint('bigint'),
    raw: p.text(),
    maxFeePerGas: p.decimal().columnType('numeric'),
    maxPriorityFeePerGas: p.decimal().columnType('numeric'),
    recordedAt: p.datetime(),
  },
});

export const Anchor = defineEntity({
  name: 'Anchor',
  tableName: 'anchors',
  properties: {
    anchorId: p.uuid().primary(),
    chainId: p.bigint('bigint'),
    contract: p.text(),
    treeSize: p.bigint('bigint'),
    root: p.blob().$type<Buffer>(),
    previousSize: p.bigint('bigint'),
    state: p.enum(['logged', 'submitted', 'included', 'finalized', 'superseded']),
    publisher: p.text(),
    nonce: p.bigint('bigint').nullable(),
    gasLimit: p.decimal().columnType('numeric').nullable(),
    transactionHash: p.text().nullable(),
    blockNumber: p.bigint('bigint').nullable(),
    blockTime: p.datetime().nullable(),
    gasUsed: p.decimal().columnType('numeric').nullable(),
    feeWei: p.decimal().columnType('numeric').nullable(),
    feeNanoUsd: p.decimal().columnType('numeric').nullable(),
    createdAt: p.datetime(),
    submittedAt: p.datetime().nullable(),
    includedAt: p.datetime().nullable(),
    finalizedAt: p.datetime().nullable(),
  },
});

/** Entries of the log that are no receipts: what a price, a key or a policy is, from before it is used. */
export const LogDeclaration = defineEntity({
  name: 'LogDeclaration',
  tableName: 'log_declarations',
  properties: {
    logIndex: p.bigint('bigint').primary().autoincrement(false),
    kind: p.enum(['price', 'key', 'key_retired', 'policy']),
    subject: p.text(),
    digest: p.blob().$type<Buffer>(),
    declaration: p.text(),
  },
});

/** What the log takes in beside receipts. */
export const LogDocument = defineEntity({
  name: 'LogDocument',
  tableName: 'log_documents',
  properties: {
    documentId: p.uuid().primary(),
    kind: p.enum(['invoice']),
    payload: p.text(),
    digest: p.blob().$type<Buffer>(),
    seal: p.blob().$type<Buffer>().nullable(),
    logIndex: p.bigint('bigint').nullable(),
    setAsideAt: p.datetime().nullable(),
  },
});

export const LogTimestamp = defineEntity({
  name: 'LogTimestamp',
  tableName: 'log_timestamps',
  properties: {
    timestampId: p.uuid().primary(),
    authority: p.text(),
    treeSize: p.bigint('bigint'),
    checkpoint: p.text(),
    token: p.blob().$type<Buffer>(),
    stampedAt: p.datetime(),
    createdAt: p.datetime(),
  },
});

export const OwnRecord = defineEntity({
  name: 'OwnRecord',
  tableName: 'own_records',
  properties: {
    record: p.text().primary(),
    sealedBy: p.text().primary(),
    seal: p.blob().$type<Buffer>(),
  },
});

export const ReceiptLog = defineEntity({
  name: 'ReceiptLog',
  tableName: 'receipt_log',
  properties: {
    isOnly: p.boolean().defaultRaw('true').primary(),
    origin: p.text(),
    size: p.bigint('bigint').defaultRaw('0'),
  },
});

export const ReceiptLogAudit = defineEntity({
  name: 'ReceiptLogAudit',
  tableName: 'receipt_log_audit',
  properties: {
    isOnly: p.boolean().defaultRaw('true').primary(),
    nextIndex: p.bigint('bigint').defaultRaw('0'),
    found: p.integer().defaultRaw('0'),
    lastFound: p.integer().defaultRaw('0'),
    /** Up to where what is new has been checked. */
    newIndex: p.bigint('bigint').defaultRaw('0'),
  },
});

export const ReceiptLogCheckpoint = defineEntity({
  name: 'ReceiptLogCheckpoint',
  tableName: 'receipt_log_checkpoints',
  properties: {
    size: p.bigint('bigint').autoincrement(false).primary(),
    root: p.blob().$type<Buffer>(),
    note: p.text(),
    createdAt: p.datetime(),
    cosignatures: p.smallint().defaultRaw('0'),
  },
});

export const ReceiptLogStop = defineEntity({
  name: 'ReceiptLogStop',
  tableName: 'receipt_log_stops',
  properties: {
    reason: p.text().primary(),
    seen: p.text().nullable(),
    stoppedAt: p.datetime(),
  },
});

/** Of tiles: each level has every eighth of the tree. A tile that is not whole yet lies in several rows. */
export const ReceiptLogTile = defineEntity({
  name: 'ReceiptLogTile',
  tableName: 'receipt_log_tiles',
  properties: {
    level: p.smallint().primary(),
    start: p.bigint('bigint').primary(),
    hashes: p.blob().$type<Buffer>(),
  },
});

export const ReceiptLogWitness = defineEntity({
  name: 'ReceiptLogWitness',
  tableName: 'receipt_log_witnesses',
  properties: {
    name: p.text().primary(),
    size: p.bigint('bigint'),
  },
});

export const ReceiptNumber = defineEntity({
  name: 'ReceiptNumber',
  tableName: 'receipt_numbers',
  properties: {
    accountId: p.uuid().primary(),
    livemode: p.boolean().primary(),
    month: p.text().$type<Month>().primary(),
    last: p.integer(),
    invoiced: p.integer().defaultRaw('0'),
  },
});

export const Receipt = defineEntity({
  name: 'Receipt',
  tableName: 'receipts',
  properties: {
    receiptId: p.uuid().primary(),
    accountId: p.uuid(),
    requestId: p.text(),
    /** Canonical JSON, where it has no packed form. */
    payload: p.text().nullable(),
    digest: p.blob().$type<Buffer>(),
    issuedAt: p.datetime().defaultRaw('now()'),
    logIndex: p.bigint('bigint').nullable(),
    livemode: p.boolean().nullable(),
    kind: p.text().nullable(),
    model: p.text().nullable(),
    runId: p.text().nullable(),
    startedAt: p.datetime().nullable(),
    anchorWished: p.boolean().defaultRaw('false'),
    seal: p.blob().$type<Buffer>().nullable(),
    accountSequence: p.integer().nullable(),
    /** What the other columns do not say of the payload. */
    packed: p.blob().$type<Buffer>().nullable(),
  },
});

export const SignedInvoice = defineEntity({
  name: 'SignedInvoice',
  tableName: 'signed_invoices',
  properties: {
    invoiceId: p.uuid().primary(),
    accountId: p.uuid(),
    livemode: p.boolean(),
    month: p.text().$type<Month>(),
    sequence: p.integer(),
  },
});

export const SigningKey = defineEntity({
  name: 'SigningKey',
  tableName: 'signing_keys',
  properties: {
    kid: p.text().primary(),
    purpose: p.text().$type<KeyPurpose>(),
    x: p.text(),
    notBefore: p.datetime(),
    notAfter: p.datetime().nullable(),
  },
});

export const UnsealedReceipt = defineEntity({
  name: 'UnsealedReceipt',
  tableName: 'unsealed_receipts',
  properties: {
    receiptId: p.uuid().primary(),
    accountId: p.uuid(),
    receipt: p.json<unknown>(),
    foundAt: p.datetime(),
  },
});
