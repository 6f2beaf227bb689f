import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import {
  headersA,
  headersS,
  idempotencyHeader,
  isPlainText,
  MarketingConsentTick,
  NOT_PLAIN,
  problem,
  refusals,
  Timestamp,
  Uuid,
} from './conventions.ts';
import { EmailAddress } from './email-address.ts';
import { ACCOUNT_ROLES } from './scopes.ts';

const c = initContract();

export const Email = EmailAddress.meta({
  description: 'E-mail address. An internationalized domain is stored and returned in its ASCII spelling (`xn--…`).',
  examples: ['ada@example.com'],
});

/** Taken by the judge of new passwords. */
export const EXAMPLE_PASSWORD = 'seven grey herons at dawn';

export const NewPassword = z
  .string()
  .min(10)
  .max(256)
  .refine(isPlainText, NOT_PLAIN)
  .meta({ description: '10 to 256 characters. What is easy to guess is refused.', examples: [EXAMPLE_PASSWORD] });

export const UserName = z
  .string()
  .trim()
  .min(1)
  .max(120)
  .refine(isPlainText, NOT_PLAIN)
  .meta({ description: 'Display name.', examples: ['Ada Lovelace'] });

export const CreateUserRequest = z
  .strictObject({
    email: Email,
    password: NewPassword,
    name: UserName.optional(),
    marketing_consent: MarketingConsentTick,
  })
  .meta({ id: 'CreateUserRequest', description: 'A new user with a new account.' });
export type CreateUserRequest = z.infer<typeof CreateUserRequest>;

export const LoginRequest = z
  .strictObject({
    email: Email,
    password: z
      .string()
      .min(1)
      .max(256)
      .refine(isPlainText, NOT_PLAIN)
      .meta({ examples: [EXAMPLE_PASSWORD] }),
  })
  .meta({ id: 'LoginRequest', description: 'E-mail address and password.' });
export type LoginRequest = z.infer<typeof LoginRequest>;

export const Role = z.enum(['member', 'marketing', 'admin']).meta({ id: 'Role', description: 'What a user may administer.' });
export type Role = z.infer<typeof Role>;

export const AccountRole = z.enum(ACCOUNT_ROLES).meta({
  id: 'AccountRole',
  description:
    'What a member may do in the account. `owner`: everything. `admin`: everything but closing the account and changing owners. `billing`: plans, payments and what is spent. `developer`: models, and API keys of their own. `viewer`: reading.',
});
export type AccountRole = z.infer<typeof AccountRole>;

const LoginSession = z
  .object({
    token: z.string().meta({ description: 'Opaque, `tgs_…`. Shown once.', examples: ['tgs_4f0Zk1…'] }),
    expires_at: Timestamp,
  })
  .meta({ id: 'LoginSession', description: 'A signed-in session: 30 days from its last use, 90 days at most.' });

export const UserResponse = z
  .object({
    user_id: Uuid,
    account_id: Uuid.meta({ description: 'The account that owns keys, usage and money.' }),
    email: Email,
    name: z
      .string()
      .nullable()
      .meta({ examples: ['Ada Lovelace'] }),
    role: Role,
    account_role: AccountRole,
    email_verified: z.boolean(),
    mfa_enabled: z.boolean(),
    plan: z.string().meta({ description: 'The account’s plan.', examples: ['free'] }),
    stores_content: z.boolean().meta({ description: 'Whether the account allows prompts and answers to be stored.' }),
    created_at: Timestamp,
    session: LoginSession.optional().meta({ description: 'Present in answers to a login only.' }),
  })
  .meta({ id: 'UserResponse', description: 'A user.' });
export type UserResponse = z.infer<typeof UserResponse>;

export const LoginMfaRequiredResponse = z
  .object({
    mfa_required: z.literal(true),
    challenge_token: z
      .string()
      .meta({ description: 'For `POST /v1/users/login/mfa`; five minutes, five tries.', examples: ['tgc_8Qm2x…'] }),
    expires_at: Timestamp,
    methods: z.array(z.enum(['totp', 'recovery_code', 'passkey'])).meta({
      description: '`passkey`: by `POST /v1/users/login/passkey/begin`, where the user has one.',
      examples: [['totp', 'recovery_code']],
    }),
  })
  .meta({ id: 'LoginMfaRequiredResponse', description: 'The password was right; a second factor is needed.' });
export type LoginMfaRequiredResponse = z.infer<typeof LoginMfaRequiredResponse>;

const LOGGED_IN = {
  user_id: '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77',
  account_id: '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee78',
  email: 'ada@example.com',
  name: 'Ada Lovelace',
  role: 'member',
  account_role: 'owner',
  email_verified: true,
  mfa_enabled: false,
  plan: 'free',
  stores_content: true,
  created_at: '2026-11-21T08:00:00.000Z',
  session: { token: 'tgs_4f0Zk1…', expires_at: '2026-12-21T08:00:00.000Z' },
};

export const identity = c.router({
  createUser: {
    method: 'POST',
    path: '/v1/users',
    summary: 'Create a user',
    description: 'Called by the web front end with its internal secret. The user gets an account on the free plan.',
    headers: { ...headersS, ...idempotencyHeader },
    body: CreateUserRequest,
    responses: { 201: UserResponse, 409: problem, ...refusals.write },
    metadata: { auth: 'internal', tag: 'Identity', operationId: 'createUser' } as const,
  },
  login: {
    method: 'POST',
    path: '/v1/users/login',
    summary: 'Log in with e-mail and password',
    description:
      'Answers with the user and a session, or, where the user has a second factor, with a challenge for `POST /v1/users/login/mfa`.',
    body: LoginRequest,
    responses: {
      200: z.union([UserResponse, LoginMfaRequiredResponse]).meta({ examples: [LOGGED_IN] }),
      401: problem,
      403: problem,
      ...refusals.openInput,
    },
    metadata: {
      auth: 'none',
      tag: 'Identity',
      operationId: 'login',
      sdk: 'identity.login',
      errors: { also: ['invalid_credentials', 'directory_login_required'] },
    } as const,
  },
  logout: {
    method: 'POST',
    path: '/v1/users/logout',
    summary: 'End the session',
    description: 'Revokes the session token that the request carries.',
    headers: headersA,
    body: c.noBody(),
    responses: { 204: c.noBody(), ...refusals.write },
    metadata: { auth: 'bearer', session: true, tag: 'Identity', operationId: 'logout', sdk: 'identity.logout' } as const,
  },
  me: {
    method: 'GET',
    path: '/v1/users/me',
    summary: 'The caller’s own profile',
    description: 'The user behind the session, or the owner of the API key.',
    headers: headersA,
    responses: { 200: UserResponse, ...refusals.read },
    metadata: { auth: 'bearer', scope: 'account:read', tag: 'Identity', operationId: 'getMe', sdk: 'identity.me' } as const,
  },
});
