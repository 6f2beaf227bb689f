import type { WebhookEventData, WebhookEventType } from '@tallygate/contract';
import { newId } from '../kernel/ids.ts';
import { asJson, type Queryable, run } from '../kernel/statements.ts';
import { tables } from './tables.ts';

interface Told<Type extends WebhookEventType> {
  /** Whose it is; null for what concerns the whole gateway. */
  readonly accountId: string | null;
  readonly type: Type;
  readonly data: WebhookEventData<Type>;
  /** Of two events with one key only the first is told: `budget:<key>:2026-11:80`. */
  readonly dedupeKey?: string;
  /** Only for this endpoint; left out: for all that want its type. */
  readonly endpointId?: string;
}

/**
 * Tells webhooks that something happened, in the transaction in which it does: both are committed or neither. Whose webhook gets it is decided
 * behind the commit, by a timer.
 * @returns the event's id
 */
export async function recordEvent<Type extends WebhookEventType>(
  db: Queryable,
  { accountId, type, data, dedupeKey, endpointId }: Told<Type>,
): Promise<string> {
  const id = newId();
  const event = { id, account_id: accountId, endpoint_id: endpointId ?? null, type, data: asJson<unknown>(data) };
  await run(
    db,
    tables
      .insertInto('webhook_messages')
      .values({ ...event, dedupe_key: dedupeKey ?? null, sequence: null })
      .onConflict((conflict) => conflict.column('dedupe_key').doNothing()),
  );
  return id;
}
