import { defineEntity, p } from '@mikro-orm/core';

export const SandboxPaymentEvent = defineEntity({
  name: 'SandboxPaymentEvent',
  tableName: 'sandbox_payment_events',
  properties: {
    seq: p.bigint('bigint').columnType('bigint').generated('identity').autoincrement().primary(),
    id: p.text(),
    body: p.text(),
    createdAt: p.datetime(),
    deliveredAt: p.datetime().nullable(),
  },
});

export const SandboxPaymentObject = defineEntity({
  name: 'SandboxPaymentObject',
  tableName: 'sandbox_payment_objects',
  properties: {
    seq: p.bigint('bigint').columnType('bigint').generated('identity').autoincrement(),
    id: p.text().primary(),
    kind: p.text(),
    customerId: p.text().nullable(),
    data: p.json<unknown>(),
  },
});

export const SandboxPaymentRequest = defineEntity({
  name: 'SandboxPaymentRequest',
  tableName: 'sandbox_payment_requests',
  properties: {
    idempotencyKey: p.text().primary(),
    fingerprint: p.text(),
    answer: p.text(),
    createdAt: p.datetime().defaultRaw('now()'),
  },
});
