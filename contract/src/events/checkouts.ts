import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, idempotencyHeader, problem, refusals, Uuid } from '../conventions.ts';
import { EventRefundRequest, VibethonCheckoutRequest, VibethonCheckoutResponse } from './checkout-records.ts';
import { RegistrantEmail, VibethonRegistrationResponse } from './registration-records.ts';
import { SlugPath } from './site-events.ts';

const c = initContract();

const tag = 'Events';
const pays = { auth: 'bearer', scope: 'billing:write', tag } as const;
const headers = {
  'x-event-email': RegistrantEmail.optional().meta({
    description:
      'The registered address, if it is not the caller’s own: that of a user of the same account, or, for administrators, any address.',
    examples: ['ada@example.com'],
  }),
  ...idempotencyHeader,
};

/** Paying for a place, and getting the money back. */
export const eventCheckouts = c.router({
  vibethon: {
    method: 'POST',
    path: '/v1/events/vibethon/checkout',
    summary: 'Pay for a place at the Vibethon',
    description:
      'For anyone who is registered and has a place held: a hosted page to pay on. The place is confirmed when the payment provider reports the payment. A repeated request returns the same page.',
    headers,
    body: VibethonCheckoutRequest,
    responses: { 200: VibethonCheckoutResponse, 404: problem, 409: problem, ...refusals.write },
    metadata: { ...pays, operationId: 'checkoutVibethon' } as const,
  },
  event: {
    method: 'POST',
    path: '/v1/events/:slug/checkout',
    summary: 'Pay for a place at an event',
    description: 'Of a published event; the rules are those of the Vibethon.',
    headers,
    pathParams: SlugPath,
    body: VibethonCheckoutRequest,
    responses: { 200: VibethonCheckoutResponse, 404: problem, 409: problem, ...refusals.write },
    metadata: { ...pays, operationId: 'checkoutEvent' } as const,
  },
  refund: {
    method: 'POST',
    path: '/v1/events/admin/registrations/:registration_id/refund',
    summary: 'Refund a place',
    description:
      'For administrators: the whole payment is refunded to its source, the registration is canceled, and the place goes to the person who has waited longest.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: z.object({ registration_id: Uuid }),
    body: EventRefundRequest,
    responses: { 200: VibethonRegistrationResponse, 404: problem, 409: problem, ...refusals.write },
    metadata: {
      ...pays,
      scope: 'admin:write',
      role: 'admin',
      operationId: 'refundEventRegistration',
      sdk: 'events.refundRegistration(reason)',
    } as const,
  },
});
