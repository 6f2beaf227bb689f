import { isDeepStrictEqual } from 'node:util';
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { CreateKeyRequest, UpdateKeyRequest } from '@tallygate/contract';
import { type AuditEntry, actorOf, type Origin, recordAudit } from '../../audit/index.ts';
import type { Administrator, Principal } from '../../http/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { formatUsd, parseUsd } from '../../kernel/money.ts';
import { Problem } from '../../kernel/problem.ts';
import { inUnit } from '../../kernel/statements.ts';
import { inUnitOfWork } from '../../kernel/transaction.ts';
import type { PlanBook, RateLimits } from '../../money/plans/index.ts';
import { type Owner, type Roles, rolesOf, type Users } from '../identity/index.ts';
import { joinProject, projectsSeenBy, requireProject } from '../projects/index.ts';
import { ApiKey, DEFAULT_ALERT_THRESHOLDS, type KeySettings, SETTINGS } from './api-key.ts';
import {
  reachOfCaller,
  reauthorise,
  refuseBeyondReach,
  refuseBeyondRole,
  refuseKeysOfOthers,
  refuseOtherProject,
  refuseRolesOfOthers,
  refuseScopesBeyond,
  refuseSecondPurse,
  refuseWidening,
} from './escalation.ts';
import { recordKeyEvent } from './key-events.ts';
import { formatKey, kindOf, newLookupId, newSecret, secretHash } from './key-secret.ts';
import { requireConsistent, settingsFrom } from './key-settings.ts';
import { madeBefore } from './made-before.ts';

/** The PostgreSQL channel on which every instance hears of changed keys. */
export const KEYS_CHANNEL = 'tallygate_keys';

/** A key with its plain form, which exists here and nowhere else. */
export interface PlainKey {
  readonly key: ApiKey;
  readonly plainKey: string;
}

/** Whose key is made: by a person or a program, or by the service itself. */
type KeyMaker = Administrator | (Pick<Administrator, 'accountId' | 'userId'> & { readonly kind: 'service' });

/**
 * The key's rights come from the caller; whoever asks sees the keys of their own account and no others. A caller whose key or session has
 * ended since they were admitted changes nothing (`invalid_credentials`).
 */
export interface Keys {
  /**
   * @param origin absent when the service itself makes the key
   * @throws Problem `validation_failed` for settings that make no sense, such as an expiry in the past; `forbidden` for scopes beyond the role
   */
  create(maker: KeyMaker, input: CreateKeyRequest, origin?: Origin): Promise<PlainKey>;
  /** All keys of the account, newest first; of developers their own, and those of their projects. */
  list(principal: Principal): Promise<ApiKey[]>;
  /** @throws Problem `not_found`, also for another account's key */
  get(principal: Principal, keyId: string): Promise<ApiKey>;
  /** Repeating it changes nothing. @throws Problem `not_found`; `scope_required` or `forbidden` when the key reaches further than the caller */
  revoke(principal: Principal, keyId: string, origin: Origin): Promise<void>;
  /**
   * @throws Problem `not_found`; `validation_failed`; `conflict` for a revoked key; `scope_required` or `forbidden` when a key would give
   * another more than it has; `session_required` when a key would change how requests are signed
   */
  update(principal: Principal, keyId: string, input: UpdateKeyRequest, origin: Origin): Promise<ApiKey>;
  /**
   * Runs `effect` on a key that nobody else can change meanwhile. What it changes, what it writes through `unit` and the announcement to
   * all instances commit together; when this resolves, this instance goes by the new key.
   * @throws Problem `not_found`
   */
  change<Result>(principal: Principal, keyId: string, effect: Effect<Result>): Promise<Result>;
  /** @throws Problem `not_found`; `conflict` for a key that is not active; `scope_required` or `forbidden` when the key would give the caller more than it has */
  rotate(principal: Principal, keyId: string, graceSeconds: number, origin: Origin): Promise<PlainKey>;
}

/** @param roles of the caller, as they are where the change commits */
type Effect<Result> = (key: ApiKey, unit: EntityManager, roles: Roles) => Result | Promise<Result>;

interface KeysDeps {
  readonly em: EntityManager;
  readonly clock: Clock;
  /** This process's own directory: it must not need the round trip through PostgreSQL to know. */
  readonly directory: { forget(lookupId: string): void };
  readonly users: Pick<Users, 'ownerOf'>;
  readonly plans: Pick<PlanBook, 'of'>;
  /** Whether the catalogue has a model of this id. */
  readonly isModel: (id: string) => boolean;
  /** Of all test keys of an account together. */
  readonly testRates: RateLimits;
}

