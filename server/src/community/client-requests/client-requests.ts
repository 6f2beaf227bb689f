import type { ClientRequestCreateRequest, ClientRequestQuery, MarketingClientRequestUpdateRequest } from '@tallygate/contract';
import type { Pool } from 'pg';
import { formLimits, type Identity } from '../../access/identity/index.ts';
import { type Actor, actorOf, type Origin, recordAudit } from '../../audit/index.ts';
import type { Principal } from '../../http/index.ts';
import { type Clock, rfc3339 } from '../../kernel/clock.ts';
import type { Execute } from '../../kernel/execute.ts';
import { newId } from '../../kernel/ids.ts';
import { invalidInput } from '../../kernel/invalid-input.ts';
import { type Keyed, Keyset, type Page } from '../../kernel/page.ts';
import { Problem } from '../../kernel/problem.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { queueMail } from '../../mail/index.ts';
import { claimConsent, upsertContact } from '../people/index.ts';
import { type ClientRequest, moved } from './client-request.ts';

/** Each is two mails or more: one address has few reasons to send many. */
const FORM = { kind: 'client-request', freePerSubject: 3, freePerAddress: 20 };

/** A change or a note. */
export interface Entry {
  readonly entry_id: string;
  readonly actor_kind: 'user' | 'key';
  readonly actor_id: string | null;
  readonly changes: Readonly<Record<string, unknown>>;
  readonly note: string | null;
  readonly created_at: string;
}

/** A request with what was done about it, the newest first. */
export type KeptRequest = ClientRequest & { readonly entries: readonly Entry[] };

const KEPT = `select r.*, (select coalesce(jsonb_agg(e order by e.created_at desc, e.entry_id desc), '[]') from client_request_entries e
    where e.request_id = r.request_id) as entries`;
const FROM = 'from client_requests r';
const REQUESTS = new Keyset({ name: 'client_requests', columns: { 'r.created_at': 'time', 'r.request_id': 'uuid' }, direction: 'desc' });

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
      const now = new Date(clock.now());
      const { company = null, client_type = null, marketing_consent: hasConsented, ...rest } = input;
      const made: ClientRequest = {
        ...{ request_id: newId(), ...rest, company, client_type },
        ...{ status: 'new', owner: null, created_at: now, updated_at: now, closed_at: null },
      };
      await inTransaction(pool, async (client) => {
        const execute: Execute = (sql, values) => client.query(sql, values);
        await execute(
          `insert into client_requests (request_id, type, status, name, email, company, client_type, message, created_at, updated_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)`,
          [made.request_id, made.type, made.status, made.name, made.email, company, client_type, made.message, now],
        );
        const { email, name, type } = made;
        await upsertContact(execute, { email, name, company, clientType: client_type, source: 'client_request', at: now });
        if (hasConsented) await claimConsent(execute, { email, source: 'client_request', at: now });
        const { rows } = await client.query<{ email: string }>(TEAM);
        await queueMail(execute, { to: email, template: 'client-request-received', data: { request_id: made.request_id, type } });
        for (const member of rows) await queueMail(execute, { to: member.email, template: 'client-request-notice', data: noticeOf(made) });
      });
      return made;
    },

    /** The newest first. */
    async list({ status, type, ...query }: ClientRequestQuery): Promise<Page<KeptRequest>> {
      const { rows } = await pool.query<KeptRequest & Keyed>(
        `${KEPT}, ${REQUESTS.key} ${FROM} where ($1::text is null or r.status = $1) and ($2::text is null or r.type = $2)
            and ${REQUESTS.after('$3')}
          order by ${REQUESTS.order} limit $4`,
        [status ?? null, type ?? null, ...REQUESTS.values(query)],
      );
      return REQUESTS.page(rows, query);
    },

    /** @throws Problem `not_found`; `conflict` for a step that makes no sense; `validation_failed` for an owner who is not of the team */
    update: (
      { principal, origin }: { principal: Principal; origin: Origin },
      requestId: string,
      input: MarketingClientRequestUpdateRequest,
    ): Promise<KeptRequest> =>
      inTransaction(pool, async (client) => {
        const execute: Execute = (sql, values) => client.query(sql, values);
        const found = await client.query<ClientRequest>('select * from client_requests where request_id = $1 for update', [requestId]);
        const [before] = found.rows;
        if (!before) throw new Problem('not_found', 'There is no such request.');
        const now = new Date(clock.now());
        const after = moved(before, input, now);
        if (after.owner !== null && after.owner !== before.owner) await requireMember(client, after.owner);
        const changes = changesOf(before, after);
        const actor = actorOf(principal);
        if (Object.keys(changes).length > 0) {
          await execute(
            'update client_requests set type = $2, status = $3, owner = $4, closed_at = $5, updated_at = $6 where request_id = $1',
            [...[requestId, after.type, after.status, after.owner, after.closed_at, now]],
          );
          await recordAudit(execute, {
            ...{ accountId: principal.accountId, actor, origin, changes, action: 'client_request.updated' },
            target: { kind: 'client_request', id: requestId },
          });
        }
        if (Object.keys(changes).length > 0 || input.note !== undefined)
          await writeEntry(execute, { requestId, actor, changes, note: input.note, now });
        const { rows } = await client.query<KeptRequest>(`${KEPT} ${FROM} where r.request_id = $1`, [requestId]);
        const [kept] = rows;
        if (!kept) throw new Error(`The request ${requestId} is gone`);
        return kept;
      }),
  };
}

export type ClientRequests = ReturnType<typeof createClientRequests>;

/** Those whose work it is; administrators where there is nobody else. */
const TEAM = `select email from users where closed_at is null and role = (
  select case when exists (select from users where role = 'marketing' and closed_at is null) then 'marketing' else 'admin' end)`;

/** What the team is told. The confirmation says none of it: a stranger must not be able to mail their own words to somebody through us. */
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

const writeEntry = (execute: Execute, { requestId, actor, changes, note, now }: NewEntry): Promise<unknown> =>
  execute(
    `insert into client_request_entries (entry_id, request_id, actor_kind, actor_id, changes, note, created_at)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [newId(), requestId, actor.kind, actor.id, JSON.stringify(changes), note ?? null, now],
  );

async function requireMember(client: { query: Pool['query'] }, userId: string): Promise<void> {
  const { rowCount } = await client.query("select from users where id = $1 and closed_at is null and role in ('marketing', 'admin')", [
    userId,
  ]);
  if (rowCount === 0)
    throw invalidInput([{ loc: ['body', 'owner'], msg: 'must be a user of the role marketing or admin', type: 'unknown_owner' }]);
}

const changesOf = (before: ClientRequest, after: ClientRequest): Record<string, unknown> =>
  Object.fromEntries(
    (['status', 'type', 'owner'] as const).flatMap((field) =>
      before[field] === after[field] ? [] : [[field, { from: before[field], to: after[field] }]],
    ),
  );
