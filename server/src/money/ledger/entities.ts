import { defineEntity, p } from '@mikro-orm/core';
import { NO_ID } from './rollup-columns.ts';
import type { SettlementRecord } from './settlement-record.ts';

export const BalanceCredit = defineEntity({
  name: 'BalanceCredit',
  tableName: 'balance_credits',
  properties: {
    postingId: p.uuid().primary(),
    accountId: p.uuid(),
    amountNano: p.decimal().precision(30).scale(0),
    creditedAt: p.datetime().defaultRaw('now()'),
  },
});

export const Correction = defineEntity({
  name: 'Correction',
  tableName: 'corrections',
  properties: {
    correctionId: p.uuid().primary(),
    receiptId: p.uuid(),
    requestId: p.text(),
    attempt: p.smallint(),
    accountId: p.uuid(),
    reason: p.text(),
    requestedAt: p.datetime(),
    inputTokens: p.bigint('bigint'),
    cachedInputTokens: p.bigint('bigint'),
    cacheWriteTokens: p.bigint('bigint'),
    outputTokens: p.bigint('bigint'),
    reasoningTokens: p.bigint('bigint'),
    meters: p.json<Record<string, number>>(),
    priceTier: p.integer().nullable(),
    unitPrices: p.json<SettlementRecord['unitPrices']>(),
    costNano: p.bigint('bigint'),
    chargedNano: p.bigint('bigint'),
    debtNano: p.bigint('bigint'),
    covered: p.json<Readonly<Record<string, string>>>(),
    postedAt: p.datetime().nullable(),
  },
});

export const DailyPosting = defineEntity({
  name: 'DailyPosting',
  tableName: 'ledger_daily',
  properties: {
    account: p.text().primary(),
    day: p.date().primary(),
    amountNano: p.decimal().precision(30).scale(0),
  },
});

export const LedgerEntry = defineEntity({
  name: 'LedgerEntry',
  tableName: 'ledger_entries',
  properties: {
    postingId: p.uuid().primary(),
    account: p.text().primary(),
    amountNano: p.decimal().precision(30).scale(0),
  },
});

export const PriceSet = defineEntity({
  name: 'PriceSet',
  tableName: 'price_sets',
  properties: {
    id: p.uuid().primary(),
    unitPrices: p.json<SettlementRecord['unitPrices']>(),
  },
});

export const Posting = defineEntity({
  name: 'Posting',
  tableName: 'postings',
  properties: {
    postingId: p.uuid().primary(),
    kind: p.text(),
    requestId: p.text().nullable(),
    attempt: p.smallint().nullable(),
    livemode: p.boolean(),
    postedAt: p.datetime().defaultRaw('now()'),
    day: p.date(),
  },
});

export const Refund = defineEntity({
  name: 'Refund',
  tableName: 'refunds',
  properties: {
    refundId: p.uuid().primary(),
    receiptId: p.uuid(),
    requestId: p.text(),
    attempt: p.smallint(),
    accountId: p.uuid(),
    reason: p.text(),
    requestedAt: p.datetime(),
    postedAt: p.datetime().nullable(),
  },
});

export const DailyUsage = defineEntity({
  name: 'DailyUsage',
  tableName: 'usage_daily',
  properties: {
    accountId: p.uuid().primary(),
    livemode: p.boolean().primary(),
    day: p.date().primary(),
    keyId: p.uuid().primary(),
    model: p.text().primary(),
    requests: p.bigint('bigint'),
    inputTokens: p.bigint('bigint'),
    cachedInputTokens: p.bigint('bigint'),
    outputTokens: p.bigint('bigint'),
    costNano: p.decimal().precision(30).scale(0),
    chargedNano: p.decimal().precision(30).scale(0),
    coveredRequests: p.bigint('bigint'),
    coveredTokens: p.bigint('bigint'),
    inputCharacters: p.bigint('bigint').defaultRaw('0'),
    audioSeconds: p.bigint('bigint').defaultRaw('0'),
    videoSeconds: p.bigint('bigint').defaultRaw('0'),
    images: p.bigint('bigint').defaultRaw('0'),
    coveredImages: p.bigint('bigint').defaultRaw('0'),
    coveredAudioSeconds: p.bigint('bigint').defaultRaw('0'),
    coveredVideoSeconds: p.bigint('bigint').defaultRaw('0'),
  },
});

