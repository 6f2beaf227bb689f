import { defineEntity, p } from '@mikro-orm/core';

export const KeyBudgetAlert = defineEntity({
  name: 'KeyBudgetAlert',
  tableName: 'key_budget_alerts',
  properties: {
    id: p.uuid().primary(),
    keyId: p.uuid(),
    period: p.text(),
    threshold: p.smallint().nullable(),
    cause: p.enum(['spend', 'cap_change', 'refusal']),
    spentNanoUsd: p.decimal().precision(30).scale(0),
    capNanoUsd: p.bigint('bigint'),
    createdAt: p.datetime(),
    requiredNanoUsd: p.decimal().precision(30).scale(0).nullable(),
  },
});

export const KeyBudgetChange = defineEntity({
  name: 'KeyBudgetChange',
  tableName: 'key_budget_changes',
  properties: {
    id: p.uuid().primary(),
    keyId: p.uuid(),
    changedAt: p.datetime(),
    actorKind: p.enum(['user', 'key', 'management_key']),
    actorId: p.uuid(),
    previousCapNanoUsd: p.bigint('bigint').nullable(),
    newCapNanoUsd: p.bigint('bigint').nullable(),
    previousAlertThresholds: p.json<number[]>(),
    newAlertThresholds: p.json<number[]>(),
  },
});

export const KeyBudgetRefusal = defineEntity({
  name: 'KeyBudgetRefusal',
  tableName: 'key_budget_refusals',
  properties: {
    keyId: p.uuid().primary(),
    period: p.text().primary(),
    capNanoUsd: p.bigint('bigint'),
    refusedAt: p.datetime(),
  },
});
