import type { CreateWebhookRequest, UpdateWebhookRequest, WebhookEndpoint, WebhookEndpointWithSecret } from '@tallygate/contract';
import { sql } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import type { WebhookSender } from '../adapters/webhooks/port.ts';
import { actorOf, type Origin, recordAudit } from '../audit/index.ts';
import type { Principal } from '../http/index.ts';
import { type Clock, rfc3339 } from '../kernel/clock.ts';
import { newId } from '../kernel/ids.ts';
import { invalidInput } from '../kernel/invalid-input.ts';
import { Keyset, mapPage, type Page, type PageQuery } from '../kernel/page.ts';
import { Problem } from '../kernel/problem.ts';
import { RecentMap } from '../kernel/recent-map.ts';
import type { SecretBox } from '../kernel/secret-box.ts';
import { firstOf, type Queryable, rowsOf, run } from '../kernel/statements.ts';
import { inTransaction } from '../kernel/transaction.ts';
import { endDeliveries } from './disable-endpoint.ts';
import { accountOf, type EndpointRow, findEndpoint, type Owner } from './find-endpoint.ts';
import { recordEvent } from './record-event.ts';
import { newWebhookSecret, openSecrets, sealSecrets } from './secrets.ts';
import { tables } from './tables.ts';

interface WebhooksDeps {
  readonly pool: Pool;
  readonly box: SecretBox;
  readonly sender: Pick<WebhookSender, 'refusalOf'>;
  readonly clock: Clock;
}

/** Every event of an account is sent to all of them. */
const MOST_ENDPOINTS = 20;
/** Nobody floods an address with tests by this gateway. */
const TEST_PAUSE_MS = 5_000;
const MOST_REMEMBERED = 10_000;
const ENDPOINTS = new Keyset({ name: 'webhooks', columns: { id: 'uuid' }, direction: 'desc' });

/** Where events are sent. Callers see the webhooks of their own account, and administrators those of the gateway. */
export class Webhooks {
  readonly #deps: WebhooksDeps;
  /** When each was tested last, on this gateway. */
  readonly #testedAt = new RecentMap<string, number>(MOST_REMEMBERED);

  constructor(deps: WebhooksDeps) {
    this.#deps = deps;
  }

