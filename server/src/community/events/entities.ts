import { defineEntity, p } from '@mikro-orm/core';

export const EventRegistration = defineEntity({
  name: 'EventRegistration',
  tableName: 'event_registrations',
  properties: {
    registrationId: p.uuid().primary(),
    eventId: p.uuid(),
    email: p.text(),
    name: p.text().nullable(),
    company: p.text().nullable(),
    message: p.text().nullable(),
    userId: p.uuid().nullable(),
    status: p.enum(['confirmed', 'awaiting_payment', 'waitlisted', 'canceled']),
    turn: p.bigint('bigint'),
    priceNano: p.bigint('bigint'),
    paymentStatus: p.enum(['not_required', 'due', 'paid', 'refunded', 'waived']),
    payBy: p.datetime().nullable(),
    checkoutId: p.uuid().nullable(),
    paymentId: p.uuid().nullable(),
    adminNote: p.text().defaultRaw("''"),
    attendedAt: p.datetime().nullable(),
    confirmedAt: p.datetime().nullable(),
    canceledAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
    erasedAt: p.datetime().nullable(),
  },
});

export const EventSecret = defineEntity({
  name: 'EventSecret',
  tableName: 'event_secret',
  properties: {
    isOnly: p.boolean().defaultRaw('true').primary(),
    secret: p.text(),
  },
});

export const SiteEvent = defineEntity({
  name: 'SiteEvent',
  tableName: 'site_events',
  properties: {
    eventId: p.uuid().primary(),
    slug: p.text(),
    title: p.text(),
    summary: p.text(),
    description: p.text(),
    status: p.enum(['draft', 'published', 'archived']),
    startsAt: p.datetime(),
    endsAt: p.datetime(),
    timeZone: p.text(),
    venueName: p.text().nullable(),
    venueAddress: p.text().nullable(),
    onlineUrl: p.text().nullable(),
    imageUrl: p.text().nullable(),
    capacity: p.integer().nullable(),
    priceNano: p.bigint('bigint'),
    registrationClosesAt: p.datetime().nullable(),
    revision: p.integer().defaultRaw('0'),
    publishedAt: p.datetime().nullable(),
    archivedAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
});
