import type { ResponseItem } from '@tallygate/contract';
import { sql } from 'kysely';
import type { Pool } from 'pg';
import type { Clock } from '../../../kernel/clock.ts';
import { Problem } from '../../../kernel/problem.ts';
import { inOrder } from '../../../kernel/soon.ts';
import { anyOf, firstOf, type RowOf, rowsOf } from '../../../kernel/statements.ts';
import { inTransaction } from '../../../kernel/transaction.ts';
import type { ContentKeys } from '../../stored-content/index.ts';
import type { StoredResponse as Entity } from '../entities.ts';
import { tables } from '../tables.ts';
import { isId } from './ids.ts';
import { withoutOrphans } from './orphans.ts';

export type Json = Readonly<Record<string, unknown>>;

/** Whose objects: of an account, and there of live or of test mode, which never see each other. */
export interface Owner {
  readonly accountId: string;
  readonly livemode: boolean;
}

/** A response that is kept. */
export interface StoredResponse {
  readonly id: string;
  /** As the caller sees it. */
  readonly response: Json;
  /** What was new in its request, each item with an id. */
  readonly input: readonly ResponseItem[];
}

/** As it is fetched. */
export interface FetchedResponse extends Pick<StoredResponse, 'id' | 'response'> {
  /** Of one that ran in the background and has a result. */
  readonly receiptPromise: string | null;
}

export interface NewStoredResponse extends StoredResponse {
  readonly previousResponseId: string | null;
  readonly conversationId: string | null;
  readonly keyId: string | null;
  /** Of a background response: what it has to ask. */
  readonly request?: Json | undefined;
  /** Of one that was streamed: its events as they were sent. */
  readonly events?: Buffer | undefined;
}

/** OpenAI keeps responses for 30 days. */
export const KEPT_MS = 30 * 24 * 3600 * 1000;
/** Of everything that was said before, as it is kept. A request has 10 MB, and all that went before it is in memory with it. */
export const MOST_BEFORE_BYTES = 64 * 1024 * 1024;
/** Longer chains are cut off at their beginning, long before a model's window is full. */
const LONGEST_CHAIN = 1_000;
const STATUSES = new Set(['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled']);

/** Responses that are kept, in PostgreSQL. */
export class StoredResponses {
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #content: ContentKeys;

  constructor(pool: Pool, clock: Clock, content: ContentKeys) {
    this.#pool = pool;
    this.#clock = clock;
    this.#content = content;
  }

