import type { Call, Principal } from '../http/index.ts';
import type { Execute } from '../kernel/execute.ts';
import { newId } from '../kernel/ids.ts';
import { redact, redactUserAgent } from './redact.ts';

/** Who did it. `internal` is the web front end by its secret, `system` the service by itself. */
export interface Actor {
  readonly kind: 'user' | 'key' | 'internal' | 'system';
  /** A user's or a key's id. */
  readonly id: string | null;
}

/** Where the request came from; never trusted, kept as it was said but for credentials in it. */
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

/** Adds an entry in the transaction of the change that it tells about: there is neither without the other. */
export async function recordAudit(execute: Execute, { accountId, actor, action, target, changes = {}, origin }: AuditEntry): Promise<void> {
  await execute(
    `insert into audit_log (id, account_id, actor_kind, actor_id, action, target_kind, target_id, changes, ip, user_agent, request_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      ...[newId(), accountId, actor.kind, actor.id, action, target.kind, target.id, JSON.stringify(redact(changes))],
      ...[origin?.ip ?? null, origin?.userAgent?.slice(0, MAX_USER_AGENT) ?? null, origin?.requestId ?? null],
    ],
  );
}

/** The actor that a proven caller is. */
export const actorOf = (principal: Principal): Actor =>
  principal.kind === 'key' ? { kind: 'key', id: principal.keyId } : { kind: 'user', id: principal.userId };

export const originOf = ({ peer, requestId }: Pick<Call, 'peer' | 'requestId'>): Origin => ({
  ip: peer.address,
  userAgent: peer.userAgent && redactUserAgent(peer.userAgent),
  requestId,
});
