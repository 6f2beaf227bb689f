import { hash, randomBytes } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Origin } from '../../../audit/index.ts';
import { newId } from '../../../kernel/ids.ts';
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
  /** As the database writes a time. */
  readonly createdAt: string;
  readonly expiresAt: string;
}

/** What a program hears when it asks for its session. */
export type Standing =
  | { readonly is: 'unknown' }
  | { readonly is: 'denied' }
  | { readonly is: 'approved'; readonly userId: string }
  | { readonly is: 'pending'; readonly isTooSoon: boolean; readonly intervalSeconds: number };

const COLUMNS = `id, client_name as "clientName", ip_address as "ipAddress", user_agent as "userAgent", created_at as "createdAt", expires_at as "expiresAt"`;

export async function openDeviceLogin(unit: EntityManager, clientName: string, { ip, userAgent }: Origin, now: Date): Promise<Codes> {
  const deviceCode = `tgd_${randomBytes(32).toString('base64url')}`;
  const expiresAt = new Date(now.getTime() + LIFETIME_SECONDS * 1000);
  for (;;) {
    const userCode = newUserCode();
    const inserted = await unit.execute<object[]>(
      `insert into device_logins (id, device_code_hash, user_code_hash, client_name, ip_address, user_agent, created_at, expires_at, interval_seconds)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (user_code_hash) do nothing returning id`,
      [
        ...[newId(), deviceCodeHash(deviceCode), userCodeHash(userCode), clientName, ip, userAgent?.slice(0, MAX_USER_AGENT) ?? null],
        ...[now, expiresAt, FIRST_INTERVAL_SECONDS],
      ],
    );
    // Of 25 billion codes another program may have just this one.
    if (inserted.length > 0) return { deviceCode, userCode };
  }
}

/** Counts the question, and slows down whoever asks too soon. */
export async function askedFor(unit: EntityManager, deviceCode: string, now: Date): Promise<Standing> {
  if (!WELL_FORMED.test(deviceCode)) return { is: 'unknown' };
  const [row] = await unit.execute<{ decision: string | null; user_id: string | null; too_soon: boolean; interval_seconds: number }[]>(
    `with before as (
       select id, decision is null and coalesce(polled_at > ?::timestamptz - (interval_seconds - ?) * interval '1 second', false) as too_soon
       from device_logins where device_code_hash = ? and expires_at > ? for update
     )
     update device_logins as d set polled_at = ?, interval_seconds = d.interval_seconds + case when before.too_soon then ? else 0 end
     from before where d.id = before.id returning d.decision, d.user_id, d.interval_seconds, before.too_soon`,
    [now, TOLERANCE_SECONDS, deviceCodeHash(deviceCode), now, now, SLOWER_SECONDS],
  );
  if (!row) return { is: 'unknown' };
  if (row.decision === 'denied') return { is: 'denied' };
  if (row.user_id !== null) return { is: 'approved', userId: row.user_id };
  return { is: 'pending', isTooSoon: row.too_soon, intervalSeconds: row.interval_seconds };
}

/** Ends an approved login with the session that it was for; undefined when another request was faster, or the approval was withdrawn. */
export async function spendApproval(unit: EntityManager, deviceCode: string, userId: string, now: Date): Promise<string | undefined> {
  const [spent] = await unit.execute<{ client_name: string }[]>(
    `delete from device_logins where device_code_hash = ? and user_id = ? and decision = 'approved' and expires_at > ? returning client_name`,
    [deviceCodeHash(deviceCode), userId, now],
  );
  return spent?.client_name;
}

export async function pendingWith(unit: EntityManager, userCode: string, now: Date): Promise<Pending | undefined> {
  const rows = await unit.execute<Pending[]>(
    `select ${COLUMNS} from device_logins where user_code_hash = ? and decision is null and expires_at > ?`,
    [userCodeHash(userCode), now],
  );
  return rows[0];
}

interface Decision {
  readonly userCode: string;
  readonly userId: string;
  readonly decision: 'approved' | 'denied';
  readonly now: Date;
}

/** The condition decides, not a look before: of two at once one counts. */
export async function decide(unit: EntityManager, { userCode, userId, decision, now }: Decision): Promise<Pending | undefined> {
  const rows = await unit.execute<Pending[]>(
    `update device_logins set decision = ?, user_id = ?, decided_at = ?
     where user_code_hash = ? and decision is null and expires_at > ? returning ${COLUMNS}`,
    [decision, userId, now, userCodeHash(userCode), now],
  );
  return rows[0];
}

export const dropApprovals = (unit: EntityManager, userId: string): Promise<unknown> =>
  unit.execute('delete from device_logins where user_id = ?', [userId]);
