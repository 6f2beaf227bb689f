import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, isPlainText, NOT_PLAIN, problem, refusals, Timestamp } from './conventions.ts';
import { UserResponse } from './identity.ts';
import { Scope } from './scopes.ts';

const c = initContract();

const ClientName = z
  .string()
  .trim()
  .min(1)
  .max(80)
  .refine(isPlainText, NOT_PLAIN)
  .meta({
    description: 'What asks, in words that its user recognises. It is shown as what the asker calls itself.',
    examples: ['tallygate on ada-laptop'],
  });

const DeviceCode = z
  .string()
  .min(1)
  .max(100)
  .refine(isPlainText, NOT_PLAIN)
  .meta({ description: 'Opaque, `tgd_…`: 256 random bits that only the asking program knows.', examples: ['tgd_v1Rz8…'] });

const UserCode = z
  .string()
  .trim()
  .min(8)
  .max(20)
  .refine(isPlainText, NOT_PLAIN)
  .meta({ description: 'Eight letters, in any case, with or without the dash.', examples: ['WDJB-MJHT'] });

export const DeviceLoginRequest = z
  .strictObject({ client_name: ClientName })
  .meta({ id: 'DeviceLoginRequest', description: 'A program that a user signs in with a browser.' });
export type DeviceLoginRequest = z.infer<typeof DeviceLoginRequest>;

export const DeviceLoginResponse = z
  .object({
    device_code: DeviceCode,
    user_code: UserCode.meta({ description: 'For a person to type or compare: `XXXX-XXXX`, consonants only.', examples: ['WDJB-MJHT'] }),
    verification_uri: z.string().meta({ description: 'The page to open.', examples: ['https://gateway.example.com/device'] }),
    verification_uri_complete: z.string().meta({
      description: 'The same page with the code filled in.',
      examples: ['https://gateway.example.com/device?user_code=WDJB-MJHT'],
    }),
    expires_in: z.int().meta({ description: 'Seconds until both codes are dead.', examples: [600] }),
    interval: z.int().meta({ description: 'Seconds to wait between two questions for the session.', examples: [5] }),
  })
  .meta({ id: 'DeviceLoginResponse', description: 'What is shown to the person, and what the program asks with (RFC 8628, 3.2).' });
export type DeviceLoginResponse = z.infer<typeof DeviceLoginResponse>;

export const DeviceTokenRequest = z
  .strictObject({ device_code: DeviceCode })
  .meta({ id: 'DeviceTokenRequest', description: 'Asks whether the person has decided.' });
export type DeviceTokenRequest = z.infer<typeof DeviceTokenRequest>;

export const DeviceDecisionRequest = z
  .strictObject({ user_code: UserCode })
  .meta({ id: 'DeviceDecisionRequest', description: 'The code that the program shows.' });
export type DeviceDecisionRequest = z.infer<typeof DeviceDecisionRequest>;

export const PendingDeviceLogin = z
  .object({
    client_name: ClientName,
    ip_address: z
      .string()
      .nullable()
      .meta({ description: 'Where the program asked from.', examples: ['203.0.113.7'] }),
    user_agent: z
      .string()
      .nullable()
      .meta({ examples: ['tallygate-cli/0.1.0'] }),
    scopes: z.array(Scope).meta({ description: 'What it may do once approved: a session has all of its user’s rights.' }),
    requested_at: Timestamp,
    expires_at: Timestamp,
  })
  .meta({ id: 'PendingDeviceLogin', description: 'Who asks to be signed in, and for what.' });
export type PendingDeviceLogin = z.infer<typeof PendingDeviceLogin>;

const decided = { 404: problem, ...refusals.write } as const;

export const deviceLogins = c.router({
  begin: {
    method: 'POST',
    path: '/v1/users/login/device',
    summary: 'Begin a login that is approved in a browser',
    description:
      'The device authorization grant (RFC 8628), for programs without a browser. Show `user_code` and `verification_uri` to the person, then ask at `POST /v1/users/login/device/token` every `interval` seconds. Both codes live ten minutes and work once.',
    body: DeviceLoginRequest,
    responses: { 200: DeviceLoginResponse, ...refusals.openInput },
    metadata: { auth: 'none', tag: 'Identity', operationId: 'beginDeviceLogin', sdk: 'deviceLogins.begin' } as const,
  },
  token: {
    method: 'POST',
    path: '/v1/users/login/device/token',
    summary: 'Take the session once the login is approved',
    description:
      'Answers with the user and a session, once. Until then 400 with the codes of RFC 8628, 3.5: `authorization_pending`, `slow_down` (the interval grew by five seconds; `Retry-After` says to what), `access_denied`, `expired_token`.',
    body: DeviceTokenRequest,
    responses: { 200: UserResponse, ...refusals.openInput },
    metadata: { auth: 'none', tag: 'Identity', operationId: 'takeDeviceLogin' } as const,
  },
  find: {
    method: 'POST',
    path: '/v1/users/me/device-logins/find',
    summary: 'Who asks with a code',
    description:
      'What a person should see before they decide. A code that is mistyped, decided, used or expired is 404, and guessing is slowed down.',
    headers: headersA,
    body: DeviceDecisionRequest,
    responses: { 200: PendingDeviceLogin, ...decided },
    metadata: { auth: 'bearer', session: true, tag: 'Identity', operationId: 'findDeviceLogin', sdk: 'deviceLogins.find' } as const,
  },
  approve: {
    method: 'POST',
    path: '/v1/users/me/device-logins/approve',
    summary: 'Sign a program in',
    description:
      'Gives the program that shows this code a session of the caller. Takes a session that was opened with the password, and the second factor where one is on, within the last fifteen minutes: a stolen session must not be able to make others. Of two approvals one counts.',
    headers: headersA,
    body: DeviceDecisionRequest,
    responses: { 204: c.noBody(), ...decided },
    metadata: {
      auth: 'bearer',
      session: true,
      tag: 'Identity',
      operationId: 'approveDeviceLogin',
      sdk: 'deviceLogins.approve',
      errors: { also: ['recent_login_required'] },
    } as const,
  },
  deny: {
    method: 'POST',
    path: '/v1/users/me/device-logins/deny',
    summary: 'Turn a program away',
    description: 'The program that shows this code gets `access_denied`.',
    headers: headersA,
    body: DeviceDecisionRequest,
    responses: { 204: c.noBody(), ...decided },
    metadata: { auth: 'bearer', session: true, tag: 'Identity', operationId: 'denyDeviceLogin', sdk: 'deviceLogins.deny' } as const,
  },
});
