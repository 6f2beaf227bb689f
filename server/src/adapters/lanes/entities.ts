import { defineEntity, p } from '@mikro-orm/core';

export const GatewaySession = defineEntity({
  name: 'GatewaySession',
  tableName: 'gateway_sessions',
  properties: {
    gateway: p.uuid().primary(),
    token: p.bigint('bigint').defaultRaw('1'),
    seenAt: p.datetime(),
    drained: p.text().nullable(),
    declared: p.text().nullable(),
    process: p.uuid(),
    isLate: p.boolean(),
    settled: p.text().nullable(),
  },
});

export const UnfreedHold = defineEntity({
  name: 'UnfreedHold',
  tableName: 'unfreed_holds',
  properties: {
    holdId: p.text().primary(),
    owner: p.text(),
    endedAt: p.datetime().defaultRaw('now()'),
  },
});

export const LaneEpoch = defineEntity({
  name: 'LaneEpoch',
  tableName: 'lane_epoch',
  properties: {
    isOne: p.boolean().defaultRaw('true').primary(),
    epoch: p.text(),
    state: p.enum(['recovering', 'declaring', 'settling', 'open']),
    older: p.array<string>().columnType('text[]'),
    changedAt: p.datetime().defaultRaw('now()'),
  },
});