export const UsageRecord = defineEntity({
  name: 'UsageRecord',
  tableName: 'usage_records',
  properties: {
    requestId: p.text().primary(),
    attempt: p.smallint().primary(),
    postingId: p.uuid(),
    startedAt: p.datetime(),
    receiptId: p.uuid(),
    clientRequestId: p.text().nullable(),
    accountId: p.uuid(),
    keyId: p.uuid().nullable(),
    runId: p.text().nullable(),
    ancestorRunIds: p.array<string>().columnType('text[]').nullable(),
    livemode: p.boolean(),
    kind: p.enum(['usage', 'batch_line', 'media_job']),
    endpoint: p.text(),
    stream: p.boolean(),
    modelRequested: p.text(),
    modelServed: p.text(),
    provider: p.text(),
    fallback: p.text().$type<SettlementRecord['fallback']>(),
    outcome: p.text().$type<SettlementRecord['outcome']>(),
    attempts: p.json<SettlementRecord['attempts']>(),
    skipped: p.json<NonNullable<SettlementRecord['skipped']>>().nullable(),
    inputTokens: p.bigint('bigint'),
    cachedInputTokens: p.bigint('bigint'),
    cacheWriteTokens: p.bigint('bigint'),
    outputTokens: p.bigint('bigint'),
    reasoningTokens: p.bigint('bigint'),
    meters: p.json<Record<string, number>>(),
    estimated: p.boolean(),
    priceVersion: p.text(),
    priceTier: p.integer().nullable(),
    priceFactor: p.text(),
    unitPrices: p.json<SettlementRecord['unitPrices']>().nullable(),
    funding: p.enum(['test', 'balance', 'invoice', 'none']),
    heldNano: p.bigint('bigint'),
    costNano: p.bigint('bigint'),
    chargedNano: p.bigint('bigint'),
    debtNano: p.bigint('bigint'),
    covered: p.json<Readonly<Record<string, string>>>(),
    requestSha256: p.text(),
    responseSha256: p.text(),
    firstByteAt: p.datetime().nullable(),
    completedAt: p.datetime(),
    overheadMs: p.float(),
    plan: p.text().nullable(),
    userId: p.uuid().nullable(),
    projectId: p.uuid().nullable(),
    endUser: p.text().nullable(),
    tags: p.array<string>().columnType('text[]').nullable(),
    limitLanes: p.array<string>().columnType('text[]').nullable(),
    waivedNano: p.bigint('bigint').defaultRaw('0'),
    priceSetId: p.uuid().nullable(),
  },
});

const usageSums = () => ({
  requests: p.bigint('bigint'),
  inputTokens: p.bigint('bigint'),
  cachedInputTokens: p.bigint('bigint'),
  outputTokens: p.bigint('bigint'),
  costNano: p.bigint('bigint'),
  chargedNano: p.bigint('bigint'),
  inputCharacters: p.bigint('bigint'),
  audioSeconds: p.bigint('bigint'),
  videoSeconds: p.bigint('bigint'),
  images: p.bigint('bigint'),
});

/** Of sums that were there before these were told apart. */
const usageDetails = () => ({
  provider: p.text().primary().defaultRaw("''"),
  outcome: p.text().primary().defaultRaw("''"),
  projectId: p.uuid().primary().defaultRaw(`'${NO_ID}'`),
  userId: p.uuid().primary().defaultRaw(`'${NO_ID}'`),
});

export const DailyRunUsage = defineEntity({
  name: 'DailyRunUsage',
  tableName: 'usage_runs_daily',
  properties: {
    accountId: p.uuid().primary(),
    livemode: p.boolean().primary(),
    day: p.date().primary(),
    runId: p.text().primary(),
    keyId: p.uuid().primary(),
    model: p.text().primary(),
    ...usageSums(),
    ...usageDetails(),
  },
});

export const DailyUsageDetail = defineEntity({
  name: 'DailyUsageDetail',
  tableName: 'usage_details_daily',
  properties: {
    accountId: p.uuid().primary(),
    livemode: p.boolean().primary(),
    day: p.date().primary(),
    keyId: p.uuid().primary(),
    model: p.text().primary(),
    provider: p.text().primary(),
    outcome: p.text().primary(),
    projectId: p.uuid().primary(),
    userId: p.uuid().primary(),
    ...usageSums(),
  },
});

const packedColumn = () => p.blob().$type<Buffer>().nullable();

export const UsageSegment = defineEntity({
  name: 'UsageSegment',
  tableName: 'usage_segments',
  properties: {
    segmentId: p.uuid().primary(),
    accountId: p.uuid().nullable(),
    livemode: p.boolean(),
    isMerged: p.boolean(),
    requestDay: p.date().nullable(),
    firstDay: p.date(),
    lastDay: p.date(),
    writtenAt: p.datetime().defaultRaw('now()'),
    rows: p.integer(),
    quarters: packedColumn(),
    account: packedColumn(),
    project: packedColumn(),
    member: packedColumn(),
    key: packedColumn(),
    model: packedColumn(),
    provider: packedColumn(),
    outcome: packedColumn(),
    run: packedColumn(),
    endUser: packedColumn(),
    tags: packedColumn(),
    records: packedColumn(),
    requests: packedColumn(),
    inputTokens: packedColumn(),
    cachedInputTokens: packedColumn(),
    outputTokens: packedColumn(),
    costNano: packedColumn(),
    chargedNano: packedColumn(),
    inputCharacters: packedColumn(),
    audioSeconds: packedColumn(),
    videoSeconds: packedColumn(),
    images: packedColumn(),
  },
});

export const UnsummedDay = defineEntity({
  name: 'UnsummedDay',
  tableName: 'usage_days_unsummed',
  properties: { day: p.date().primary() },
});

export const LaneSpend = defineEntity({
  name: 'LaneSpend',
  tableName: 'lane_spend',
  properties: {
    laneId: p.text().primary(),
    spentNano: p.decimal().precision(30).scale(0),
    beforeNano: p.decimal().precision(30).scale(0).defaultRaw('0'),
    alertedPercent: p.smallint().defaultRaw('0'),
  },
});
