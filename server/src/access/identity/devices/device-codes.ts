import { hash, randomBytes } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import * as z from 'zod';
import type { Origin } from '../../../audit/index.ts';
import { newId } from '../../../kernel/ids.ts';
import { checkedRow, firstOf, inUnit, run } from '../../../kernel/statements.ts';
import { tables } from '../tables.ts';
import { newUserCode, userCodeHash } from './user-code.ts';

export const LIFETIME_SECONDS = 600;
export const FIRST_INTERVAL_SECONDS = 5;
/** What a question too soon adds (RFC 8628, 3.5). */
const SLOWER_SECONDS = 5;
/** Networks and timers: whoever waits the interval must not be told to slow down. */
const TOLERANCE_SECONDS = 1;
const MAX_USER_AGENT = 300;
const WELL_FORMED = /^tgd_[A-Za-z0-9_-]{43}$/;

const deviceCodeHash = (code: string): Buffer => hash('sha256', code, 'buffer');

export interface Codes {
  /** `tgd_` and 256 random bits; it is stored as a hash. */
  readonly deviceCode: string;
  readonly userCode: string;
}

/** A login that nobody has decided on. */
export interface Pending {
  readonly id: string;
  readonly clientName: string;
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** What a program hears when it asks for its session. */
export type Standing =
  | { readonly is: 'unknown' }
  | { readonly is: 'denied' }
  | { readonly is: 'approved'; readonly userId: string }
  | { readonly is: 'pending'; readonly isTooSoon: boolean; readonly intervalSeconds: number };

const COLUMNS = [
  ...(['id', 'client_name as clientName', 'ip_address as ipAddress', 'user_agent as userAgent'] as const),
  ...(['created_at as createdAt', 'expires_at as expiresAt'] as const),
] as const;

export async function openDeviceLogin(unit: EntityManager, clientName: string, { ip, userAgent }: Origin, now: Date): Promise<Codes> {
  const deviceCode = `tgd_${randomBytes(32).toString('base64url')}`;
  const expiresAt = new Date(now.getTime() + LIFETIME_SECONDS * 1000);
  for (;;) {
    const userCode = newUserCode();
    const inserted = await run(
      inUnit(unit),
      tables
        .insertInto('device_logins')
        .values({
          ...{ id: newId(), device_code_hash: deviceCodeHash(deviceCode), user_code_hash: userCodeHash(userCode), client_name: clientName },
          ...{ ip_address: ip, user_agent: userAgent?.slice(0, MAX_USER_AGENT) ?? null },
          ...{ created_at: now, expires_at: expiresAt, interval_seconds: FIRST_INTERVAL_SECONDS },
        })
        .onConflict((conflict) => conflict.column('user_code_hash').doNothing()),
    );
    // Of 25 billion codes another program may have just this one.
    if (inserted > 0) return { deviceCode, userCode };
  }
}

const AskedRow = z.object({
  decision: z.string().nullable(),
  user_id: z.string().nullable(),
  too_soon: z.boolean(),
  interval_seconds: z.number(),
});

/** Counts the question, and slows down whoever asks too soon. */
export async function askedFor(unit: EntityManager, deviceCode: string, now: Date): Promise<Standing> {
  if (!WELL_FORMED.test(deviceCode)) return { is: 'unknown' };
  const row = await checkedRow(
    inUnit(unit),
    AskedRow,
    `with before as (
       select id, decision is null and coalesce(polled_at > $1::timestamptz - (interval_seconds - $2) * interval '1 second', false) as too_soon
       from device_logins where device_code_hash = $3 and expires_at > $1 for update
     )
     update device_logins as d set polled_at = $1, interval_seconds = d.interval_seconds + case when before.too_soon then $4::int else 0 end
     from before where d.id = before.id returning d.decision, d.user_id, d.interval_seconds, before.too_soon`,
    [now, TOLERANCE_SECONDS, deviceCodeHash(deviceCode), SLOWER_SECONDS],
  );
  if (!row) return { is: 'unknown' };
  if (row.decision === 'denied') return { is: 'denied' };
  if (row.user_id !== null) return { is: 'approved', userId: row.user_id };
  return { is: 'pending', isTooSoon: row.too_soon, intervalSeconds: row.interval_seconds };
}

/** Ends an approved login with the session that it was for; undefined when another request was faster, or the approval was withdrawn. */
export async function spendApproval(unit: EntityManager, deviceCode: string, userId: string, now: Date): Promise<string | undefined> {
  const spent = await firstOf(
    inUnit(unit),
    tables
      .deleteFrom('device_logins')
      .where('device_code_hash', '=', deviceCodeHash(deviceCode))
      .where('user_id', '=', userId)
      .where('decision', '=', 'approved')
      .where('expires_at', '>', now)
      .returning('client_name'),
  );
  return spent?.client_name;
}

export async function pendingWith(unit: EntityManager, userCode: string, now: Date): Promise<Pending | undefined> {
  return firstOf(
    inUnit(unit),
    tables
      .selectFrom('device_logins')
      .select(COLUMNS)
      .where('user_code_hash', '=', userCodeHash(userCode))
      .where('decision', 'is', null)
      .where('expires_at', '>', now),
  );
}

interface Decision {
  readonly userCode: string;
  readonly userId: string;
  readonly decision: 'approved' | 'denied';
  readonly now: Date;
}

/** The condition decides, not a look before: of two at once one counts. */
export async function decide(unit: EntityManager, { userCode, userId, decision, now }: Decision): Promise<Pending | undefined> {
  return firstOf(
    inUnit(unit),
    tables
      .updateTable('device_logins')
      .set({ decision, user_id: userId, decided_at: now })
      .where('user_code_hash', '=', userCodeHash(userCode))
      .where('decision', 'is', null)
      .where('expires_at', '>', now)
      .returning(COLUMNS),
  );
}

export const dropApprovals = (unit: EntityManager, userId: string): Promise<unknown> =>
  inUnit(unit).query('delete from device_logins where user_id = $1', [userId]);
