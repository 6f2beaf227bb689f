import type { EntityManager } from '@mikro-orm/postgresql';
import { accountRoleAllows, SCOPE_ROLES, SCOPES, type Scope, scopesOfRole } from '@tallygate/contract';
import type { ManagementPrincipal, Principal } from '../../http/index.ts';
import { Problem } from '../../kernel/problem.ts';
import { firstOf, inUnit } from '../../kernel/statements.ts';
import { type Roles, requireLiveSession, rolesOf } from '../identity/index.ts';
import { ApiKey } from './api-key.ts';
import { statusOf } from './key-verification.ts';
import { verifiableKeyOf } from './management/admit-management-key.ts';
import { type Dimension, excessOf, type Reach, reachOf } from './reach.ts';
import { tables } from './tables.ts';

/**
 * A scope that the owner's role does not cover would wait in the key for the day when they are given the role.
 * @throws Problem `forbidden`
 */
export function refuseBeyondRole(scopes: readonly Scope[] | undefined, { role, accountRole }: Roles): void {
  const closed = scopes?.find((scope) => !accountRoleAllows(accountRole, scope));
  if (closed)
    throw new Problem(
      'forbidden',
      `The role ${accountRole} in the account does not have the scope ${closed}: ask an admin of the account.`,
      {
        param: 'scopes',
      },
    );
  const beyond = scopes?.find((scope) => !scopesOfRole(role).includes(scope));
  if (beyond)
    throw new Problem('forbidden', `The scope ${beyond} needs the role ${SCOPE_ROLES[beyond]}: ask an administrator.`, {
      param: 'scopes',
      because: `the owner is ${role}`,
    });
}

/** What every change to a key asks of the API key behind it. */
const SCOPE = 'keys:write';

/** A developer's keys are their own. @throws Problem `forbidden` */
export function refuseKeysOfOthers({ userId }: Pick<ApiKey, 'userId'>, { userId: own }: Principal, { accountRole }: Roles): void {
  if (!accountRoleAllows(accountRole, SCOPE))
    throw new Problem('forbidden', `This is not for members with the role ${accountRole}: ask an admin of the account.`);
  if (accountRole !== 'owner' && accountRole !== 'admin' && userId !== own)
    throw new Problem('forbidden', 'This is the API key of another member: ask an admin of the account.');
}

/**
 * The caller was admitted before the change began, and may have lost its right since: it is judged again where the change commits.
 * @returns what its user may do now. @throws Problem `invalid_credentials`, `scope_required`
 */
export async function reauthorise(principal: Principal, unit: EntityManager, now: Date): Promise<Roles> {
  await requireLiveCredential(principal, unit, now);
  const roles = await rolesOf(unit, principal.userId);
  if (!roles) throw new Problem('invalid_credentials', 'The user of this credential no longer exists.');
  return roles;
}

async function requireLiveCredential(principal: Principal, unit: EntityManager, now: Date): Promise<void> {
  switch (principal.kind) {
    case 'session':
      return requireLiveSession(unit, principal.sessionId, now);
    case 'management':
      return requireActiveManagementKey(principal, unit, now);
    case 'key':
      return requireUsableKey(principal.keyId, unit, now);
    default:
      return principal satisfies never;
  }
}

async function requireUsableKey(keyId: string, unit: EntityManager, now: Date): Promise<void> {
  const key = await unit.findOne(ApiKey, { id: keyId });
  if (!key?.isUsable(now))
    throw new Problem('invalid_credentials', 'The API key has ended: use another one.', {
      because: 'ended while its request was under way',
    });
  if (!key.scopes.includes(SCOPE))
    throw new Problem('scope_required', `The API key lacks the scope ${SCOPE}: use a key that carries it, or a session.`);
}

/** @throws Problem `invalid_credentials` */
async function requireActiveManagementKey({ managementKeyId }: ManagementPrincipal, unit: EntityManager, now: Date): Promise<void> {
  const row = await firstOf(inUnit(unit), tables.selectFrom('management_keys').selectAll().where('id', '=', managementKeyId));
  if (!row || statusOf(verifiableKeyOf(row), now) !== 'active')
    throw new Problem('invalid_credentials', 'The management key has ended: use another one.', {
      because: 'ended while its request was under way',
    });
}

/**
 * How far the caller's own key reaches; undefined for a session, which reaches as far as the account. A management key hands out keys that run
 * models, and beside that only the scopes that it has itself.
 */
export async function reachOfCaller(principal: Principal, unit: EntityManager): Promise<Reach | undefined> {
  switch (principal.kind) {
    case 'session':
      return undefined;
    case 'management':
      return { ...UNBOUNDED, scopes: scopesGivenBy(principal) };
    case 'key':
      return reachOf(await unit.findOneOrFail(ApiKey, { id: principal.keyId }));
    default:
      return principal satisfies never;
  }
}

const UNBOUNDED: Omit<Reach, 'scopes'> = {
  ...{ livemode: true, requireSignature: false, expiresAt: null, monthlyCap: null, allowedModels: null, allowedEndpoints: null },
  ...{ requestsPerMinute: null, tokensPerMinute: null, concurrency: null },
};

