import type { ClientRequestCreateRequest, ClientRequestQuery, MarketingClientRequestUpdateRequest } from '@tallygate/contract';
import { type SqlBool, sql } from 'kysely';
import type { Pool } from 'pg';
import { formLimits, type Identity } from '../../access/identity/index.ts';
import { type Actor, actorOf, type Origin, recordAudit } from '../../audit/index.ts';
import type { Principal } from '../../http/index.ts';
import { type Clock, rfc3339 } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { invalidInput } from '../../kernel/invalid-input.ts';
import { Keyset, type Page } from '../../kernel/page.ts';
import { Problem } from '../../kernel/problem.ts';
import { asJson, firstOf, ifGiven, type Queryable, rowsOf, run } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { queueMail } from '../../mail/index.ts';
import { claimConsent, upsertContact } from '../people/index.ts';
import { type ClientRequest, moved } from './client-request.ts';
import { tables } from './tables.ts';

/** Each is two mails or more: one address has few reasons to send many. */
const FORM = { kind: 'client-request', freePerSubject: 3, freePerAddress: 20 };

/** A change or a note. */
export interface Entry {
  readonly entry_id: string;
  readonly actor_kind: 'user' | 'key' | 'management_key';
  readonly actor_id: string | null;
  readonly changes: Readonly<Record<string, unknown>>;
  readonly note: string | null;
  readonly created_at: string;
}

/** A request with what was done about it, the newest first. */
export type KeptRequest = ClientRequest & { readonly entries: readonly Entry[] };

const REQUESTS = new Keyset({ name: 'client_requests', columns: { 'r.created_at': 'time', 'r.request_id': 'uuid' }, direction: 'desc' });
const KEPT = tables
  .selectFrom('client_requests as r')
  .selectAll('r')
  .select((eb) =>
    eb
      .selectFrom('client_request_entries as e')
      .whereRef('e.request_id', '=', 'r.request_id')
      .select(sql<readonly Entry[]>`coalesce(jsonb_agg(e order by e.created_at desc, e.entry_id desc), '[]')`.as('entries'))
      .$asScalar()
      .$notNull()
      .as('entries'),
  );

interface ClientRequestsDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly throttle: Identity['throttle'];
}

/** What clients ask of the team, from the public form on. */
export function createClientRequests({ pool, clock, throttle }: ClientRequestsDeps) {
  return {
    /** The request, the person behind it and both mails commit together. @throws Problem `rate_limited` */
    async receive(input: ClientRequestCreateRequest, { ip }: Origin): Promise<ClientRequest> {
      await throttle.admit(formLimits({ ...FORM, subject: input.email.toLowerCase(), address: ip }));
      return inTransaction(pool, (client) => writeRequest(client, input, new Date(clock.now())));
    },

    /** The newest first. */
    async list({ status, type, ...query }: ClientRequestQuery): Promise<Page<KeptRequest>> {
      const wanted = KEPT.where(() => ifGiven(status, (of) => sql<SqlBool>`r.status = ${of}`)).where(() =>
        ifGiven(type, (of) => sql<SqlBool>`r.type = ${of}`),
      );
      return REQUESTS.page(await rowsOf(pool, REQUESTS.pageIn(wanted, query)), query);
    },

    /** @throws Problem `not_found`; `conflict` for a step that makes no sense; `validation_failed` for an owner who is not of the team */
    update: (
      { principal, origin }: { principal: Principal; origin: Origin },
      requestId: string,
      input: MarketingClientRequestUpdateRequest,
    ): Promise<KeptRequest> =>
      inTransaction(pool, async (client) => {
        const before = await firstOf(
          client,
          tables.selectFrom('client_requests').selectAll().where('request_id', '=', requestId).forUpdate(),
        );
        if (!before) throw new Problem('not_found', 'There is no such request.');
        const now = new Date(clock.now());
        const after = moved(before, input, now);
        if (after.owner !== null && after.owner !== before.owner) await requireMember(client, after.owner);
        const changes = changesOf(before, after);
        const actor = actorOf(principal);
        if (Object.keys(changes).length > 0) {
          const { type, status, owner, closed_at } = after;
          const set = tables.updateTable('client_requests').set({ type, status, owner, closed_at, updated_at: now });
          await run(client, set.where('request_id', '=', requestId));
          await recordAudit(client, {
            ...{ accountId: principal.accountId, actor, origin, changes, action: 'client_request.updated' },
            target: { kind: 'client_request', id: requestId },
          });
        }
        if (Object.keys(changes).length > 0 || input.note !== undefined)
          await writeEntry(client, { requestId, actor, changes, note: input.note, now });
        const kept = await firstOf(client, KEPT.where('r.request_id', '=', requestId));
        if (!kept) throw new Error(`The request ${requestId} does not exist`);
        return kept;
      }),
  };
}

