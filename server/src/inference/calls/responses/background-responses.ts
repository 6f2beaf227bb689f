import type { ResponseItem } from '@tallygate/contract';
import { sql } from 'kysely';
import type { Pool } from 'pg';
import type { Clock } from '../../../kernel/clock.ts';
import { Problem } from '../../../kernel/problem.ts';
import { firstOf, type RowOf, rowsOf } from '../../../kernel/statements.ts';
import { breather } from '../../../kernel/turn.ts';
import type { ContentKeys } from '../../stored-content/index.ts';
import type { StoredResponseEvent } from '../entities.ts';
import { tables } from '../tables.ts';
import { isRecord } from '../usage.ts';
import { type BackgroundRequest, parseBackgroundRequest } from './background-request.ts';
import { itemIds, type Json, type Owner, outputOf, placeOf, statusOf } from './stored-responses.ts';

/** A background response as a worker has taken it on. */
export interface Task {
  readonly id: string;
  readonly owner: Owner;
  readonly keyId: string | null;
  /** Counts from 1. */
  readonly run: number;
  readonly isCancelled: boolean;
  readonly input: readonly ResponseItem[];
  readonly conversationId: string | null;
  readonly request: BackgroundRequest;
  readonly response: Json;
  /** There where the result is: what remains is to settle it. */
  readonly outcome: Json | null;
}

export interface StoredEvent {
  readonly sequence: number;
  readonly run: number;
  readonly event: Json;
}

export interface EventsAfter {
  /** Whether events are kept of this response at all. */
  readonly hasAny: boolean;
  /** Nobody works on it any more. */
  readonly isClosed: boolean;
  readonly run: number;
  readonly events: readonly StoredEvent[];
}

/** A result, and what is to be settled for it. */
export interface Finished {
  readonly response: Json;
  readonly outcome: Json;
  /** Goes with the response to whoever fetches it. */
  readonly receiptPromise: string | null;
}

/** A failure as OpenAI writes it into the response. */
export interface ResponseFailure {
  readonly code: string;
  readonly message: string;
}

/** A worker that has not been heard of for so long is dead. It is heard of twice a second. */
const LEASE_MS = 15_000;
/** The events that the creation itself writes: `response.created` and `response.queued`. */
export const FIRST_OF_RUN = 2;
const MOST_EVENTS = 500;
const MOST_WAITING = 200;
/** So many events are written with one statement, unless they have more characters: its parameters are put together at once. */
const MOST_WRITTEN = 500;
const MOST_WRITTEN_CHARACTERS = 1_000_000;

/** SQL: whether there is a response that nobody has run since it was begun so long ago. */
export const waitingSince = (graceMs: number): string =>
  `exists (select from stored_responses where request is not null
     and created_at < present - ${graceMs} * interval '1 millisecond' and (lease_until is null or lease_until < present))`;

/** Responses on their way through the background, in PostgreSQL: what workers and those who wait for them have in common. */
export class BackgroundResponses {
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #content: ContentKeys;

  constructor(pool: Pool, clock: Clock, content: ContentKeys) {
    this.#pool = pool;
    this.#clock = clock;
    this.#content = content;
  }

  /** Takes the response on, unless another worker has it or nothing is left to do. What an earlier run had said of it is forgotten. */
  async claim(id: string): Promise<Task | undefined> {
    const now = this.#clock.now();
    const row = await firstOf(
      this.#pool,
      tables
        .updateTable('stored_responses')
        .set({
          run: sql<number>`run + 1`,
          lease_until: new Date(now + LEASE_MS),
          status: sql<'in_progress'>`case when status = 'queued' then 'in_progress' else status end`,
        })
        .where('id', '=', id)
        .where('request', 'is not', null)
        .where((eb) => eb.or([eb('lease_until', 'is', null), eb('lease_until', '<', new Date(now))]))
        .returning(['id', 'account_id', 'livemode', 'key_id', 'run', 'status', 'input', 'conversation_id', 'response', 'outcome'])
        .returning((eb) => eb.ref('request').$notNull().as('request')),
    );
    if (!row) return undefined;
    if (!row.outcome)
      await this.#pool.query('delete from stored_response_events where response_id = $1 and sequence >= $2', [id, FIRST_OF_RUN]);
    const opened = <Value>(column: 'input' | 'request' | 'response' | 'outcome', stored: Value | string) =>
      this.#content.openJson(row.account_id, placeOf(id, column), stored);
    return {
      id,
      owner: { accountId: row.account_id, livemode: row.livemode },
      keyId: row.key_id,
      run: row.run,
      isCancelled: row.status === 'cancelled',
      input: await opened('input', row.input),
      conversationId: row.conversation_id,
      request: parseBackgroundRequest(await opened('request', row.request)),
      response: { ...(await opened('response', row.response)), status: row.status },
      outcome: row.outcome === null ? null : await opened('outcome', row.outcome),
    };
  }

