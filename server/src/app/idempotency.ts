import { createHash, hash } from 'node:crypto';
import type { Compilable } from 'kysely';
import type { Pool } from 'pg';
import type { Clock } from '../kernel/clock.ts';
import { newId } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import { Problem } from '../kernel/problem.ts';
import { anyOf, run as change, firstOf } from '../kernel/statements.ts';
import { breather } from '../kernel/turn.ts';
import { type Answer, openAnswer, sealAnswer } from './idempotency-seal.ts';
import { tables } from './tables.ts';

const KEPT_MS = 24 * 3_600_000;
/** How long a run counts as running after its process was last heard of. */
const LEASE_MS = 60_000;
const RENEW_INTERVAL_MS = 20_000;
const SWEEP_INTERVAL_MS = 3_600_000;
const ATTEMPTS = 3;

/** A request that carries an `Idempotency-Key`. */
export interface IdempotentRequest {
  /** Whose key it is: one caller's keys never meet another's. An account id, or the name of an internal caller. */
  readonly scope: string;
  readonly key: string;
  readonly method: string;
  /** As requested, query included. */
  readonly path: string;
  readonly body: Buffer;
}

/** This caller does the work, and must end with exactly one of the two. Neither throws: the work is done either way. */
export interface IdempotentRun {
  readonly kind: 'run';
  /** Keeps the answer for repeats; answers that a repeat should not get (5xx, 401, 429) free the key instead. */
  complete(answer: Answer): Promise<void>;
  /** Frees the key: the next request with it does the work again. */
  abandon(): Promise<void>;
}

export interface IdempotentReplay {
  readonly kind: 'replay';
  readonly answer: Answer;
}

export interface Idempotency {
  /** @throws Problem `idempotency_conflict` (used for another request), `idempotency_in_progress` (the first is still running) */
  begin(request: IdempotentRequest): Promise<IdempotentRun | IdempotentReplay>;
  /** Deletes what is older than a day. */
  sweep(): Promise<void>;
  close(): void;
}

interface IdempotencyDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Idempotency over one table, for any number of instances. A run holds a lease that its process renews; when the process dies,
 * the same request may run again once the lease has ended.
 */
export function createIdempotency({ pool, clock, log }: IdempotencyDeps): Idempotency {
  const running = new Set<string>();
  const timers = [every(RENEW_INTERVAL_MS, renew), every(SWEEP_INTERVAL_MS, sweep)];

  async function begin(request: IdempotentRequest): Promise<IdempotentRun | IdempotentReplay> {
    const keyHash = hash('sha256', request.key, 'buffer');
    const requestHash = await hashOf(request);
    // A row can vanish between the two statements when its run is abandoned; then the key is free and the next turn takes it.
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const runId = newId();
      if (await take(pool, { scope: request.scope, keyHash, requestHash, runId }, clock.now()))
        return run({ pool, clock, log }, running, request, runId);
      const row = await firstOf(pool, rowOf({ scope: request.scope, keyHash, requestHash }));
      if (!row) continue;
      if (!row.is_same)
        throw new Problem('idempotency_conflict', 'This Idempotency-Key was used for a different request: use a fresh one.');
      if (row.answer) return { kind: 'replay', answer: openAnswer(row.answer, request) };
      break;
    }
    throw new Problem('idempotency_in_progress', 'The first request with this Idempotency-Key is still running: repeat in a second.', {
      retryAfterSeconds: 1,
    });
  }

  async function renew(): Promise<void> {
    if (running.size === 0) return;
    await change(
      pool,
      tables
        .updateTable('idempotency_keys')
        .set({ lease_expires_at: new Date(clock.now() + LEASE_MS) })
        .where('state', '=', 'running')
        .where('run_id', '=', anyOf([...running])),
    );
  }

  async function sweep(): Promise<void> {
    const now = new Date(clock.now());
    await change(pool, tables.deleteFrom('idempotency_keys').where('expires_at', '<=', now).where('lease_expires_at', '<=', now));
  }

  function every(intervalMs: number, work: () => Promise<void>): NodeJS.Timeout {
    const failed = (error: unknown) => log.warn({ err: error }, 'idempotency upkeep failed and will be tried again');
    return setInterval(() => void work().catch(failed), intervalMs).unref();
  }

  return { begin, sweep, close: () => timers.forEach(clearInterval) };
}

/** @param running the runs whose leases this process renews */
function run({ pool, log }: IdempotencyDeps, running: Set<string>, request: IdempotentRequest, runId: string): IdempotentRun {
  running.add(runId);
  const mine = { run_id: runId, state: 'running' } as const;
  const end = async (statement: Compilable): Promise<void> => {
    // Left to its lease where the database cannot be reached: what the caller is answered does not depend on it.
    await change(pool, statement).catch((error: unknown) => log.error({ err: error }, 'could not end an idempotent run'));
    running.delete(runId);
  };
  const abandon = () => end(tables.deleteFrom('idempotency_keys').where((eb) => eb.and(mine)));
  return {
    kind: 'run',
    abandon,
    complete: (answer) =>
      isKept(answer.status)
        ? end(
            tables
              .updateTable('idempotency_keys')
              .set({ state: 'done', answer: sealAnswer(answer, request) })
              .where((eb) => eb.and(mine)),
          )
        : abandon(),
  };
}

interface Contender {
  readonly scope: string;
  readonly keyHash: Buffer;
  readonly requestHash: Buffer;
  readonly runId: string;
}

/** One statement decides between any number of contenders. Over a dead run's lease only the same request may take the row. */
async function take(pool: Pool, { scope, keyHash, requestHash, runId }: Contender, now: number): Promise<boolean> {
  const { rowCount } = await pool.query(
    `insert into idempotency_keys as held (scope, key_hash, request_hash, run_id, state, lease_expires_at, created_at, expires_at)
     values ($1, $2, $3, $4, 'running', $5, $6, $7)
     on conflict (scope, key_hash) do update
       set request_hash = excluded.request_hash, run_id = excluded.run_id, state = 'running', answer = null,
           lease_expires_at = excluded.lease_expires_at, created_at = excluded.created_at, expires_at = excluded.expires_at
       where (held.state = 'running' and held.lease_expires_at <= excluded.created_at and held.request_hash = excluded.request_hash)
          or (held.expires_at <= excluded.created_at and held.lease_expires_at <= excluded.created_at)
     returning run_id`,
    [scope, keyHash, requestHash, runId, new Date(now + LEASE_MS), new Date(now), new Date(now + KEPT_MS)],
  );
  return rowCount === 1;
}

const rowOf = ({ scope, keyHash, requestHash }: Omit<Contender, 'runId'>) =>
  tables
    .selectFrom('idempotency_keys')
    .select((eb) => [eb('request_hash', '=', requestHash).as('is_same'), 'answer' as const])
    .where('scope', '=', scope)
    .where('key_hash', '=', keyHash);

/** A repeat of a failed, unauthenticated or rate-limited request has to have its own chance. */
const isKept = (status: number): boolean => status < 500 && status !== 401 && status !== 429;

/** A new line cannot be part of a method or a path, so no two requests share the text that is hashed. */
async function hashOf({ method, path, body }: IdempotentRequest): Promise<Buffer> {
  const hashing = createHash('sha256').update(`${method}\n${path}\n`);
  const rest = breather();
  for (let at = 0; at < body.length; at += PIECE_BYTES) {
    hashing.update(body.subarray(at, at + PIECE_BYTES));
    await rest();
  }
  return hashing.digest();
}

/** A body is hashed in pieces of so many bytes, and other work has its turn between them. */
const PIECE_BYTES = 1024 * 1024;
