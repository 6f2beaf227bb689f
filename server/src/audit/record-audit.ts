import type { Call, Principal } from '../http/index.ts';
import { newId } from '../kernel/ids.ts';
import { asJson, type Queryable, run } from '../kernel/statements.ts';
import { redactChanges, redactUserAgent } from './redact.ts';
import { tables } from './tables.ts';

/** Who did it. `internal` is the web front end by its secret, `system` the service by itself. */
export interface Actor {
  readonly kind: 'user' | 'key' | 'management_key' | 'internal' | 'system';
  /** Of the user or of the key. */
  readonly id: string | null;
}

/** The client of the request; never trusted, stored as sent except for credentials. */
export interface Origin {
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly requestId: string;
}

export interface AuditEntry {
  /** Whose log it belongs to; null for what concerns no account. */
  readonly accountId: string | null;
  readonly actor: Actor;
  /** `<noun>.<verb in the past>`: `key.created`, `user.password_changed`. */
  readonly action: `${string}.${string}`;
  readonly target: { readonly kind: string; readonly id: string };
  /** `{ field: { from, to } }` or plain facts. Secrets are taken out by their names and by their looks, but do not put them in. */
  readonly changes?: Readonly<Record<string, unknown>>;
  /** Left out where no request is behind it. */
  readonly origin?: Origin;
}

const MAX_USER_AGENT = 300;

/** Adds an entry in the transaction of the change that it describes, so both are committed or neither. */
export const recordAudit = (db: Queryable, entry: AuditEntry): Promise<void> => recordAudits(db, [entry]);

/** In one statement: PostgreSQL takes 65,535 values. */
const MOST_AT_ONCE = 1_000;

export async function recordAudits(db: Queryable, entries: readonly AuditEntry[]): Promise<void> {
  for (let at = 0; at < entries.length; at += MOST_AT_ONCE)
    await run(db, tables.insertInto('audit_log').values(entries.slice(at, at + MOST_AT_ONCE).map(rowOf)));
}

const rowOf = ({ accountId, actor, action, target, changes = {}, origin }: AuditEntry) => ({
  ...{ id: newId(), account_id: accountId, actor_kind: actor.kind, actor_id: actor.id, action },
  ...{ target_kind: target.kind, target_id: target.id, changes: asJson(redactChanges(changes)) },
  ...{ ip: origin?.ip ?? null, user_agent: origin?.userAgent?.slice(0, MAX_USER_AGENT) ?? null, request_id: origin?.requestId ?? null },
});

/** The actor that a proven caller is. */
export function actorOf(principal: Principal): Actor {
  switch (principal.kind) {
    case 'key':
      return { kind: 'key', id: principal.keyId };
    case 'management':
      return { kind: 'management_key', id: principal.managementKeyId };
    case 'session':
      return { kind: 'user', id: principal.userId };
    default:
      return principal satisfies never;
  }
}

export const originOf = ({ peer, requestId }: Pick<Call, 'peer' | 'requestId'>): Origin => ({
  ip: peer.address,
  userAgent: peer.userAgent && redactUserAgent(peer.userAgent),
  requestId,
});
