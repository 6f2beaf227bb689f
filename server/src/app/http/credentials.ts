import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type AccountRole, accountRoleAllows, managementScopeOf, type RouteMetadata } from '@tallygate/contract';
import type { Sessions } from '../../access/identity/index.ts';
import type { KeyDirectory, KeyGrant, ManagementKeyDirectory } from '../../access/keys/index.ts';
import type { KeyPrincipal, ManagementGrant, ManagementPrincipal, Principal, SessionGrant } from '../../http/index.ts';
import { ClientSecrets } from '../../inference/calls/index.ts';
import type { Storing } from '../../inference/stored-content/index.ts';
import { Problem } from '../../kernel/problem.ts';
import type { PeerAddress } from './peer-address.ts';
import { sessionOfCookie } from './session-cookie.ts';

/** Who is calling and what they may spend. */
export type Grant = KeyGrant | SessionGrant | ManagementGrant;

/** The headers of a request, as Node sums them up and as they came, and the connection that they came on. */
type CredentialHeaders = Pick<IncomingMessage, 'headers' | 'rawHeaders' | 'socket'>;

/** @throws Problem `management_key_not_allowed` */
export function modelCallerOf(grant: Grant): KeyGrant | SessionGrant {
  if (isManagementGrant(grant)) throw runsNoModel();
  return grant;
}

export const isManagementGrant = (grant: Grant): grant is ManagementGrant => grant.principal.kind === 'management';

const runsNoModel = (): Problem =>
  new Problem(
    'management_key_not_allowed',
    'A management key runs no model and reads nothing that was sent to one: use an API key (tg_live_…, tg_test_…).',
  );

export interface Authenticator {
  /**
   * Proves the one credential of a request. Synchronous when it is an API key that is in memory.
   * @throws Problem `missing_credentials`, `invalid_credentials`, `ambiguous_credentials`, `address_not_allowed`, `store_unavailable`
   */
  authenticate(request: CredentialHeaders): Grant | Promise<Grant>;
  /** Refuses what would keep prompts or answers where storing is switched off. @throws Problem `storing_off` */
  requireStoring(route: RouteMetadata, principal: Principal): Promise<void> | undefined;
  /** @throws Problem `missing_credentials`, `invalid_credentials` unless `X-Internal-Secret` is the configured one */
  requireInternalSecret(headers: IncomingHttpHeaders): void;
}

interface AuthenticatorDeps {
  readonly keys: Pick<KeyDirectory, 'authenticate'>;
  readonly managementKeys: ManagementKeyDirectory;
  readonly sessions: Pick<Sessions, 'authenticate'>;
  readonly clientSecrets: Pick<ClientSecrets, 'authenticate'>;
  readonly peerAddress: PeerAddress;
  readonly storing: Pick<Storing, 'requireOn'>;
  readonly internalSecret: string;
  /** Whether the database is known not to answer. */
  readonly isStoreSilent: () => boolean;
}

/** `any`: a bearer token says by its prefix what it is; the other headers take one kind each. */
interface Presented {
  readonly token: string;
  readonly kind: 'any' | 'key' | 'session';
}

export function createAuthenticator({
  keys,
  managementKeys,
  clientSecrets,
  sessions,
  peerAddress,
  storing,
  internalSecret,
  isStoreSilent,
}: AuthenticatorDeps): Authenticator {
  const internalDigest = digest(internalSecret);
  return {
    authenticate(request) {
      const { token, kind } = onlyCredential(request);
      // None can be proven then. Said here it costs a fraction of what it does by way of a query that fails, and there may be hundreds at once.
      if (isStoreSilent()) throw storeSilent();
      if (kind !== 'key' && token.startsWith('tgs_')) return sessions.authenticate(token);
      if (kind !== 'session' && token.startsWith('tg_mgmt_')) return managementKeys.authenticate(token, peerAddress(request));
      if (kind !== 'session' && ClientSecrets.is(token)) return clientSecrets.authenticate(token);
      if (kind !== 'session' && token.startsWith('tg_')) return keys.authenticate(token);
      throw invalid(
        'The credential is neither an API key (tg_live_…, tg_test_…), nor a management key (tg_mgmt_…), nor a session token (tgs_…) in its own header.',
      );
    },

    requireStoring: ({ stores }, { accountId }) => (stores ? storing.requireOn(accountId) : undefined),

    requireInternalSecret(headers) {
      const given = headerOf(headers, 'x-internal-secret');
      if (!given) throw missing('This endpoint is internal: send X-Internal-Secret.');
      // Digests have one length, so that not even the secret's length can be measured.
      if (!timingSafeEqual(digest(given), internalDigest)) throw invalid('The internal secret is wrong.');
    },
  };
}

