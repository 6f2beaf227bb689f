import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import type { DedicatedCapacity } from '../../access/identity/index.ts';
import { Problem } from '../../kernel/problem.ts';
import { firstOf, type Queryable } from '../../kernel/statements.ts';
import type { Exclusively } from './account-lock.ts';
import { tables } from './tables.ts';
import type { Trail } from './tell.ts';

/** Announced with the commit that changes what is reserved. */
export const CAPACITY_CHANNEL = 'tallygate_capacity';

/** Requests at the same time that are reserved for all accounts together. */
export async function reservedConcurrency(db: Queryable): Promise<number> {
  const row = await firstOf(
    db,
    tables.selectFrom('accounts').select(({ fn }) => sql<number>`coalesce(${fn.sum('reserved_concurrency')}, 0)::int`.as('reserved')),
  );
  return row?.reserved ?? 0;
}

interface Reservation {
  /** In place of what the account had; null ends the contract. */
  readonly reserve: DedicatedCapacity | null;
  /** What one gateway serves at the same time; null where it has no address for dedicated traffic. */
  readonly concurrency: number | null;
}

/** Capacity that is reserved for accounts by contract. */
export const createDedicatedCapacity = ({ exclusively }: { readonly exclusively: Exclusively }) => ({
  /** @throws Problem `not_found`, `conflict` */
  reserve: (accountId: string, reservation: Reservation, trail: Trail): Promise<void> =>
    exclusively(accountId, async (unit) => {
      // One after another, in any process: no two accounts are promised the same capacity.
      await unit.query("select pg_advisory_xact_lock(hashtextextended('dedicated-capacity', 0))");
      const before = await firstOf(unit, RESERVED.where('id', '=', accountId));
      if (!before) throw new Problem('not_found', 'There is no such account: GET /v1/admin/accounts lists them.');
      const had = capacityOf(before);
      const { reserve } = reservation;
      if (isDeepStrictEqual(had, reserve)) return;
      if (reserve) requireRoom(reservation, (await reservedConcurrency(unit)) - (had?.concurrency ?? 0));
      await unit.query(
        'update accounts set reserved_requests_per_minute = $2, reserved_tokens_per_minute = $3, reserved_concurrency = $4 where id = $1',
        [accountId, reserve?.requestsPerMinute ?? null, reserve?.tokensPerMinute ?? null, reserve?.concurrency ?? null],
      );
      const changes = { dedicated_capacity: { from: had, to: reserve } };
      await trail(unit, { action: 'capacity.reserved', target: { kind: 'account', id: accountId }, changes });
    }),
});

function requireRoom({ reserve, concurrency }: Reservation, others: number): void {
  if (concurrency === null) throw new Problem('conflict', 'This gateway has no address for dedicated traffic: set ENTERPRISE_BASE_URL.');
  const left = Math.max(0, concurrency - LEAST_SHARED - others);
  if (reserve && reserve.concurrency > left)
    throw new Problem(
      'conflict',
      `A gateway serves ${concurrency} requests at the same time (GATEWAY_CONCURRENCY), and ${left} of them can be reserved.`,
      { param: 'dedicated_capacity.concurrency' },
    );
}

/** Contracts leave so much to everybody else. */
const LEAST_SHARED = 1;

const RESERVED = tables
  .selectFrom('accounts')
  .select(['reserved_requests_per_minute', 'reserved_tokens_per_minute', 'reserved_concurrency']);

interface ReservedColumns {
  readonly reserved_requests_per_minute: number | null;
  readonly reserved_tokens_per_minute: number | null;
  readonly reserved_concurrency: number | null;
}

/** All three figures or none, as the database has it. */
export function capacityOf(row: ReservedColumns): DedicatedCapacity | null {
  const { reserved_requests_per_minute: requestsPerMinute, reserved_tokens_per_minute: tokensPerMinute } = row;
  const { reserved_concurrency: concurrency } = row;
  if (requestsPerMinute === null || tokensPerMinute === null || concurrency === null) return null;
  return { requestsPerMinute, tokensPerMinute, concurrency };
}