export function createKeys({ em, clock, directory, users, plans, isModel, testRates }: KeysDeps): Keys {
  const present = () => new Date(clock.now());

  async function change<Result>(principal: Principal, keyId: string, effect: Effect<Result>): Promise<Result> {
    const { lookupId, result } = await inUnitOfWork(em, async (unit) => {
      const key = await unit.findOne(ApiKey, ownedBy(principal, keyId), { lockMode: LockMode.PESSIMISTIC_WRITE });
      if (!key) throw notFound();
      // Behind the lock: waiting for it may have taken long.
      const roles = await reauthorise(principal, unit, present());
      refuseKeysOfOthers(key, principal, roles);
      await refuseOtherProject(key, principal, unit);
      const effected = await effect(key, unit, roles);
      await announce(unit, key.lookupId);
      return { lookupId: key.lookupId, result: effected };
    });
    directory.forget(lookupId);
    return result;
  }

  /** @throws when the user is gone, whose credential was good a moment ago */
  async function ownerOf(userId: string): Promise<Owner> {
    const owner = await users.ownerOf(userId);
    if (!owner) throw new Problem('not_found', 'The owner of this account is gone.');
    return owner;
  }

  return {
    async create(maker, input, origin) {
      const { accountId, userId } = maker;
      const now = present();
      const secret = newSecret();
      const owner = await ownerOf(userId);
      refuseBeyondRole(input.scopes, owner);
      if (maker.kind === 'management') refuseScopesBeyond(maker, input.scopes);
      const settings = settingsFrom(input, { isModel, plan: plans.of(owner.plan), livemode: input.livemode, testRates, now });
      const { key, isNew } = await inUnitOfWork(em, async (unit) => {
        const roles = maker.kind === 'service' ? owner : await reauthorise(maker, unit, now);
        if (input.project_id) await requireProject(inUnit(unit), { ...maker, ...roles }, input.project_id);
        const known = await madeBefore(unit, { ...maker, ...roles }, input, settings);
        if (known) return { key: known, isNew: false };
        const made = unit.create(ApiKey, {
          id: newId(),
          accountId,
          userId,
          lookupId: newLookupId(),
          externalId: input.external_id ?? null,
          name: input.name,
          livemode: input.livemode,
          scopes: input.scopes,
          secretHash: secretHash(secret),
          monthlyCap: input.monthly_cap_usd === undefined ? null : (parseUsd(input.monthly_cap_usd) ?? null),
          alertThresholds: [...DEFAULT_ALERT_THRESHOLDS],
          metadata: {},
          requireSignature: false,
          createdAt: now,
        });
        made.configure(settings);
        requireConsistent(made);
        await unit.flush();
        const actor = maker.kind === 'service' ? SYSTEM : actorOf(maker);
        await joinOf(unit, made, { actor, origin, at: now });
        await audit(unit, made, {
          actor,
          action: 'key.created',
          changes: createdOf(made),
          origin,
        });
        await recordKeyEvent(inUnit(unit), 'key.created', made);
        return { key: made, isNew: true };
      });
      // What it was is not known any more.
      if (!isNew) return { key, plainKey: '' };
      // No announcement: an instance that believes for a second that there is no such id cannot have been asked for it.
      directory.forget(key.lookupId);
      return { key, plainKey: formatKey({ kind: kindOf(key), lookupId: key.lookupId, secret }) };
    },

    async list(principal) {
      const unit = em.fork();
      return unit.find(ApiKey, await keysSeenBy(unit, principal), { orderBy: { id: 'desc' } });
    },

    async get(principal, keyId) {
      const unit = em.fork();
      const key = await unit.findOne(ApiKey, { ...(await keysSeenBy(unit, principal)), id: keyId });
      if (!key) throw notFound();
      return key;
    },

    change,

    async revoke(principal, keyId, origin) {
      await change(principal, keyId, async (key, unit) => {
        // A management key takes away whatever there is; what it hands out is bounded.
        if (principal.kind === 'key') refuseBeyondReach('revoked', key, await reachOfCaller(principal, unit));
        if (key.revokedAt) return;
        key.revoke(present());
        await audit(unit, key, { actor: actorOf(principal), action: 'key.revoked', origin });
        await recordKeyEvent(inUnit(unit), 'key.revoked', key);
      });
    },

    async update(principal, keyId, input, origin) {
      const maker = await ownerOf(principal.userId);
      return change(principal, keyId, async (key, unit, roles) => {
        refuseBeyondRole(input.scopes, roles);
        if (key.revokedAt) throw new Problem('conflict', 'The API key is revoked: create a new one instead.');
        if (principal.kind === 'key' && (input.signing_public_key !== undefined || input.require_signature !== undefined))
          throw new Problem('session_required', 'How requests are signed is changed by people: log in and send the session token.');
        if (principal.kind === 'key' && input.project_id !== undefined)
          throw new Problem('session_required', 'Which project a key belongs to is changed by people: log in and send the session token.');
        if (input.project_id) await requireProject(inUnit(unit), { ...principal, ...roles }, input.project_id);
        const caller = await reachOfCaller(principal, unit);
        if (key.userId !== principal.userId) refuseBeyondRole(input.scopes, await rolesOfOwner(unit, key));
        const before = { ...key };
        const settings = settingsFrom(input, { isModel, plan: plans.of(maker.plan), livemode: key.livemode, testRates, now: present() });
        key.configure(settings);
        requireConsistent(key);
        refuseWidening(key, before, caller);
        if (key.projectId !== before.projectId) await joinOf(unit, key, { actor: actorOf(principal), origin, at: present() });
        await audit(unit, key, { actor: actorOf(principal), action: 'key.updated', changes: changesOf(settings, before), origin });
        return key;
      });
    },

    async rotate(principal, keyId, graceSeconds, origin) {
      const secret = newSecret();
      const key = await change(principal, keyId, async (found, unit, roles) => {
        const now = present();
        const caller = await reachOfCaller(principal, unit);
        refuseBeyondReach('rotated', found, caller);
        refuseSecondPurse(found, principal, caller);
        refuseRolesOfOthers(found, principal, roles);
        if (!found.isUsable(now)) throw new Problem('conflict', `The API key is ${found.status(now)}: create a new one instead.`);
        found.rotate(secret, { now, graceSeconds, shownTo: principal.userId });
        await joinOf(unit, found, { actor: actorOf(principal), origin, at: now });
        await audit(unit, found, { actor: actorOf(principal), action: 'key.rotated', changes: { grace_seconds: graceSeconds }, origin });
        await recordKeyEvent(inUnit(unit), 'key.rotated', found);
        return found;
      });
      return { key, plainKey: formatKey({ kind: kindOf(key), lookupId: key.lookupId, secret }) };
    },
  };
}