const scopesGivenBy = ({ scopes }: ManagementPrincipal): Scope[] =>
  SCOPES.filter((scope) => scope === 'inference' || [...scopes].some((one) => one === scope));

/** @throws Problem `scope_required` where a new key would have scopes that the management key behind it does not have */
export function refuseScopesBeyond(principal: Principal, scopes: readonly Scope[]): void {
  if (principal.kind !== 'management') return;
  const given = scopesGivenBy(principal);
  const beyond = scopes.find((scope) => !given.includes(scope));
  if (beyond)
    throw new Problem('scope_required', `The management key does not have the scope ${beyond} itself: it cannot give it.`, {
      param: 'scopes',
    });
}

/**
 * Rotation hands out a working secret, so a key that may rotate others could otherwise rise to whatever any of them may do; and what is
 * handed out for trying things must not be able to end what earns.
 * @throws Problem `scope_required`, `forbidden`
 */
export function refuseBeyondReach(deed: 'rotated' | 'revoked', key: Reach, caller: Reach | undefined): void {
  const [first] = caller ? excessOf(key, caller) : [];
  if (first) throw refusal(first, `The API key to be ${deed} may do more than the one that asks`);
}

/**
 * Rotation hands out a secret that acts as the member whose key it is: with scopes that the caller's roles do not open, as an administrator.
 * @throws Problem `forbidden`
 */
export function refuseRolesOfOthers({ userId, scopes }: Pick<ApiKey, 'userId' | 'scopes'>, { userId: own }: Principal, roles: Roles): void {
  if (userId === own) return;
  const open = scopesOfRole(roles.role);
  const beyond = scopes.find((scope) => !open.includes(scope) || !accountRoleAllows(roles.accountRole, scope));
  if (beyond)
    throw new Problem(
      'forbidden',
      `The API key is another member’s and has the scope ${beyond}, which your roles do not open: they rotate it.`,
    );
}

/** Limits that two keys have twice: whoever holds both spends, or asks, as much as both may. */
const ADDING_UP = ['monthlyCap', 'requestsPerMinute', 'tokensPerMinute', 'concurrency'] as const;

/**
 * A key that is bounded would not be, if it could hand itself the secrets of others: each brings a cap of its own. What it may rotate is
 * itself. A key without such limits gains nothing by another's.
 * @throws Problem `forbidden`
 */
export function refuseSecondPurse(key: { readonly id: string }, principal: Principal, caller: Reach | undefined): void {
  if (principal.kind !== 'key' || key.id === principal.keyId) return;
  if (!ADDING_UP.some((limit) => caller?.[limit] != null)) return;
  throw new Problem(
    'forbidden',
    'An API key with a monthly cap or rate limits rotates only itself: the secret of another key would come on top. Use a session, or a key without them.',
  );
}

/**
 * The limits of a project bound its keys together: one that could change keys of another project would spend under the limits of that one.
 * @throws Problem `forbidden`
 */
export async function refuseOtherProject(
  { projectId }: Pick<ApiKey, 'projectId'>,
  principal: Principal,
  unit: EntityManager,
): Promise<void> {
  if (principal.kind !== 'key') return;
  const own = (await unit.findOneOrFail(ApiKey, { id: principal.keyId })).projectId ?? null;
  if (own !== null && own !== (projectId ?? null))
    throw new Problem('forbidden', 'An API key of a project changes keys of that project alone: use a session.');
}

/**
 * What a key gives another, it must have itself; what that one had before, it may keep. Test keys lie about in more places than live ones,
 * so they change none of these.
 * @throws Problem `scope_required`, `forbidden`
 */
export function refuseWidening(after: Reach, before: Reach, caller: Reach | undefined): void {
  if (!caller) return;
  if (before.livemode && !caller.livemode) throw refusal('livemode', 'The API key cannot be changed by the one that asks');
  const beyondBefore = new Set(excessOf(after, before));
  const first = excessOf(after, caller).find((dimension) => beyondBefore.has(dimension));
  if (first) throw refusal(first, 'The API key would be given more than the one that asks has');
}

const WORDS: Record<Dimension, string> = {
  livemode: 'a test key has no power over a live key',
  scopes: 'it lacks a scope',
  expiresAt: 'it expires earlier',
  monthlyCap: 'its monthly cap is lower',
  allowedModels: 'it may use fewer models',
  allowedEndpoints: 'it may use fewer endpoints',
  requestsPerMinute: 'its requests per minute are fewer',
  tokensPerMinute: 'its tokens per minute are fewer',
  concurrency: 'its concurrency is lower',
  requireSignature: 'it is bound to signed requests',
};

const refusal = (dimension: Dimension, what: string): Problem =>
  new Problem(
    dimension === 'scopes' ? 'scope_required' : 'forbidden',
    `${what}: ${WORDS[dimension]}. Use a session, or a key that reaches further.`,
  );
