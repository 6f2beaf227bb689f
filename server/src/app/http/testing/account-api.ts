import { contract } from '@tallygate/contract';
import { releaseDirectoryUser } from '../../../access/directory/index.ts';
import {
  accountRoutes,
  createIdentity,
  deviceLoginRoutes,
  type Identity,
  identityEntities,
  identityRoutes,
  memberRoutes,
  mfaRoutes,
  type PlanOfAccount,
  passkeyRoutes,
  userRoutes,
} from '../../../access/identity/index.ts';
import { cheapPasswords } from '../../../access/identity/testing/cheap-passwords.ts';
import {
  CachedKeyDirectory,
  createKeys,
  createLastUse,
  createManagementKeyDirectory,
  createReadKey,
  KEYS_CHANNEL,
  type Keys,
  keyEntities,
  keyRoutes,
  ManagementKeys,
  managementKeyRoutes,
  revokeAccountKeys,
  revokeMemberKeys,
} from '../../../access/keys/index.ts';
import { leaveProjects } from '../../../access/projects/index.ts';
import { openDatabase } from '../../../adapters/postgres/database.ts';
import { listen } from '../../../adapters/postgres/listener.ts';
import type { Database } from '../../../adapters/postgres/port.ts';
import { testDatabase } from '../../../adapters/postgres/test-database.ts';
import { auditRoutes } from '../../../audit/index.ts';
import { deleteCachedAnswers } from '../../../inference/calls/index.ts';
import { createStoring } from '../../../inference/stored-content/index.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { type Log, silentLog } from '../../../kernel/log.ts';
import { createSecretBox, type SecretBox } from '../../../kernel/secret-box.ts';
import { loadCatalog } from '../../../money/catalog/index.ts';
import { createSpendingReader } from '../../../money/limits/index.ts';
import { planOfSeller, TEST_RATES } from '../../../money/plans/index.ts';
import { BOOK } from '../../../money/plans/testing/book.ts';
import { createIdempotency } from '../../idempotency.ts';
import { endpointRoutes } from '../account-api.ts';
import { BodyMemory } from '../body-memory.ts';
import { createAuthenticator } from '../credentials.ts';
import { type Endpoint, endpointsOf } from '../endpoint.ts';
import { createPeerAddress } from '../peer-address.ts';
import type { ServedRoute } from '../router.ts';
import { openFrontUnderTest } from './front.ts';

export const INTERNAL_SECRET = 'internal-secret-of-the-tests';
/** Whom passkeys are made for. */
export const RP_ID = 'tallygate.test';
export const PASSWORD = 'seven grey herons at dawn';

/** Real time, which a test can move on and stop. */
export class MovableClock implements Clock {
  offsetMs = 0;
  stoppedAtMs: number | undefined;

  now(): number {
    return this.stoppedAtMs ?? Date.now() + this.offsetMs;
  }
}

interface Options {
  /** Default: of a gateway that sells plans. */
  planOf?: PlanOfAccount;
  clock?: Clock;
  bodyTimeoutMs?: number;
  refusalsPerMinute?: number;
  log?: Log;
  /** Further endpoints, for what no slice does. */
  endpoints?: readonly Endpoint[];
  /** Further endpoints of slices that need the keys, the people or the master key of this instance. */
  endpointsOver?: (keys: Keys, identity: Identity, box: SecretBox) => readonly Endpoint[];
  /** Further routes, for what is not in the contract. */
  routesOver?: (identity: Identity) => readonly ServedRoute[];
}

/** One instance of the account API on a separate port; several may share a database. */
export type Instance = Awaited<ReturnType<typeof startInstance>>;

