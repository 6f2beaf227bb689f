import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, isPlainText, NOT_PLAIN, problem, refusals, Timestamp, Uuid } from './conventions.ts';
import { EXAMPLE_PASSWORD, UserResponse } from './identity.ts';

const c = initContract();

/** Six digits, or a recovery code in any case, with or without its dashes. */
const Code = z
  .string()
  .trim()
  .min(6)
  .max(40)
  .refine(isPlainText, NOT_PLAIN)
  .meta({ description: 'Six digits from the authenticator app, or a recovery code.', examples: ['492039'] });

const Password = z
  .string()
  .min(1)
  .max(256)
  .refine(isPlainText, NOT_PLAIN)
  .meta({ examples: [EXAMPLE_PASSWORD] });

export const MfaStatusResponse = z
  .object({
    enabled: z.boolean().meta({ description: 'Whether a login needs a second factor.' }),
    enabled_at: Timestamp.nullable(),
    pending: z.boolean().meta({ description: 'Begun and not confirmed yet; a login does not ask for it.' }),
    recovery_codes_left: z
      .int()
      .min(0)
      .max(10)
      .meta({ examples: [10] }),
    recovery_codes: z
      .array(z.string())
      .optional()
      .meta({
        description: 'In the answer to confirm only: each replaces a code from the app, once. They are not shown again.',
        examples: [['7k2m-9qxd-r4tv-h8wn']],
      }),
  })
  .meta({ id: 'MfaStatusResponse', description: 'The state of a user’s second factor.' });
export type MfaStatusResponse = z.infer<typeof MfaStatusResponse>;

export const MfaBeginResponse = z
  .object({
    secret: z
      .string()
      .meta({ description: 'For typing into an authenticator app: base32.', examples: ['JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'] }),
    otpauth_uri: z.string().meta({
      description: 'The same as a link that authenticator apps open.',
      examples: ['otpauth://totp/Tallygate:ada%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Tallygate'],
    }),
    qr_code: z
      .string()
      .meta({ description: 'The link as a QR code: an SVG in a data URI.', examples: ['data:image/svg+xml;base64,PHN2ZyB4…'] }),
  })
  .meta({ id: 'MfaBeginResponse', description: 'A new secret; nothing changes until it is confirmed with a code.' });
export type MfaBeginResponse = z.infer<typeof MfaBeginResponse>;

export const MfaVerifyRequest = z
  .strictObject({
    code: Code,
    password: Password.meta({ description: 'Anyone who has only a session or an API key must not decide how its owner logs in.' }),
  })
  .meta({ id: 'MfaVerifyRequest', description: 'The password, and a code from the app that took the secret of begin.' });
export type MfaVerifyRequest = z.infer<typeof MfaVerifyRequest>;

export const MfaDisableRequest = z
  .strictObject({ password: Password, code: Code })
  .meta({ id: 'MfaDisableRequest', description: 'Both factors, once more.' });
export type MfaDisableRequest = z.infer<typeof MfaDisableRequest>;

export const LoginMfaRequest = z
  .strictObject({
    challenge_token: z
      .string()
      .min(1)
      .max(100)
      .refine(isPlainText, NOT_PLAIN)
      .meta({ description: 'From the answer to the login.', examples: ['tgc_8Qm2x…'] }),
    code: Code,
  })
  .meta({ id: 'LoginMfaRequest', description: 'The second step of a login.' });
export type LoginMfaRequest = z.infer<typeof LoginMfaRequest>;

export const mfa = c.router({
  login: {
    method: 'POST',
    path: '/v1/users/login/mfa',
    summary: 'Complete a login with the second factor',
    description:
      'Takes the challenge of the login and a code. The challenge lives five minutes and takes five tries; each code works once, also within its own half minute.',
    body: LoginMfaRequest,
    responses: { 200: UserResponse, 401: problem, ...refusals.openInput },
    metadata: { auth: 'none', tag: 'Identity', operationId: 'loginMfa', sdk: 'identity.loginMfa' } as const,
  },
  status: {
    method: 'GET',
    path: '/v1/users/mfa/status',
    summary: 'Whether a second factor is on',
    description: 'The state of the second factor of the user behind the credential.',
    headers: headersA,
    responses: { 200: MfaStatusResponse, ...refusals.read },
    metadata: { auth: 'bearer', scope: 'account:read', tag: 'Identity', operationId: 'getMfaStatus', sdk: 'mfa.status' } as const,
  },
  begin: {
    method: 'POST',
    path: '/v1/users/mfa/begin',
    summary: 'Begin to set up a second factor',
    description:
      'Makes a new secret and replaces one that was begun before. Logins stay as they are until it is confirmed. 409 while a second factor is on.',
    headers: headersA,
    body: c.noBody(),
    responses: { 200: MfaBeginResponse, 409: problem, ...refusals.write },
    metadata: { auth: 'bearer', scope: 'account:write', tag: 'Identity', operationId: 'beginMfa', sdk: 'mfa.begin' } as const,
  },
  confirm: {
    method: 'POST',
    path: '/v1/users/mfa/confirm',
    summary: 'Switch the second factor on',
    description:
      'Takes the password, and a code that shows that the app has the secret. Ends every other session of the user. The answer has ten recovery codes, shown this once.',
    headers: headersA,
    body: MfaVerifyRequest,
    responses: { 200: MfaStatusResponse, 409: problem, ...refusals.write },
    metadata: { auth: 'bearer', scope: 'account:write', tag: 'Identity', operationId: 'confirmMfa', sdk: 'mfa.confirm' } as const,
  },
  disable: {
    method: 'POST',
    path: '/v1/users/mfa/disable',
    summary: 'Switch the second factor off',
    description: 'Takes the password and a code, or a recovery code in its place. The secret and all recovery codes are deleted.',
    headers: headersA,
    body: MfaDisableRequest,
    responses: { 200: MfaStatusResponse, 409: problem, ...refusals.write },
    metadata: { auth: 'bearer', scope: 'account:write', tag: 'Identity', operationId: 'disableMfa', sdk: 'mfa.disable' } as const,
  },
  reset: {
    method: 'DELETE',
    path: '/v1/admin/users/:user_id/mfa',
    summary: 'Remove another user’s second factor and passkeys',
    description:
      'For administrators, when a user has lost the app and the recovery codes. Ends every session of the user and tells them by mail; repeating it changes nothing. One’s own is switched off with the password and a code.',
    headers: headersA,
    pathParams: z.object({ user_id: Uuid.meta({ description: 'The user’s id.' }) }),
    responses: { 204: c.noBody(), 404: problem, ...refusals.read },
    metadata: { auth: 'bearer', session: true, role: 'admin', tag: 'Identity', operationId: 'resetMfa', sdk: 'mfa.reset' } as const,
  },
});
