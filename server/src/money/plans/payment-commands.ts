import { hash } from 'node:crypto';
import { type Clock, rfc3339 } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { firstOf } from '../../kernel/statements.ts';
import type { Unit } from './account-lock.ts';
import { tables } from './tables.ts';
import type { Author } from './tell.ts';

/** Something ordered of the payment provider: on record before the provider is asked, so that a lost answer or a death loses nothing. */
export interface PaymentCommand<Details> {
  readonly command_id: string;
  readonly account_id: string;
  readonly subject: string;
  readonly details: Details;
  readonly state: 'begun' | 'done' | 'refused';
  /** Why it came to nothing. */
  readonly refusal: string | null;
}

export interface NewCommand<Details> {
  readonly kind: 'refund' | 'upgrade';
  readonly accountId: string;
  readonly subject: string;
  readonly details: Details;
  readonly requestHash: Buffer | undefined;
}

/** What makes two requests one: the caller, their `Idempotency-Key`, and what they ask for. @returns undefined without a key */
export const requestHashOf = ({ actor }: Author, key: string | undefined, ...wish: readonly (string | null)[]): Buffer | undefined =>
  key === undefined ? undefined : hash('sha256', JSON.stringify([actor.kind, actor.id, key, ...wish]), 'buffer');

export const COMMANDS = tables
  .selectFrom('payment_commands')
  .select(['command_id', 'account_id', 'subject', 'details', 'state', 'refusal', 'request_hash']);

/** @typeParam Details what is written down with commands of its kind */
export const detailed = <Details>(row: PaymentCommand<unknown>): PaymentCommand<Details> => ({ ...row, details: row.details as Details });

export async function commandOfRequest<Details>(unit: Unit, requestHash: Buffer | undefined): Promise<PaymentCommand<Details> | undefined> {
  if (requestHash === undefined) return undefined;
  const known = await firstOf(unit, COMMANDS.where('request_hash', '=', requestHash));
  return known && detailed(known);
}

export async function beginCommand<Details>(
  unit: Unit,
  { accountId, details, kind, requestHash, subject }: NewCommand<Details>,
  clock: Clock,
): Promise<PaymentCommand<Details>> {
  const commandId = newId();
  await unit.query(
    `insert into payment_commands (command_id, kind, account_id, subject, details, request_hash, state, begun_at)
     values ($1, $2, $3, $4, $5, $6, 'begun', $7)`,
    [commandId, kind, accountId, subject, JSON.stringify(details), requestHash ?? null, rfc3339(clock.now())],
  );
  return { command_id: commandId, account_id: accountId, subject, details, state: 'begun', refusal: null };
}

/** @param refusal why it came to nothing; left out where it was done. @returns false when it had ended before */
export async function endCommand(unit: Unit, commandId: string, clock: Clock, refusal?: string): Promise<boolean> {
  const { rowCount } = await unit.query(
    "update payment_commands set state = $2, refusal = $3, ended_at = $4 where command_id = $1 and state = 'begun'",
    [commandId, refusal === undefined ? 'done' : 'refused', refusal ?? null, rfc3339(clock.now())],
  );
  return rowCount === 1;
}
