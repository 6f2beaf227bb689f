import type { contract, MarketingClientRequestRecord } from '@tallygate/contract';
import { originOf } from '../../audit/index.ts';
import type { Handlers } from '../../http/index.ts';
import { rfc3339 } from '../../kernel/clock.ts';
import { mapPage } from '../../kernel/page.ts';
import type { ClientRequests, KeptRequest } from './client-requests.ts';

export const clientRequestRoutes = (requests: ClientRequests): Handlers<typeof contract.clientRequests> => ({
  create: async ({ body, ...call }) => {
    const { request_id, type, created_at } = await requests.receive(body, originOf(call));
    return { status: 201, body: { request_id, type, received_at: rfc3339(created_at) } };
  },
  list: async ({ query }) => ({ status: 200, body: mapPage(await requests.list(query), toWire) }),
  update: async ({ principal, params, body, ...call }) => ({
    status: 200,
    body: toWire(await requests.update({ principal, origin: originOf(call) }, params.request_id, body)),
  }),
});

const toWire = ({ entries, ...request }: KeptRequest): MarketingClientRequestRecord => ({
  ...request,
  created_at: rfc3339(request.created_at),
  updated_at: rfc3339(request.updated_at),
  closed_at: request.closed_at && rfc3339(request.closed_at),
  history: entries.map(({ entry_id, actor_kind, actor_id, changes, note, created_at }) => ({
    ...{ entry_id, changes, note },
    actor: { kind: actor_kind, id: actor_id },
    // PostgreSQL writes times in JSON with the zone of the session.
    created_at: rfc3339(Date.parse(created_at)),
  })),
});
