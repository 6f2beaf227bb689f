import type { contract } from '@tallygate/contract';
import { originOf } from '../../../audit/index.ts';
import type { Handlers } from '../../../http/index.ts';
import type { ManagementKeys, PlainManagementKey } from './management-keys.ts';

export const managementKeyRoutes = (keys: ManagementKeys): Handlers<typeof contract.managementKeys> => ({
  create: async ({ principal, body, ...call }) => ({ status: 201, body: withSecret(await keys.create(principal, body, originOf(call))) }),
  list: async ({ principal, query }) => ({ status: 200, body: await keys.list(principal.accountId, query) }),
  get: async ({ principal, params }) => ({ status: 200, body: await keys.get(principal.accountId, params.management_key_id) }),
  rotate: async ({ principal, params, body, ...call }) => ({
    status: 200,
    body: withSecret(await keys.rotate(principal, params.management_key_id, body?.grace_seconds ?? 0, originOf(call))),
  }),
  revoke: async ({ principal, params, ...call }) => {
    await keys.revoke(principal, params.management_key_id, originOf(call));
    return { status: 204, body: undefined };
  },
});

const withSecret = ({ key, plainKey }: PlainManagementKey) => ({ ...key, key: plainKey });