/** What decides whether a route admits a caller. */
type Requirements = Pick<RouteMetadata, 'session' | 'manage' | 'scope' | 'accountRole' | 'everyAccountRole' | 'role'>;

/**
 * Refuses a proven caller whom the route does not admit.
 * @throws Problem `session_required`, `scope_required`, `management_key_not_allowed`, `live_key_required`, `forbidden`
 */
export function authorise(route: Requirements, principal: Principal): void {
  const refusal = refusalOf(route, principal);
  if (refusal) throw refusal;
}

/** Why a route does not admit a proven caller; undefined where it does. */
export const refusalOf = (route: Requirements, principal: Principal): Problem | undefined =>
  refusalOfCredential(route, principal) ?? refusalOfRoles(route, principal);

function refusalOfCredential(route: Requirements, principal: Principal): Problem | undefined {
  switch (principal.kind) {
    case 'key':
      return refusalOfKey(route, principal);
    case 'management':
      return refusalOfManagementKey(route, principal);
    case 'session':
      return undefined;
    default:
      return principal satisfies never;
  }
}

function refusalOfKey({ session, scope }: Requirements, { scopes, livemode }: KeyPrincipal): Problem | undefined {
  if (session) return new Problem('session_required', 'API keys cannot do this: log in and send the session token.');
  if (scope && !scopes.has(scope))
    return new Problem('scope_required', `The API key lacks the scope ${scope}: use a key that carries it, or a session.`);
  if ((scope === 'billing:write' || scope === 'admin:write') && !livemode)
    return new Problem('live_key_required', 'A test key changes no plan and moves no money: use a tg_live_ key, or a session.');
  return undefined;
}

function refusalOfRoles(route: Requirements, { role, accountRole = 'owner' }: Principal): Problem | undefined {
  const { accountRole: least, scope } = route;
  const isClosed = !route.everyAccountRole && scope && !accountRoleAllows(accountRole, scope);
  if (accountRole !== 'owner' && ((least && !AT_LEAST[least].has(accountRole)) || isClosed))
    return new Problem('forbidden', `This is not for members with the role ${accountRole}: ask an admin of the account.`);
  if (route.role && role !== route.role && role !== 'admin')
    return new Problem('forbidden', `This needs the role ${route.role}: ask an administrator.`, { because: `the caller is ${role}` });
  return undefined;
}

function refusalOfManagementKey(route: Requirements, { scopes }: ManagementPrincipal): Problem | undefined {
  const scope = managementScopeOf(route);
  if (route.scope === 'inference') return runsNoModel();
  if (scope === undefined)
    return new Problem('management_key_not_allowed', 'A management key cannot do this: log in and send the session token.');
  if (!scopes.has(scope))
    return new Problem('scope_required', `The management key lacks the scope ${scope}: use one that carries it, or a session.`);
  return undefined;
}

/** The roles in an account that may do what has no scope, by the least of them. */
const AT_LEAST: Readonly<Record<NonNullable<RouteMetadata['accountRole']>, ReadonlySet<AccountRole>>> = {
  owner: new Set(['owner']),
  admin: new Set(['owner', 'admin']),
  developer: new Set(['owner', 'admin', 'developer']),
};