  /** Keeps the response for its worker. False: it was cancelled or deleted, or is another's by now. */
  async renew({ id, run }: Pick<Task, 'id' | 'run'>): Promise<boolean> {
    const kept = await firstOf(
      this.#pool,
      tables
        .updateTable('stored_responses')
        .set({ lease_until: new Date(this.#clock.now() + LEASE_MS) })
        .where('id', '=', id)
        .where('run', '=', run)
        .where('request', 'is not', null)
        .returning('status'),
    );
    return kept !== undefined && kept.status !== 'cancelled';
  }

  /** The result, with what is to be settled. Nothing happens where it was cancelled or deleted, or is another run's. */
  async finish({ id, run, owner, input }: Task, { response, outcome, receiptPromise }: Finished): Promise<void> {
    await this.#pool.query(
      `with finished as (
         update stored_responses set status = $3, response = $4, outcome = $5, receipt_promise = $9
          where id = $1 and run = $2 and request is not null and status = 'in_progress' returning id
       )
       insert into stored_response_items (account_id, livemode, item_id, response_id)
       select $6, $7, item_id, id from finished, unnest($8::text[]) item_id on conflict do nothing`,
      [
        id,
        run,
        statusOf(response),
        await this.#content.sealJson(owner.accountId, placeOf(id, 'response'), response),
        await this.#content.sealJson(owner.accountId, placeOf(id, 'outcome'), outcome),
        owner.accountId,
        owner.livemode,
        itemIds([...input, ...outputOf(response)]),
        receiptPromise,
      ],
    );
  }

  /** Of one that has failed or was cancelled: a result has its promise from the moment that it is stored. */
  async keepPromise({ id, run }: Pick<Task, 'id' | 'run'>, promise: string): Promise<void> {
    await this.#pool.query(
      `update stored_responses set receipt_promise = $3
        where id = $1 and run = $2 and status in ('in_progress', 'failed', 'cancelled')`,
      [id, run, promise],
    );
  }

  /** It has failed, and nothing is left to do; what is over already stays as it is. Resolves to the response where it is this that ended it. */
  async fail({ id, run, owner, response }: Task, error: ResponseFailure): Promise<Json | undefined> {
    const failed = { ...response, status: 'failed', error };
    const { rowCount } = await this.#pool.query(
      `update stored_responses set status = 'failed', response = $3
        where id = $1 and run = $2 and status = 'in_progress' returning id`,
      [id, run, await this.#content.sealJson(owner.accountId, placeOf(id, 'response'), failed)],
    );
    return rowCount === 1 ? failed : undefined;
  }

  /** Nothing is left to do. */
  async close({ id, run }: Pick<Task, 'id' | 'run'>): Promise<void> {
    await this.#pool.query('update stored_responses set request = null, outcome = null, lease_until = null where id = $1 and run = $2', [
      id,
      run,
    ]);
  }

  /** Gives it back, for another try. */
  async release({ id, run }: Pick<Task, 'id' | 'run'>, retryAfterMs: number): Promise<void> {
    await this.#pool.query('update stored_responses set lease_until = $3 where id = $1 and run = $2', [
      id,
      run,
      new Date(this.#clock.now() + retryAfterMs),
    ]);
  }

  /**
   * Says that nobody waits for it any more; its worker hears of it within a second.
   *
   * @throws Problem `conflict` where it was never in the background
   */
  async cancel(owner: Owner, id: string, response: Json): Promise<void> {
    if (response['background'] !== true)
      throw new Problem('conflict', 'Only a response that was created with `background: true` can be cancelled.');
    await this.#pool.query(
      `update stored_responses set status = 'cancelled'
        where id = $1 and account_id = $2 and livemode = $3 and status in ('queued', 'in_progress')`,
      [id, owner.accountId, owner.livemode],
    );
  }

  /** Those that nobody works on, though there is something to do, and how often each was begun. */
  async waiting(graceMs: number): Promise<Pick<Task, 'id' | 'run'>[]> {
    const now = this.#clock.now();
    return rowsOf(
      this.#pool,
      tables
        .selectFrom('stored_responses')
        .select(['id', 'run'])
        .where('request', 'is not', null)
        .where('created_at', '<', new Date(now - graceMs))
        .where((eb) => eb.or([eb('lease_until', 'is', null), eb('lease_until', '<', new Date(now))]))
        .orderBy('created_at')
        .limit(MOST_WAITING),
    );
  }

  /** Adds events of a run, in order; those of a run that is over are not taken. Other work has its turn meanwhile. */
  async addEvents(task: Pick<Task, 'id' | 'run' | 'owner'>, events: readonly Json[]): Promise<void> {
    const rest = breather();
    let batch: SealedEvent[] = [];
    let characters = 0;
    for (const event of events) {
      const sequence = Number(event['sequence_number']);
      const sealed = await this.#content.sealJson(task.owner.accountId, placeOf(task.id, `event ${sequence}`), event);
      batch.push({ sequence, sealed });
      characters += sealed.length;
      if (batch.length === MOST_WRITTEN || characters >= MOST_WRITTEN_CHARACTERS) {
        await this.#insertEvents(task, batch);
        batch = [];
        characters = 0;
      }
      await rest();
    }
    if (batch.length > 0) await this.#insertEvents(task, batch);
  }

  async #insertEvents({ id, run }: Pick<Task, 'id' | 'run'>, events: readonly SealedEvent[]): Promise<void> {
    await this.#pool.query(
      `insert into stored_response_events (response_id, sequence, run, event)
       select r.id, given.sequence, r.run, given.event
         from stored_responses r, unnest($3::int[], $4::json[]) as given (sequence, event)
        where r.id = $1 and r.run = $2 on conflict do nothing`,
      [id, run, events.map(({ sequence }) => sequence), events.map(({ sealed }) => sealed)],
    );
  }

  /** Events behind one, in order. */
  async eventsAfter(owner: Owner, id: string, after: number): Promise<EventsAfter> {
    // The state first: what is closed has all its events by then.
    const state = await firstOf(
      this.#pool,
      tables
        .selectFrom('stored_responses')
        .select((eb) => [
          'run' as const,
          eb('request', 'is', null).as('is_closed'),
          eb.exists(eb.selectFrom('stored_response_events').select('sequence').where('response_id', '=', id)).as('has_any'),
        ])
        .where('id', '=', id),
    );
    const rows = await rowsOf(this.#pool, eventsOf(id).where('sequence', '>', after).orderBy('sequence').limit(MOST_EVENTS));
    const events = await Promise.all(rows.map((row) => this.#opened(owner, id, row)));
    return { hasAny: Boolean(state?.has_any), isClosed: state === undefined || Boolean(state.is_closed), run: state?.run ?? 0, events };
  }

  /** The last of all its events so far. */
  async lastEvent({ id, owner }: Pick<Task, 'id' | 'owner'>): Promise<StoredEvent | undefined> {
    const last = await firstOf(this.#pool, eventsOf(id).orderBy('sequence', 'desc').limit(1));
    return last && this.#opened(owner, id, last);
  }

  async #opened({ accountId }: Owner, id: string, { sequence, run, event }: EventRow): Promise<StoredEvent> {
    return { sequence, run, event: await this.#content.openJson(accountId, placeOf(id, `event ${sequence}`), event) };
  }

  /** The response, where it was cancelled and is this run's. */
  async cancelled({ id, run, owner }: Pick<Task, 'id' | 'run' | 'owner'>): Promise<Json | undefined> {
    const row = await firstOf(
      this.#pool,
      tables
        .selectFrom('stored_responses')
        .select('response')
        .where('id', '=', id)
        .where('run', '=', run)
        .where('status', '=', 'cancelled'),
    );
    return row && { ...(await this.#content.openJson(owner.accountId, placeOf(id, 'response'), row.response)), status: 'cancelled' };
  }
}

interface SealedEvent {
  readonly sequence: number;
  /** JSON text. */
  readonly sealed: string;
}

type EventRow = Pick<RowOf<typeof StoredResponseEvent>, 'sequence' | 'run' | 'event'>;

const eventsOf = (id: string) =>
  tables.selectFrom('stored_response_events').select(['sequence', 'run', 'event']).where('response_id', '=', id);

/** What went wrong, in OpenAI's words for responses. */
export function failureOf(problem: unknown): ResponseFailure {
  const { code, message } =
    problem instanceof Problem ? problem : isRecord(problem) ? { code: problem['code'], message: problem['detail'] } : {};
  return {
    code: code === 'rate_limited' || code === 'upstream_rate_limited' ? 'rate_limit_exceeded' : 'server_error',
    message: typeof message === 'string' ? message : 'The response failed.',
  };
}