const SYSTEM = { kind: 'system', id: null } as const;

const audit = (
  unit: EntityManager,
  { id, accountId }: ApiKey,
  { origin, ...entry }: Pick<AuditEntry, 'actor' | 'action' | 'changes'> & { origin: Origin | undefined },
): Promise<void> => recordAudit(inUnit(unit), { ...entry, accountId, target: { kind: 'key', id }, ...(origin && { origin }) });

/** Who knows the secret of a key of a project is a member of it. */
async function joinOf(
  unit: EntityManager,
  { accountId, projectId, userId, secretShownTo }: ApiKey,
  by: Pick<AuditEntry, 'actor'> & { readonly origin: Origin | undefined; readonly at: Date },
): Promise<void> {
  if (projectId) await joinProject(inUnit(unit), { accountId, projectId, userIds: [userId, ...(secretShownTo ?? [])], ...by });
}

/** Else scopes that an administrator gives would wait in the key for the day when its owner is given the role. */
async function rolesOfOwner(unit: EntityManager, { userId }: ApiKey): Promise<Roles> {
  return (await rolesOf(unit, userId)) ?? { role: 'member', accountRole: 'viewer' };
}

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** What a new key may do: all that is not at its default. */
const createdOf = (key: ApiKey): Record<string, unknown> => ({
  name: key.name,
  livemode: key.livemode,
  scopes: key.scopes,
  ...(key.monthlyCap != null && { monthly_cap_usd: formatUsd(key.monthlyCap) }),
  ...Object.fromEntries(
    SETTINGS.flatMap((field) =>
      key[field] === undefined || key[field] === null || field === 'metadata' ? [] : [[snakeCase(field), key[field]]],
    ),
  ),
});

/** What was changed, from what to what. */
const changesOf = (settings: KeySettings, before: KeySettings): Record<string, unknown> =>
  Object.fromEntries(
    SETTINGS.flatMap((field) => {
      const [from, to] = [before[field] ?? null, settings[field]];
      return to === undefined || isDeepStrictEqual(from, to) ? [] : [[snakeCase(field), { from, to }]];
    }),
  );

/** In the query and not after it: another account's key is not even read. Of developers: their own, and those of their projects. */
async function keysSeenBy(unit: EntityManager, principal: Principal) {
  const { accountId, userId } = principal;
  const projects = await projectsSeenBy(inUnit(unit), principal);
  return projects === undefined ? { accountId } : { accountId, $or: [{ userId }, { projectId: { $in: [...projects] } }] };
}

const ownedBy = ({ accountId }: Principal, id: string) => ({ id, accountId });

const notFound = (): Problem => new Problem('not_found', 'There is no such API key in this account: GET /v1/keys lists its keys.');

const announce = (unit: EntityManager, lookupId: string): Promise<unknown> =>
  inUnit(unit).query('select pg_notify($1, $2)', [KEYS_CHANNEL, lookupId]);
