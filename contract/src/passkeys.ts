import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, isPlainText, isVisibleText, NOT_PLAIN, page, pageQuery, problem, refusals, Timestamp, Uuid } from './conventions.ts';
import { UserResponse } from './identity.ts';

const c = initContract();

const ID = 'dGhlIGlkIG9mIGEgcGFzc2tleQ';
const CHALLENGE = 'nX0b1kq5hYz1m0fJtq3rWm6o7c4Vb2aP9sKd8LxTgQE';

/** Bytes as browsers write them in JSON. The longest are certificates of an attestation that nobody asked for. */
const bytes = (max: number, example: string) =>
  z
    .string()
    .max(max)
    .regex(/^[A-Za-z0-9_-]+$/, 'must be base64url without padding')
    .meta({ examples: [example] });
const CredentialId = bytes(1_400, ID).meta({ description: 'Base64url.' });
const ClientData = bytes(4_096, 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0Iiwi4oCm').meta({ description: 'What the browser has signed, base64url.' });
const transports = z.array(z.string().min(1).max(40).refine(isPlainText, NOT_PLAIN)).max(10);

const PasskeyName = z
  .string()
  .trim()
  .min(1)
  .max(80)
  .refine(isPlainText, NOT_PLAIN)
  .refine(isVisibleText, 'must not contain invisible characters')
  .meta({ description: 'For its owner.', examples: ['Laptop'] });

const PasskeyReference = z.object({
  type: z.literal('public-key'),
  id: CredentialId,
  transports: z.array(z.string()).meta({ description: 'How browsers reach it.', examples: [['internal', 'hybrid']] }),
});

const challenge = z.string().meta({ description: 'Works once, within five minutes.', examples: [CHALLENGE] });
const timeout = z.int().meta({ description: 'Milliseconds that the browser waits for the person.', examples: [300_000] });

export const PasskeyCreationOptions = z
  .object({
    rp: z.object({
      id: z.string().meta({ description: 'The domain that the passkey is for.', examples: ['gateway.example.com'] }),
      name: z.string().meta({ examples: ['Tallygate'] }),
    }),
    user: z.object({
      id: z
        .string()
        .meta({ description: 'Names the user to the passkey, and says nothing about them.', examples: ['AZqi8cLTe26MTR8AqlXudw'] }),
      name: z.string().meta({ examples: ['ada@example.com'] }),
      displayName: z.string().meta({ examples: ['Ada Lovelace'] }),
    }),
    challenge,
    pubKeyCredParams: z
      .array(z.object({ type: z.literal('public-key'), alg: z.int() }))
      .meta({ description: 'Algorithms (COSE), the preferred first.', examples: [[{ type: 'public-key', alg: -7 }]] }),
    timeout,
    attestation: z.literal('none'),
    excludeCredentials: z.array(PasskeyReference).meta({ description: 'Passkeys that the user has already.', examples: [[]] }),
    authenticatorSelection: z.object({
      residentKey: z.literal('required'),
      requireResidentKey: z.literal(true),
      userVerification: z.literal('required'),
    }),
  })
  .meta({
    id: 'PasskeyCreationOptions',
    description: 'For `navigator.credentials.create`: what `PublicKeyCredential.parseCreationOptionsFromJSON` takes.',
  });
export type PasskeyCreationOptions = z.infer<typeof PasskeyCreationOptions>;

export const PasskeyRequestOptions = z
  .object({
    rpId: z.string().meta({ description: 'The domain that the passkey is for.', examples: ['gateway.example.com'] }),
    challenge,
    timeout,
    userVerification: z.enum(['required', 'preferred']).meta({ description: '`required` where the passkey is the whole login.' }),
    allowCredentials: z.array(PasskeyReference).meta({ description: 'Empty: any passkey for the domain.', examples: [[]] }),
  })
  .meta({
    id: 'PasskeyRequestOptions',
    description: 'For `navigator.credentials.get`: what `PublicKeyCredential.parseRequestOptionsFromJSON` takes.',
  });
export type PasskeyRequestOptions = z.infer<typeof PasskeyRequestOptions>;

/** What `toJSON()` of a browser's credential has and is read; browsers add to it. */
const credentialOf = <Response extends z.ZodRawShape>(response: Response) =>
  z.looseObject({ id: CredentialId, rawId: CredentialId, type: z.literal('public-key'), response: z.looseObject(response) });

export const NewPasskeyCredential = credentialOf({
  clientDataJSON: ClientData,
  attestationObject: bytes(32_768, 'o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YQ').meta({ description: 'The public key, base64url.' }),
  transports: transports.optional().meta({ examples: [['internal', 'hybrid']] }),
}).meta({ id: 'NewPasskeyCredential', description: '`toJSON()` of what `navigator.credentials.create` has answered.' });
export type NewPasskeyCredential = z.infer<typeof NewPasskeyCredential>;

export const PasskeyAssertion = credentialOf({
  clientDataJSON: ClientData,
  authenticatorData: bytes(4_096, 'SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAA').meta({ description: 'Base64url.' }),
  signature: bytes(8_192, 'MEUCIQDx1').meta({ description: 'Base64url.' }),
  userHandle: bytes(200, 'AZqi8cLTe26MTR8AqlXudw').nullish().meta({ description: 'Whose passkey it says it is.' }),
}).meta({ id: 'PasskeyAssertion', description: '`toJSON()` of what `navigator.credentials.get` has answered.' });
export type PasskeyAssertion = z.infer<typeof PasskeyAssertion>;

export const Passkey = z
  .object({
    passkey_id: Uuid,
    name: z.string().meta({ examples: ['Laptop'] }),
    synced: z.boolean().meta({ description: 'Whether its provider keeps a copy, so that it outlives the device.', examples: [true] }),
    created_at: Timestamp,
    last_used_at: Timestamp.nullable(),
  })
  .meta({ id: 'Passkey', description: 'A passkey of a user.' });
export type Passkey = z.infer<typeof Passkey>;

export const PasskeyList = page(Passkey).meta({ id: 'PasskeyList', description: 'Passkeys, the newest first.' });
export type PasskeyList = z.infer<typeof PasskeyList>;

export const CreatePasskeyRequest = z
  .strictObject({ name: PasskeyName, credential: NewPasskeyCredential })
  .meta({ id: 'CreatePasskeyRequest', description: 'A new passkey.' });
export type CreatePasskeyRequest = z.infer<typeof CreatePasskeyRequest>;

export const UpdatePasskeyRequest = z
  .strictObject({ name: PasskeyName })
  .meta({ id: 'UpdatePasskeyRequest', description: 'What to change.' });
export type UpdatePasskeyRequest = z.infer<typeof UpdatePasskeyRequest>;

const ChallengeToken = z
  .string()
  .min(1)
  .max(100)
  .refine(isPlainText, NOT_PLAIN)
  .optional()
  .meta({
    description: 'Of a login with a password: the passkey is its second factor. Left out, the passkey is the whole login.',
    examples: ['tgc_8Qm2x…'],
  });

export const BeginPasskeyLoginRequest = z
  .strictObject({ challenge_token: ChallengeToken })
  .meta({ id: 'BeginPasskeyLoginRequest', description: 'What the passkey is for.', examples: [{}] });
export type BeginPasskeyLoginRequest = z.infer<typeof BeginPasskeyLoginRequest>;

export const PasskeyLoginRequest = z
  .strictObject({ challenge_token: ChallengeToken, credential: PasskeyAssertion })
  .meta({ id: 'PasskeyLoginRequest', description: 'A login with a passkey.' });
export type PasskeyLoginRequest = z.infer<typeof PasskeyLoginRequest>;

const open = { auth: 'none', tag: 'Identity' } as const;
const own = { auth: 'bearer', session: true, tag: 'Identity' } as const;
const PasskeyPath = z.object({ passkey_id: Uuid.meta({ description: 'The passkey’s id.' }) });

export const passkeys = c.router({
  beginLogin: {
    method: 'POST',
    path: '/v1/users/login/passkey/begin',
    summary: 'Begin a login with a passkey',
    description:
      'Answers with the options that a browser takes. With the challenge of a login with a password, the passkey is its second factor. 404 where the service is reached at an IP address, which no passkey can be made for.',
    body: BeginPasskeyLoginRequest,
    responses: { 200: PasskeyRequestOptions, 401: problem, 404: problem, ...refusals.openInput },
    metadata: { ...open, operationId: 'beginPasskeyLogin', sdk: 'passkeys.beginLogin', errors: { never: ['invalid_mfa_code'] } } as const,
  },
  login: {
    method: 'POST',
    path: '/v1/users/login/passkey',
    summary: 'Log in with a passkey',
    description:
      'Takes what the browser has answered and opens a session. A passkey that is the whole login has to verify its user (by fingerprint, face or PIN) and counts as both factors.',
    body: PasskeyLoginRequest,
    responses: { 200: UserResponse, 401: problem, 403: problem, 404: problem, ...refusals.openInput },
    metadata: {
      ...open,
      operationId: 'loginWithPasskey',
      sdk: 'passkeys.login',
      errors: { also: ['invalid_passkey', 'directory_login_required'], never: ['invalid_mfa_code'] },
    } as const,
  },
  begin: {
    method: 'POST',
    path: '/v1/users/me/passkeys/begin',
    summary: 'Begin to add a passkey',
    description: 'Answers with the options that a browser takes. Nothing changes until the passkey is added.',
    headers: headersA,
    body: c.noBody(),
    responses: { 200: PasskeyCreationOptions, 404: problem, 409: problem, ...refusals.write },
    metadata: {
      ...own,
      operationId: 'beginPasskey',
      sdk: 'passkeys.begin',
      errors: { also: ['recent_login_required', 'directory_login_required'] },
    } as const,
  },
  create: {
    method: 'POST',
    path: '/v1/users/me/passkeys',
    summary: 'Add a passkey',
    description:
      'Takes what the browser has answered. The session has to be fresh: opened with all factors within fifteen minutes. The user is told by mail.',
    headers: headersA,
    body: CreatePasskeyRequest,
    responses: { 201: Passkey, 404: problem, 409: problem, ...refusals.write },
    metadata: {
      ...own,
      operationId: 'createPasskey',
      sdk: 'passkeys.create',
      errors: { also: ['recent_login_required', 'directory_login_required', 'invalid_passkey', 'challenge_expired'] },
    } as const,
  },
  list: {
    method: 'GET',
    path: '/v1/users/me/passkeys',
    summary: 'List the user’s passkeys',
    description: 'Passkeys of the user behind the session, the newest first.',
    headers: headersA,
    query: z.object(pageQuery),
    responses: { 200: PasskeyList, ...refusals.read },
    metadata: { ...own, operationId: 'listPasskeys', sdk: 'passkeys.list' } as const,
  },
  update: {
    method: 'PATCH',
    path: '/v1/users/me/passkeys/:passkey_id',
    summary: 'Rename a passkey',
    description: 'Changes its name, which only its owner sees.',
    headers: headersA,
    pathParams: PasskeyPath,
    body: UpdatePasskeyRequest,
    responses: { 200: Passkey, 404: problem, ...refusals.write },
    metadata: { ...own, operationId: 'updatePasskey', sdk: 'passkeys.update' } as const,
  },
  remove: {
    method: 'DELETE',
    path: '/v1/users/me/passkeys/:passkey_id',
    summary: 'Remove a passkey',
    description:
      'It opens nothing from now on, and other sessions that it has opened end. The session has to be fresh. The user is told by mail.',
    headers: headersA,
    pathParams: PasskeyPath,
    responses: { 204: c.noBody(), 404: problem, ...refusals.read },
    metadata: { ...own, operationId: 'removePasskey', sdk: 'passkeys.remove', errors: { also: ['recent_login_required'] } } as const,
  },
});