  /** @throws Problem `forbidden` */
  async list(principal: Principal, { owner, ...query }: PageQuery & { readonly owner: Owner }): Promise<Page<WebhookEndpoint>> {
    const ours = tables
      .selectFrom('webhook_endpoints')
      .selectAll()
      .where('account_id', 'is not distinct from', accountOf(principal, owner));
    return mapPage(ENDPOINTS.page(await rowsOf(this.#deps.pool, ENDPOINTS.pageIn(ours, query)), query), (row) => this.#toWire(row));
  }

  /** @throws Problem `not_found` */
  async get(principal: Principal, webhookId: string): Promise<WebhookEndpoint> {
    return this.#toWire(await findEndpoint(this.#deps.pool, principal, webhookId));
  }

  /** @throws Problem `validation_failed`, `forbidden`; `conflict` beyond the most */
  create(principal: Principal, request: CreateWebhookRequest, origin: Origin): Promise<WebhookEndpointWithSecret> {
    const { owner, url, description, format, event_types } = request;
    const accountId = accountOf(principal, owner);
    this.#requireAllowed(url);
    return inTransaction(this.#deps.pool, async (db) => {
      await requireRoom(db, accountId);
      const [id, secret, now] = [newId(), newWebhookSecret(), new Date(this.#deps.clock.now())];
      const sealed = sealSecrets(this.#deps.box, id, { url, secret, previous_secret: null });
      const made = {
        id,
        account_id: accountId,
        sealed,
        description,
        format,
        event_types,
        busy_until: now,
        created_at: now,
        updated_at: now,
      };
      await run(db, tables.insertInto('webhook_endpoints').values(made));
      const changes = { host: new URL(url).host, description, format, event_types };
      await audit(db, principal, { accountId, id, action: 'webhook.created', changes, origin });
      return { ...this.#toWire(await findEndpoint(db, principal, id)), secret };
    });
  }

  /** @throws Problem `not_found`, `validation_failed` */
  update(principal: Principal, webhookId: string, request: UpdateWebhookRequest, origin: Origin): Promise<WebhookEndpoint> {
    const { url, enabled, ...figures } = request;
    if (url !== undefined) this.#requireAllowed(url);
    return inTransaction(this.#deps.pool, async (db) => {
      const before = await findEndpoint(db, principal, webhookId, 'locked');
      const now = new Date(this.#deps.clock.now());
      const secrets = openSecrets(this.#deps.box, before);
      const sealed = url === undefined ? before.sealed : sealSecrets(this.#deps.box, webhookId, { ...secrets, url });
      await run(
        db,
        tables
          .updateTable('webhook_endpoints')
          .set({ ...figures, sealed, updated_at: now })
          .where('id', '=', webhookId),
      );
      if (enabled === false && before.disabled_at === null) await endDeliveries(db, webhookId, { reason: 'by_user', now });
      if (enabled === true && before.disabled_at !== null) await enable(db, webhookId);
      const changes = { ...(url !== undefined && { host: new URL(url).host }), ...figures, ...(enabled !== undefined && { enabled }) };
      await audit(db, principal, { accountId: before.account_id, id: webhookId, action: 'webhook.updated', changes, origin });
      return this.#toWire(await findEndpoint(db, principal, webhookId));
    });
  }

  /** @throws Problem `not_found` */
  delete(principal: Principal, webhookId: string, origin: Origin): Promise<void> {
    return inTransaction(this.#deps.pool, async (db) => {
      const { account_id: accountId } = await findEndpoint(db, principal, webhookId, 'locked');
      await run(db, tables.deleteFrom('webhook_endpoints').where('id', '=', webhookId));
      await audit(db, principal, { accountId, id: webhookId, action: 'webhook.deleted', changes: {}, origin });
    });
  }

  /** The secret before signs as well for so long. @throws Problem `not_found` */
  rotateSecret(principal: Principal, webhookId: string, graceSeconds: number, origin: Origin): Promise<WebhookEndpointWithSecret> {
    return inTransaction(this.#deps.pool, async (db) => {
      const before = await findEndpoint(db, principal, webhookId, 'locked');
      const [now, secret] = [this.#deps.clock.now(), newWebhookSecret()];
      const { url, secret: previous } = openSecrets(this.#deps.box, before);
      const previous_secret = graceSeconds === 0 ? null : previous;
      const rotated = {
        sealed: sealSecrets(this.#deps.box, webhookId, { url, secret, previous_secret }),
        previous_secret_expires_at: graceSeconds === 0 ? null : new Date(now + graceSeconds * 1_000),
        updated_at: new Date(now),
      };
      await run(db, tables.updateTable('webhook_endpoints').set(rotated).where('id', '=', webhookId));
      const changes = { grace_seconds: graceSeconds };
      await audit(db, principal, { accountId: before.account_id, id: webhookId, action: 'webhook.secret_rotated', changes, origin });
      return { ...this.#toWire(await findEndpoint(db, principal, webhookId)), secret };
    });
  }

  /** @returns the id of the event that is sent. @throws Problem `not_found`; `conflict` for one that is disabled; `rate_limited` */
  test(principal: Principal, webhookId: string): Promise<string> {
    return inTransaction(this.#deps.pool, async (db) => {
      const { account_id: accountId, disabled_at } = await findEndpoint(db, principal, webhookId, 'locked');
      if (disabled_at !== null) throw new Problem('conflict', 'The webhook is disabled: enable it first.');
      this.#pauseBetweenTests(webhookId);
      return recordEvent(db, { accountId, type: 'webhook.test', data: { webhook_id: webhookId }, endpointId: webhookId });
    });
  }

  #pauseBetweenTests(webhookId: string): void {
    const now = this.#deps.clock.now();
    const waitMs = (this.#testedAt.get(webhookId) ?? 0) + TEST_PAUSE_MS - now;
    if (waitMs > 0)
      throw new Problem('rate_limited', 'A webhook is tested at most once in five seconds.', {
        retryAfterSeconds: Math.ceil(waitMs / 1_000),
      });
    this.#testedAt.set(webhookId, now);
  }

  #requireAllowed(url: string): void {
    const refusal = this.#deps.sender.refusalOf(new URL(url));
    if (refusal !== undefined) throw invalidInput([{ loc: ['body', 'url'], msg: refusal, type: 'address_refused' }]);
  }

  #toWire(row: EndpointRow): WebhookEndpoint {
    const { url } = openSecrets(this.#deps.box, row);
    const until = row.previous_secret_expires_at;
    return {
      ...{ webhook_id: row.id, owner: row.account_id === null ? 'gateway' : 'account', description: row.description, format: row.format },
      url: row.format === 'standard' ? url : new URL(url).origin,
      // Types that are gone are not shown; the database's list is of text.
      event_types: row.event_types as WebhookEndpoint['event_types'],
      status: row.disabled_at !== null ? 'disabled' : row.failing_since !== null ? 'failing' : 'enabled',
      disabled_reason: row.disabled_reason,
      failing_since: row.failing_since && rfc3339(row.failing_since),
      previous_secret_expires_at: until !== null && until.getTime() > this.#deps.clock.now() ? rfc3339(until) : null,
      created_at: rfc3339(row.created_at),
      updated_at: rfc3339(row.updated_at),
    };
  }
}

const enable = (db: PoolClient, id: string) =>
  run(
    db,
    tables.updateTable('webhook_endpoints').set({ disabled_at: null, disabled_reason: null, failing_since: null }).where('id', '=', id),
  );

async function requireRoom(db: Queryable, accountId: string | null): Promise<void> {
  await db.query("select pg_advisory_xact_lock(hashtextextended('webhooks:' || coalesce($1::text, ''), 0))", [accountId]);
  const counted = tables.selectFrom('webhook_endpoints').select(sql<number>`count(*)::int`.as('count'));
  const { count = 0 } = (await firstOf(db, counted.where('account_id', 'is not distinct from', accountId))) ?? {};
  if (count >= MOST_ENDPOINTS) throw new Problem('conflict', `There are at most ${MOST_ENDPOINTS} webhooks: delete one first.`);
}

interface Told {
  readonly accountId: string | null;
  readonly id: string;
  readonly action: `webhook.${string}`;
  readonly changes: Readonly<Record<string, unknown>>;
  readonly origin: Origin;
}

const audit = (db: Queryable, principal: Principal, { accountId, id, action, changes, origin }: Told): Promise<void> =>
  recordAudit(db, { accountId, actor: actorOf(principal), action, target: { kind: 'webhook', id }, changes, origin });
