import type { contract } from '@tallygate/contract';
import { originOf } from '../../audit/index.ts';
import type { Handlers } from '../../http/index.ts';
import type { createBounces } from './bounces.ts';
import type { Emails } from './emails.ts';

export const emailRoutes = (emails: Emails): Handlers<typeof contract.emails> => ({
  send: async ({ principal, body, ...call }) => ({ status: 200, body: await emails.send({ principal, origin: originOf(call) }, body) }),
  list: async ({ query }) => ({ status: 200, body: await emails.list(query) }),
  get: async ({ params }) => ({ status: 200, body: await emails.get(params.email_id) }),
  recipients: async ({ params, query }) => ({ status: 200, body: await emails.recipients(params.email_id, query) }),
  cancel: async ({ principal, params, ...call }) => ({
    status: 200,
    body: await emails.cancel({ principal, origin: originOf(call) }, params.email_id),
  }),
});

export const emailBounceRoutes = (take: ReturnType<typeof createBounces>): Handlers<typeof contract.emailBounces> => ({
  take: async ({ body }) => ({ status: 200, body: await take(Buffer.from(body, 'latin1')) }),
});