export type ClientRequests = ReturnType<typeof createClientRequests>;

async function writeRequest(db: Queryable, input: ClientRequestCreateRequest, now: Date): Promise<ClientRequest> {
  const { company = null, client_type = null, marketing_consent: hasConsented, ...rest } = input;
  const made: ClientRequest = {
    ...{ request_id: newId(), ...rest, company, client_type },
    ...{ status: 'new', owner: null, created_at: now, updated_at: now, closed_at: null },
  };
  await run(db, tables.insertInto('client_requests').values(made));
  const { email, name, type } = made;
  await upsertContact(db, { email, name, company, clientType: client_type, source: 'client_request', at: now });
  if (hasConsented) await claimConsent(db, { email, source: 'client_request', at: now });
  const team = await rowsOf(db, TEAM);
  await queueMail(db, { to: email, template: 'client-request-received', data: { request_id: made.request_id, type } });
  for (const member of team) await queueMail(db, { to: member.email, template: 'client-request-notice', data: noticeOf(made) });
  return made;
}

/** The users with that role; the administrators if there are none. */
const TEAM = tables
  .selectFrom('users')
  .select('email')
  .where('closed_at', 'is', null)
  .where('role', '=', (eb) =>
    eb
      .case()
      .when(eb.exists(eb.selectFrom('users').where('role', '=', 'marketing').where('closed_at', 'is', null)))
      .then(sql<'marketing' | 'admin'>`'marketing'`)
      .else(sql<'marketing' | 'admin'>`'admin'`)
      .end(),
  );

/** The mail to the team. The confirmation has none of this text: a stranger must not be able to send their own text to others through us. */
const noticeOf = ({ request_id, type, name, email, company, message, created_at }: ClientRequest) => ({
  ...{ request_id, type, name, email, company, message },
  received_at: rfc3339(created_at),
});

interface NewEntry {
  readonly requestId: string;
  readonly actor: Actor;
  readonly changes: Readonly<Record<string, unknown>>;
  readonly note: string | undefined;
  readonly now: Date;
}

const writeEntry = (db: Queryable, { requestId, actor, changes, note, now }: NewEntry): Promise<unknown> =>
  run(
    db,
    tables.insertInto('client_request_entries').values({
      ...{ entry_id: newId(), request_id: requestId, actor_kind: actor.kind, actor_id: actor.id },
      ...{ changes: asJson(changes), note: note ?? null, created_at: now },
    }),
  );

async function requireMember(db: Queryable, userId: string): Promise<void> {
  const members = tables.selectFrom('users').select('id').where('closed_at', 'is', null).where('role', 'in', ['marketing', 'admin']);
  if (!(await firstOf(db, members.where('id', '=', userId))))
    throw invalidInput([{ loc: ['body', 'owner'], msg: 'must be a user of the role marketing or admin', type: 'unknown_owner' }]);
}

const changesOf = (before: ClientRequest, after: ClientRequest): Record<string, unknown> =>
  Object.fromEntries(
    (['status', 'type', 'owner'] as const).flatMap((field) =>
      before[field] === after[field] ? [] : [[field, { from: before[field], to: after[field] }]],
    ),
  );