/** The same credential may come in two headers; two different ones are two identities, and guessing which is meant is unsafe. */
function onlyCredential(request: CredentialHeaders): Presented {
  let only: Presented | undefined;
  for (const presented of presentedIn(request)) {
    if (only && only.token !== presented.token) throw ambiguous();
    // The narrower kind wins: a key repeated in the session header stays refused.
    if (!only || only.kind === 'any') only = presented;
    else if (presented.kind !== 'any' && presented.kind !== only.kind) throw invalid('The credential is in the wrong header.');
  }
  if (!only) throw missing('Send an API key or a session token as Authorization: Bearer ….');
  return only;
}

function presentedIn({ headers, rawHeaders }: CredentialHeaders): Presented[] {
  const presented: Presented[] = [];
  const { authorization } = headers;
  if (authorization !== undefined) requireOnlyAuthorization(authorization, rawHeaders);
  const bearer = authorization === undefined ? '' : bearerToken(authorization);
  if (bearer) presented.push({ token: bearer, kind: 'any' });
  // Azure's clients leave the x out, Google's have a name of their own.
  for (const name of ['x-api-key', 'api-key', 'x-goog-api-key']) {
    const key = headerOf(headers, name);
    // Several where the address of a request of Google's has others (`withoutColons`).
    for (const token of key.includes(', ') ? key.split(', ') : [key]) if (token) presented.push({ token, kind: 'key' });
  }
  // Browsers can send no other header with a WebSocket.
  const ofSocket = keyInProtocols(headers['sec-websocket-protocol']);
  if (ofSocket) presented.push({ token: ofSocket, kind: 'key' });
  const session = headerOf(headers, 'x-web-session-token');
  if (session) presented.push({ token: session, kind: 'session' });
  // What a page names itself counts: its playground calls with an API key.
  const cookie = presented.length === 0 ? sessionOfCookie(headers) : undefined;
  if (cookie) presented.push({ token: cookie, kind: 'session' });
  return presented;
}

const KEY_PROTOCOL = 'openai-insecure-api-key.';

/** OpenAI's clients in browsers name it among the protocols that they speak. */
function keyInProtocols(protocols: string | undefined): string | undefined {
  const named = protocols?.split(',').find((protocol) => protocol.trim().startsWith(KEY_PROTOCOL));
  return named?.trim().slice(KEY_PROTOCOL.length);
}

/**
 * Node keeps the first `Authorization` and drops the others without a word, where a proxy before us may have judged the last. Every request
 * comes through here, so nothing is built for it: comparing lengths passes over almost every name.
 */
function requireOnlyAuthorization(authorization: string, rawHeaders: readonly string[]): void {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === AUTHORIZATION.length && rawHeaders[at + 1] !== authorization && name.toLowerCase() === AUTHORIZATION)
      throw ambiguous();
  }
}

const AUTHORIZATION = 'authorization';
const BEARER = /^Bearer(?: +(\S*))?$/i;

/** Empty when there is only the scheme, as clients with an empty key send it. */
function bearerToken(authorization: string): string {
  const match = BEARER.exec(authorization.trim());
  if (!match) throw invalid('The Authorization header is not of the form: Bearer <API key or session token>.');
  return match[1] ?? '';
}

function headerOf(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value.trim() : '';
}

const digest = (text: string): Buffer => hash('sha256', text, 'buffer');
const ambiguous = (): Problem => new Problem('ambiguous_credentials', 'The request carries two different credentials: send exactly one.');
const missing = (detail: string): Problem => new Problem('missing_credentials', detail);
const storeSilent = (): Problem =>
  new Problem('store_unavailable', 'Credentials cannot be checked at the moment: repeat the request in a few seconds.', {
    retryAfterSeconds: 2,
    because: 'the database does not answer',
  });
const invalid = (detail: string): Problem => new Problem('invalid_credentials', detail);
