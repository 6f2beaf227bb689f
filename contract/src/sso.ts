import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersB, idempotencyHeader, isPlainText, NOT_PLAIN, problem, refusals } from './conventions.ts';
import { UserResponse } from './identity.ts';

const c = initContract();

export const LoginMethods = z
  .object({
    password: z.boolean().meta({ description: 'E-mail address and password, or a passkey.', examples: [true] }),
    directory: z
      .object({
        name: z.string().meta({ description: 'As people call it.', examples: ['Example Inc.'] }),
        login_url: z.string().meta({
          description:
            'Where a browser begins, with `redirect_uri`, `code_challenge` (base64url of the SHA-256 of a secret of yours) and, if you like, `state`.',
          examples: ['https://gateway.example.com/sign-in'],
        }),
      })
      .nullable()
      .meta({ description: 'The company’s directory; null where none is configured.' }),
    passkey: z
      .object({ rp_id: z.string().meta({ description: 'The domain that passkeys are for.', examples: ['gateway.example.com'] }) })
      .nullable()
      .meta({ description: 'Null where the service is reached at an IP address, which no passkey can be made for.' }),
  })
  .meta({
    id: 'LoginMethods',
    description: 'How people log in here.',
    examples: [
      {
        password: true,
        directory: { name: 'Example Inc.', login_url: 'https://gateway.example.com/sign-in' },
        passkey: { rp_id: 'gateway.example.com' },
      },
    ],
  });
export type LoginMethods = z.infer<typeof LoginMethods>;

export const PasswordLogin = z
  .strictObject({
    password: z
      .boolean()
      .meta({ description: 'Whether members log in with e-mail address and password, or with a passkey.', examples: [false] }),
  })
  .meta({ id: 'PasswordLogin', description: 'How members of the account log in beside the directory.' });
export type PasswordLogin = z.infer<typeof PasswordLogin>;

const opaque = (description: string, example: string) =>
  z
    .string()
    .min(1)
    .max(200)
    .refine(isPlainText, NOT_PLAIN)
    .meta({ description, examples: [example] });

export const DirectoryLoginRequest = z
  .strictObject({
    code: opaque('What came back to `redirect_uri`: works once, for a minute.', 'tgo_x7Qm2…'),
    code_verifier: opaque('The secret whose SHA-256 was the `code_challenge`.', 'kT9x…'),
  })
  .meta({ id: 'DirectoryLoginRequest', description: 'Takes the session after a sign-in with the directory.' });
export type DirectoryLoginRequest = z.infer<typeof DirectoryLoginRequest>;

export const DirectoryLogoutResponse = z
  .object({
    logout_url: z
      .string()
      .nullable()
      .meta({
        description: 'Where a browser ends the session at the directory as well; null where it has no such page.',
        examples: ['https://login.example.com/session/end?client_id=tallygate'],
      }),
  })
  .meta({ id: 'DirectoryLogoutResponse', description: 'The session here has ended.' });
export type DirectoryLogoutResponse = z.infer<typeof DirectoryLogoutResponse>;

export const sso = c.router({
  methods: {
    method: 'GET',
    path: '/v1/users/login/methods',
    summary: 'How people log in',
    description: 'Whether there is a directory to sign in with, where a browser begins, and the domain of passkeys.',
    responses: { 200: LoginMethods, ...refusals.openRead },
    metadata: { auth: 'none', tag: 'Identity', operationId: 'getLoginMethods', sdk: 'sso.methods' } as const,
  },
  setPasswordLogin: {
    method: 'PUT',
    path: '/v1/users/login/methods',
    summary: 'Switch password login of the account on or off',
    description:
      'Off, members log in with the directory alone; owners log in with a password or a passkey all the same, so that a directory that is broken locks nobody out. Sessions that there are go on.',
    headers: { ...headersB, ...idempotencyHeader },
    body: PasswordLogin,
    responses: { 200: PasswordLogin, 404: problem, 409: problem, ...refusals.write },
    metadata: {
      auth: 'bearer',
      session: true,
      accountRole: 'owner',
      tag: 'Identity',
      operationId: 'setPasswordLogin',
      sdk: 'sso.setPasswordLogin',
    } as const,
  },
  token: {
    method: 'POST',
    path: '/v1/users/login/directory',
    summary: 'Take the session after a sign-in with the directory',
    description: 'Exchanges the code that came back to `redirect_uri` for a session, once, for the program that began.',
    body: DirectoryLoginRequest,
    responses: { 200: UserResponse, 404: problem, ...refusals.openInput },
    metadata: {
      auth: 'none',
      tag: 'Identity',
      operationId: 'takeDirectoryLogin',
      sdk: 'sso.token',
      errors: { also: ['invalid_token'] },
    } as const,
  },
  logout: {
    method: 'POST',
    path: '/v1/users/logout/directory',
    summary: 'End the session here and at the directory',
    description: 'Ends the session of the caller, and says where a browser ends the one at the directory.',
    headers: headersB,
    responses: { 200: DirectoryLogoutResponse, 404: problem, ...refusals.read },
    body: c.noBody(),
    metadata: { auth: 'bearer', session: true, tag: 'Identity', operationId: 'directoryLogout', sdk: 'sso.logout' } as const,
  },
});
