import { type contract, scopesOfRole } from '@tallygate/contract';
import { originOf } from '../../../audit/index.ts';
import type { Handlers } from '../../../http/index.ts';
import { rfc3339 } from '../../../kernel/clock.ts';
import type { Identity } from '../identity.ts';
import { toLogin } from '../wire.ts';
import { FIRST_INTERVAL_SECONDS, LIFETIME_SECONDS } from './device-codes.ts';

const DONE = { status: 204, body: undefined } as const;

/** @param publicUrl of this gateway, which has the page: a web front end may have another one, with the same calls */
export const deviceLoginRoutes = (
  { deviceLogins, planOf }: Pick<Identity, 'deviceLogins' | 'planOf'>,
  publicUrl: () => string,
): Handlers<typeof contract.deviceLogins> => ({
  begin: async ({ body, ...call }) => {
    const { deviceCode, userCode } = await deviceLogins.begin(body.client_name, originOf(call));
    const page = `${publicUrl()}/device`;
    return {
      status: 200,
      body: {
        device_code: deviceCode,
        user_code: userCode,
        verification_uri: page,
        verification_uri_complete: `${page}?user_code=${userCode}`,
        expires_in: LIFETIME_SECONDS,
        interval: FIRST_INTERVAL_SECONDS,
      },
    };
  },
  token: async ({ body, ...call }) => ({ status: 200, body: toLogin(await deviceLogins.take(body.device_code, originOf(call)), planOf) }),
  find: async ({ principal, body, ...call }) => {
    const found = await deviceLogins.find(principal, body.user_code, originOf(call));
    return {
      status: 200,
      body: {
        client_name: found.clientName,
        ip_address: found.ipAddress,
        user_agent: found.userAgent,
        scopes: scopesOfRole(principal.role),
        requested_at: rfc3339(new Date(found.createdAt)),
        expires_at: rfc3339(new Date(found.expiresAt)),
      },
    };
  },
  approve: async ({ principal, body, ...call }) => {
    await deviceLogins.approve(principal, body.user_code, originOf(call));
    return DONE;
  },
  deny: async ({ principal, body, ...call }) => {
    await deviceLogins.deny(principal, body.user_code, originOf(call));
    return DONE;
  },
});
