import type { WebhookDelivery } from '@tallygate/contract';
import type { Pool } from 'pg';
import * as z from 'zod';
import { actorOf, type Origin, recordAudit } from '../audit/index.ts';
import type { Principal } from '../http/index.ts';
import { type Clock, rfc3339 } from '../kernel/clock.ts';
import { Keyset, mapPage, type Page, type PageQuery } from '../kernel/page.ts';
import { Problem } from '../kernel/problem.ts';
import { checkedRows, firstOf, ifGiven, type Queryable, rowsOf, run } from '../kernel/statements.ts';
import { inTransaction } from '../kernel/transaction.ts';
import { eventOf, type MessageRow } from './event.ts';
import { type EndpointRow, findEndpoint } from './find-endpoint.ts';
import { queueDeliveries } from './place-messages.ts';
import { tables } from './tables.ts';

const DELIVERIES = new Keyset({ name: 'deliveries', columns: { delivery_id: 'uuid' }, direction: 'desc' });

interface DeliveriesDeps {
  readonly pool: Pool;
  readonly clock: Clock;
}

/** What became of events at a webhook, and sending them again. */
export class Deliveries {
  readonly #deps: DeliveriesDeps;

  constructor(deps: DeliveriesDeps) {
    this.#deps = deps;
  }

  /** @throws Problem `not_found` */
  async list(
    principal: Principal,
    webhookId: string,
    { status, ...query }: PageQuery & { readonly status?: WebhookDelivery['status'] | undefined },
  ): Promise<Page<WebhookDelivery>> {
    await findEndpoint(this.#deps.pool, principal, webhookId);
    const wanted = tables
      .selectFrom(shown(webhookId).as('shown'))
      .selectAll()
      .where((eb) => ifGiven(status, (one) => eb('status', '=', one)));
    return mapPage(DELIVERIES.page(await rowsOf(this.#deps.pool, DELIVERIES.pageIn(wanted, query)), query), toWire);
  }

  /** @throws Problem `not_found`; `conflict` for a webhook that is disabled */
  replayOne(principal: Principal, webhookId: string, deliveryId: string, origin: Origin): Promise<WebhookDelivery> {
    return inTransaction(this.#deps.pool, async (db) => {
      const endpoint = await requireEnabled(db, principal, webhookId);
      const now = new Date(this.#deps.clock.now());
      const queued = { status: 'pending', failures: 0, queued_at: now, due_at: now } as const;
      const one = tables.updateTable('webhook_deliveries').set(queued).where('id', '=', deliveryId).where('endpoint_id', '=', webhookId);
      if ((await run(db, one)) === 0) throw noDelivery();
      const due = tables.updateTable('webhook_endpoints').set({ due_at: now });
      await run(
        db,
        due.where('id', '=', webhookId).where((eb) => eb.or([eb('due_at', 'is', null), eb('due_at', '>', now)])),
      );
      await audit(db, principal, endpoint, { delivery_id: deliveryId }, origin);
      const found = await firstOf(db, shown(webhookId).where('d.id', '=', deliveryId));
      if (!found) throw noDelivery();
      return toWire(found);
    });
  }

  /**
   * Everything since then that failed, and what happened while the webhook was disabled.
   * @returns how many are sent again
   * @throws Problem `not_found`; `conflict` for a webhook that is disabled
   */
  replaySince(principal: Principal, webhookId: string, since: string, origin: Origin): Promise<number> {
    return inTransaction(this.#deps.pool, async (db) => {
      const endpoint = await requireEnabled(db, principal, webhookId);
      const missed = await checkedRows(db, Missed, MISSED, [webhookId, since]);
      const wanted = missed.map(({ id }) => ({ endpoint_id: webhookId, message_id: id }));
      const replayed = await queueDeliveries(db, wanted, new Date(this.#deps.clock.now()));
      await audit(db, principal, endpoint, { since, replayed }, origin);
      return replayed;
    });
  }
}

const Missed = z.object({ id: z.string() });
/** What is placed and neither delivered nor pending; of its time, since an event from before the webhook is no failure of it. */
const MISSED = `select m.id from webhook_messages m
    join webhook_endpoints e on e.id = $1 and (m.account_id = e.account_id or e.account_id is null) and m.created_at >= e.created_at
    left join webhook_deliveries d on d.message_id = m.id and d.endpoint_id = e.id
  where m.created_at >= $2::timestamptz and m.sequence is not null and m.endpoint_id is null
    and (d.status = 'failed' or d.id is null and (e.event_types is null or m.type = any(e.event_types)))
  order by m.sequence`;

async function requireEnabled(db: Queryable, principal: Principal, webhookId: string): Promise<EndpointRow> {
  const endpoint = await findEndpoint(db, principal, webhookId, 'locked');
  if (endpoint.disabled_at !== null) throw new Problem('conflict', 'The webhook is disabled: enable it first.');
  return endpoint;
}

const noDelivery = (): Problem => new Problem('not_found', 'There is no such delivery of this webhook: its deliveries list them.');

const audit = (db: Queryable, principal: Principal, { id, account_id: accountId }: EndpointRow, changes: object, origin: Origin) =>
  recordAudit(db, {
    ...{ accountId, actor: actorOf(principal), action: 'webhook.replayed', target: { kind: 'webhook', id } },
    ...{ changes: { ...changes }, origin },
  });

const shown = (endpointId: string) =>
  tables
    .selectFrom('webhook_deliveries as d')
    .innerJoin('webhook_messages as m', 'm.id', 'd.message_id')
    .select(['d.id as delivery_id', 'd.endpoint_id', 'd.status', 'd.due_at', 'd.attempts', 'd.created_at as queued_first_at'])
    .select(['m.id', 'm.account_id', 'm.type', 'm.data', 'm.created_at', 'm.sequence'])
    .where('d.endpoint_id', '=', endpointId);

type Shown = MessageRow &
  Pick<WebhookDelivery, 'delivery_id' | 'status' | 'attempts'> & {
    readonly endpoint_id: string;
    readonly due_at: Date;
    readonly queued_first_at: Date;
  };

const toWire = ({ delivery_id, endpoint_id, status, due_at, attempts, queued_first_at, ...message }: Shown): WebhookDelivery => ({
  ...{ delivery_id, webhook_id: endpoint_id, event: eventOf(message), status, attempts },
  next_attempt_at: status === 'pending' ? rfc3339(due_at) : null,
  created_at: rfc3339(queued_first_at),
});