export async function startInstance(database: Database, url: string, options: Options = {}) {
  const { clock = { now: Date.now }, bodyTimeoutMs = 5_000, endpoints = [], log = silentLog(), planOf = planOfSeller(BOOK) } = options;
  const { em } = database.orm;
  const box = createSecretBox([
    { id: 'test', key: Buffer.alloc(32, 7) },
    { id: 'older', key: Buffer.alloc(32, 9) },
  ]);
  const identity = createIdentity({
    em,
    pool: database.pool,
    box,
    clock,
    planOf,
    onAccountClosed: revokeAccountKeys,
    onStoringOff: deleteCachedAnswers,
    onTakenOver: revokeAccountKeys,
    async onMemberRemoved(db, removed) {
      await revokeMemberKeys(db, removed);
      await leaveProjects(db, removed);
      await releaseDirectoryUser(db, removed);
    },
    relyingParty: () => ({ rpId: RP_ID, origins: [`https://${RP_ID}`, 'https://app.tallygate.test'] }),
    passwords: cheapPasswords(),
  });
  const { users, sessions } = identity;
  const lastUse = createLastUse({ em, log });
  const directory = new CachedKeyDirectory({
    read: createReadKey({ em, users, spendingOf: createSpendingReader(database.pool) }),
    lastUse,
    clock,
  });
  const keys = createKeys({
    em,
    clock,
    directory,
    users,
    plans: BOOK,
    isModel: (id) => loadCatalog().find(id) !== undefined,
    testRates: TEST_RATES,
  });
  const idempotency = createIdempotency({ pool: database.pool, clock, log });
  const hearing = Promise.withResolvers<void>();
  const listener = listen(url, {
    channels: [KEYS_CHANNEL],
    onNotify: (_channel, payload) => directory.changed(payload),
    onConnected: () => {
      directory.listening();
      hearing.resolve();
    },
    onLost: () => directory.disconnected(),
    log,
  });
  const authenticator = createAuthenticator({
    clientSecrets: { authenticate: () => Promise.reject(new Error('This test has none')) },
    ...{ keys: directory, sessions, internalSecret: INTERNAL_SECRET, peerAddress: createPeerAddress(['127.0.0.1']) },
    managementKeys: createManagementKeyDirectory({ pool: database.pool, users, clock }),
    storing: createStoring({ pool: database.pool, isAllowed: true }),
    isStoreSilent: () => false,
  });
  const front = await openFrontUnderTest(
    ({ accessControl, refusals }) => [
      ...endpointRoutes({
        endpoints: [
          ...endpointsOf(contract.identity, identityRoutes(identity)),
          ...endpointsOf(contract.account, accountRoutes(identity)),
          ...endpointsOf(
            contract.deviceLogins,
            deviceLoginRoutes(identity, () => 'https://tallygate.test'),
          ),
          ...endpointsOf(contract.mfa, mfaRoutes(identity)),
          ...endpointsOf(contract.passkeys, passkeyRoutes(identity)),
          ...endpointsOf(contract.users, userRoutes(identity)),
          ...endpointsOf(contract.members, memberRoutes(identity)),
          ...endpointsOf(contract.audit, auditRoutes(identity.auditLog)),
          ...endpointsOf(contract.keys, keyRoutes({ keys, clock })),
          ...endpointsOf(contract.managementKeys, managementKeyRoutes(new ManagementKeys({ pool: database.pool, clock }))),
          ...endpoints,
          ...(options.endpointsOver?.(keys, identity, box) ?? []),
        ],
        ...{ accessControl, refusals, idempotency },
        // Tests are behind a trusted proxy: a caller's address is the one in X-Forwarded-For.
        peerAddress: createPeerAddress(['127.0.0.1']),
        bodyLimits: { maxBytes: 262_144, timeoutMs: bodyTimeoutMs },
        largeBodyLimits: { maxBytes: 10_485_760, timeoutMs: bodyTimeoutMs },
        bodyMemory: new BodyMemory(1_073_741_824),
        validatesAnswers: true,
      }),
      ...(options.routesOver?.(identity) ?? []),
      // Another handler answers it.
      { method: 'POST', path: contract.inference.createChatCompletion.path, kind: 'api', answer: ({ res }) => res.writeHead(418).end() },
    ],
    { authenticator, clock, log, ...(options.refusalsPerMinute !== undefined && { refusalsPerMinute: options.refusalsPerMinute }) },
  );
  await hearing.promise;
  return {
    baseUrl: front.url,
    port: front.port,
    users,
    identity,
    box,
    keys,
    directory,
    authenticator,
    lastUse,
    async close() {
      idempotency.close();
      front.close();
      await listener.close();
      await directory.close();
    },
  };
}

/** @param connectTimeoutMs as long as hundreds at once may wait for a connection on a busy machine */
export async function openTestDatabase({ connectTimeoutMs = 120_000, poolSize = 20 } = {}): Promise<{
  database: Database;
  url: string;
  close(): Promise<void>;
}> {
  const { url, drop } = await testDatabase();
  const database = await openDatabase({
    url,
    entities: [...identityEntities, ...keyEntities],
    log: silentLog(),
    connectTimeoutMs,
    poolSize,
  });
  return {
    database,
    url,
    async close() {
      await database.close();
      await drop();
    },
  };
}

interface Sent {
  method?: string;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as it is. */
  raw?: BodyInit;
}

export interface Received {
  status: number;
  headers: Headers;
  text: string;
  /** The body as JSON, `undefined` when it is empty. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  body: any;
}

/** One request, by Node's own fetch. */
export async function send(instance: Instance, path: string, { method, headers, json, raw }: Sent = {}): Promise<Received> {
  const isJson = json !== undefined;
  const response = await fetch(instance.baseUrl + path, {
    method: method ?? (isJson || raw !== undefined ? 'POST' : 'GET'),
    headers: { ...(isJson && { 'content-type': 'application/json' }), ...headers },
    ...(isJson ? { body: JSON.stringify(json) } : raw !== undefined && { body: raw }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: text === '' ? undefined : JSON.parse(text) };
}

let serial = 0;

/** A new user with a session of theirs. */
export async function signUp(instance: Instance, role: 'member' | 'marketing' | 'admin' = 'member') {
  const email = `user-${++serial}@example.com`;
  const user = await instance.users.create({ email, password: PASSWORD }, { role });
  const { body } = await send(instance, '/v1/users/login', { json: { email, password: PASSWORD } });
  const token: string = body.session.token;
  return { email, password: PASSWORD, userId: user.id, accountId: user.account.id, token, auth: { authorization: `Bearer ${token}` } };
}

/** A new API key of a signed-in user; it reads the account too unless `scopes` says otherwise. */
export async function newKey(instance: Instance, auth: Record<string, string>, input: object = {}) {
  const { status, body } = await send(instance, '/v1/keys', {
    headers: auth,
    json: { name: 'test', scopes: ['inference', 'account:read'], ...input },
  });
  if (status !== 201) throw new Error(JSON.stringify(body));
  const key: string = body.key;
  const keyId: string = body.key_id;
  return { key, keyId, created: body, auth: { authorization: `Bearer ${key}` } };
}
