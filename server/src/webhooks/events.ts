import { setTimeout as pause } from 'node:timers/promises';
import type { WebhookEvent, WebhookEventType } from '@tallygate/contract';
import type { Pool } from 'pg';
import type { Principal } from '../http/index.ts';
import { Keyset, mapPage, type Page, type PageQuery } from '../kernel/page.ts';
import { ifGiven, rowsOf } from '../kernel/statements.ts';
import { eventOf, MESSAGE_COLUMNS } from './event.ts';
import { accountOf, type Owner } from './find-endpoint.ts';
import { tables } from './tables.ts';

interface EventsDeps {
  readonly pool: Pool;
  /** Whoever waits is answered at once then. */
  readonly isClosing: () => boolean;
}

interface EventQuery extends PageQuery {
  readonly owner: Owner;
  readonly type?: WebhookEventType | undefined;
  readonly after_sequence?: number | undefined;
  readonly wait_seconds: number;
}

const NEWEST = new Keyset({ name: 'webhook-events', columns: { sequence: 'integer' }, direction: 'desc' });
const FOLLOWED = new Keyset({ name: 'webhook-events-followed', columns: { sequence: 'integer' }, direction: 'asc' });
/** Events get their place by a timer that looks every second: to look more often would find nothing more. */
const LOOK_MS = 1_000;

/**
 * The newest first; with `after_sequence` the oldest first from there on, and with `wait_seconds` not before there is one.
 * @throws Problem `forbidden`
 */
export async function listEvents(deps: EventsDeps, principal: Principal, query: EventQuery): Promise<Page<WebhookEvent>> {
  const accountId = accountOf(principal, query.owner);
  const waitUntil = performance.now() + (query.after_sequence === undefined ? 0 : query.wait_seconds * 1_000);
  for (;;) {
    const page = await read(deps.pool, accountId, query);
    const leftMs = waitUntil - performance.now();
    if (page.data.length > 0 || leftMs <= 0 || deps.isClosing()) return page;
    await pause(Math.min(leftMs, LOOK_MS));
  }
}

/** @param accountId null: of the gateway, and so of every account */
async function read(pool: Pool, accountId: string | null, { type, after_sequence, ...query }: EventQuery): Promise<Page<WebhookEvent>> {
  const wanted = tables
    .selectFrom('webhook_messages')
    .select(MESSAGE_COLUMNS)
    .where('sequence', 'is not', null)
    .where((eb) => ifGiven(accountId ?? undefined, (id) => eb('account_id', '=', id)))
    .where((eb) => ifGiven(type, (one) => eb('type', '=', one)))
    .where((eb) => ifGiven(after_sequence, (sequence) => eb('sequence', '>', BigInt(sequence))));
  const keyset = after_sequence === undefined ? NEWEST : FOLLOWED;
  return mapPage(keyset.page(await rowsOf(pool, keyset.pageIn(wanted, query)), query), eventOf);
}