  async save(owner: Owner, given: NewStoredResponse): Promise<void> {
    const { id, request } = given;
    if (request === undefined) return this.#insert(this.#pool, owner, given);
    // Read before a connection is held: nobody may wait for a second one.
    await this.#content.keyOf(owner.accountId);
    await inTransaction(this.#pool, async (client) => {
      await this.#insert(client, owner, given);
      // By itself: it may be as large as the response, and the parameters of a statement are put together at once.
      const sealed = await this.#content.sealJson(owner.accountId, placeOf(id, 'request'), request);
      await client.query('update stored_responses set request = $2 where id = $1', [id, sealed]);
    });
  }

  async #insert(db: Pick<Pool, 'query'>, owner: Owner, given: NewStoredResponse): Promise<void> {
    const { id, response, input, previousResponseId, conversationId, keyId, events } = given;
    const now = this.#clock.now();
    const sealed = (column: Column, value: unknown) => this.#content.sealJson(owner.accountId, placeOf(id, column), value);
    await db.query(
      `with saved as (
         insert into stored_responses
           (id, account_id, livemode, key_id, previous_response_id, conversation_id, status, input, response, created_at, expires_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning id
       ), told as (
         insert into stored_response_streams (response_id, events) select id, $13 from saved where $13::bytea is not null
       )
       insert into stored_response_items (account_id, livemode, item_id, response_id)
       select $2, $3, item_id, id from saved, unnest($12::text[]) item_id`,
      [
        id,
        owner.accountId,
        owner.livemode,
        keyId,
        previousResponseId,
        conversationId,
        statusOf(response),
        await sealed('input', input),
        await sealed('response', response),
        new Date(now),
        new Date(now + KEPT_MS),
        itemIds([...input, ...outputOf(response)]),
        events ? await this.#content.sealBytes(owner.accountId, placeOf(id, 'stream'), events) : null,
      ],
    );
  }

  /** The events of its stream as they were sent; undefined where it was told in none, or in too many. */
  async told({ accountId }: Owner, id: string): Promise<Buffer | undefined> {
    const told = await firstOf(this.#pool, tables.selectFrom('stored_response_streams').select('events').where('response_id', '=', id));
    return told && this.#content.openSealedBytes(accountId, placeOf(id, 'stream'), told.events);
  }

  /** @throws Problem `not_found`, also for somebody else's */
  async get(owner: Owner, id: string): Promise<FetchedResponse> {
    const row = await firstOf(this.#pool, this.#one(owner, id).select(['response', 'status', 'receipt_promise']));
    if (!row) throw missing();
    const response = await this.#content.openJson(owner.accountId, placeOf(id, 'response'), row.response);
    return { id, response: { ...response, status: row.status }, receiptPromise: row.receipt_promise };
  }

  /** What was new in its request. It may be a thousand times as large as the response. @throws Problem `not_found` */
  async input(owner: Owner, id: string): Promise<readonly ResponseItem[]> {
    const row = await firstOf(this.#pool, this.#one(owner, id).select('input'));
    if (!row) throw missing();
    return this.#content.openJson(owner.accountId, placeOf(id, 'input'), row.input);
  }

  /** Nothing of its content is opened. @throws Problem `not_found` */
  async status(owner: Owner, id: string): Promise<string> {
    const row = await firstOf(this.#pool, this.#one(owner, id).select('status'));
    if (!row) throw missing();
    return row.status;
  }

  /** @throws Problem `not_found` */
  async delete(owner: Owner, id: string): Promise<void> {
    await this.status(owner, id);
    const { rowCount } = await this.#pool.query('delete from stored_responses where id = $1 and account_id = $2 and livemode = $3', [
      id,
      owner.accountId,
      owner.livemode,
    ]);
    if (rowCount === 0) throw missing();
  }

  /**
   * Everything that was said up to and with a response, oldest first. What was said before a response that is deleted or expired is
   * forgotten with it, by all that came after.
   *
   * @throws Problem `not_found`; `conflict` while it still runs; `payload_too_large` before it is read
   */
  async history(owner: Owner, id: string): Promise<ResponseItem[]> {
    if (!isId(id)) throw noPrevious(id);
    // The output is taken out here and not there: PostgreSQL looks into JSON only where it holds no U+0000.
    const columns = ['r.id', 'r.previous_response_id', 'r.input', 'r.response', 'r.status'] as const;
    const rows = await rowsOf(
      this.#pool,
      tables
        .withRecursive('chain', () =>
          this.#kept(owner)
            .where('r.id', '=', id)
            .select(columns)
            .select([sql<number>`1`.as('depth'), KEPT_BYTES.as('bytes')])
            .unionAll(
              this.#kept(owner)
                .innerJoin(
                  sql<{ previous_response_id: string | null; depth: number; bytes: number }>`chain`.as('chain'),
                  'r.id',
                  'chain.previous_response_id',
                )
                .where('chain.depth', '<', LONGEST_CHAIN)
                .where('chain.bytes', '<=', MOST_BEFORE_BYTES)
                .select(columns)
                .select([sql<number>`chain.depth + 1`.as('depth'), sql<number>`chain.bytes + ${KEPT_BYTES}`.as('bytes')]),
            ),
        )
        .selectFrom('chain')
        .select(['id', 'status', 'bytes', ...READABLE])
        .orderBy('depth', 'desc'),
    );
    const last = rows.at(-1);
    if (!last) throw noPrevious(id);
    if (last.status === 'queued' || last.status === 'in_progress')
      throw new Problem('conflict', `The response ${id} still runs: it can be gone on from once it has ended.`, {
        param: 'previous_response_id',
      });
    if (rows.some(({ bytes }) => bytes > MOST_BEFORE_BYTES)) throw tooLong('previous_response_id');
    const turns = await inOrder(rows, (row) => this.#opened(owner, row));
    return withoutOrphans(turns.flatMap(({ input, response }) => [...input, ...outputOf(response)]));
  }

  /** Items of kept responses, by their ids. @throws Problem `payload_too_large` before they are read */
  async items(owner: Owner, ids: readonly string[]): Promise<ReadonlyMap<string, ResponseItem>> {
    const { accountId, livemode } = owner;
    const rows = await rowsOf(
      this.#pool,
      tables
        .selectFrom(
          this.#kept(owner)
            .select(['r.id', 'r.input', 'r.response', sql<number>`sum(${KEPT_BYTES}) over ()`.as('bytes')])
            .where('r.id', 'in', (eb) =>
              eb
                .selectFrom('stored_response_items')
                .distinctOn('item_id')
                .select('response_id')
                .where('account_id', '=', accountId)
                .where('livemode', '=', livemode)
                .where('item_id', '=', anyOf(ids.filter(isId)))
                .orderBy('item_id')
                .orderBy('response_id'),
            )
            .as('referred'),
        )
        .select(['id', 'bytes', ...READABLE]),
    );
    if (Number(rows[0]?.bytes ?? 0) > MOST_BEFORE_BYTES) throw tooLong('input');
    const wanted = new Set(ids);
    const turns = await inOrder(rows, (row) => this.#opened(owner, row));
    const found = turns.flatMap(({ input, response }) => [...input, ...outputOf(response)]);
    return new Map(found.flatMap((item) => (typeof item.id === 'string' && wanted.has(item.id) ? [[item.id, item] as const] : [])));
  }

  /** @throws Problem `not_found` where it can be nobody's id */
  #one(owner: Owner, id: string) {
    if (!isId(id)) throw missing();
    return this.#kept(owner).where('id', '=', id);
  }

  #kept({ accountId, livemode }: Owner) {
    return tables
      .selectFrom('stored_responses as r')
      .where('r.account_id', '=', accountId)
      .where('r.livemode', '=', livemode)
      .where('r.expires_at', '>', new Date(this.#clock.now()));
  }

  async #opened({ accountId }: Owner, { id, input, response }: Row): Promise<{ input: ResponseItem[]; response: Json }> {
    return {
      input: await this.#content.openJson(accountId, placeOf(id, 'input'), input),
      response: await this.#content.openJson(accountId, placeOf(id, 'response'), response),
    };
  }

  /** Deletes what has expired, a batch at a time. Resolves to how many there were. */
  async sweep(): Promise<number> {
    const { rowCount } = await this.#pool.query(
      'delete from stored_responses where id in (select id from stored_responses where expires_at <= $1 limit 1000)',
      [new Date(this.#clock.now())],
    );
    return rowCount ?? 0;
  }
}

type Row = Pick<RowOf<typeof Entity>, 'id' | 'input' | 'response'>;

type Column = 'input' | 'response' | 'request' | 'outcome' | 'stream' | `event ${number}`;

/** What the content of a response is sealed as. */
export const placeOf = (id: string, column: Column): string => `${column} of response ${id}`;

/** A provider may call a state by a word that is not known here. */
export const statusOf = ({ status }: Json): string => (typeof status === 'string' && STATUSES.has(status) ? status : 'completed');

export const outputOf = ({ output }: Json): ResponseItem[] => (Array.isArray(output) ? output : []);

export const itemIds = (items: readonly ResponseItem[]): string[] => [...new Set(items.map(({ id }) => id).filter(isId))];

/** Of a row, without reading it. */
const KEPT_BYTES = sql<number>`pg_column_size(r.input) + pg_column_size(r.response)`;

/** A column of rows whose size is known, unless it is too much: nothing of it is read then. */
const readable = <Value>(column: 'input' | 'response') =>
  sql<Value>`case when max(bytes) over () <= ${MOST_BEFORE_BYTES} then ${sql.ref(column)} end`;

const READABLE = [readable<Row['input']>('input').as('input'), readable<Row['response']>('response').as('response')] as const;

/** @param param that says what the request goes on from */
export const tooLong = (param: 'previous_response_id' | 'conversation' | 'input'): Problem =>
  new Problem(
    'payload_too_large',
    `What the request refers to has more than ${MOST_BEFORE_BYTES} bytes: begin anew, with a summary of it.`,
    {
      param,
    },
  );

const missing = (): Problem => new Problem('not_found', 'No such response: it was not stored, was deleted, or is older than 30 days.');

const noPrevious = (id: string): Problem =>
  new Problem(
    'not_found',
    `There is no response ${id.slice(0, 100).toWellFormed()} to go on from: it was not stored, or is older than 30 days.`,
    { param: 'previous_response_id' },
  );
