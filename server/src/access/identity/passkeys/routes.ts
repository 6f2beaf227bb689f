import type { contract } from '@tallygate/contract';
import { originOf } from '../../../audit/index.ts';
import type { Handlers } from '../../../http/index.ts';
import type { Identity } from '../identity.ts';
import { toLogin } from '../wire.ts';

export const passkeyRoutes = ({
  passkeys,
  passkeyLogins,
  planOf,
}: Pick<Identity, 'passkeys' | 'passkeyLogins' | 'planOf'>): Handlers<typeof contract.passkeys> => ({
  beginLogin: async ({ body, ...call }) => ({ status: 200, body: await passkeyLogins.begin(body.challenge_token, originOf(call)) }),
  login: async ({ body, ...call }) => ({ status: 200, body: toLogin(await passkeyLogins.login(body, originOf(call)), planOf) }),
  begin: async ({ principal }) => ({ status: 200, body: await passkeys.begin(principal) }),
  create: async ({ principal, body, ...call }) => ({ status: 201, body: await passkeys.add(principal, body, originOf(call)) }),
  list: async ({ principal, query }) => ({ status: 200, body: await passkeys.list(principal, query) }),
  update: async ({ principal, params, body }) => ({ status: 200, body: await passkeys.rename(principal, params.passkey_id, body.name) }),
  remove: async ({ principal, params, ...call }) => {
    await passkeys.remove(principal, params.passkey_id, originOf(call));
    return { status: 204, body: undefined };
  },
});
