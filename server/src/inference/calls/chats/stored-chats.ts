import type { ChatCompletionRequest } from '@tallygate/contract';
import type { Pool } from 'pg';
import type { Clock } from '../../../kernel/clock.ts';
import { Problem } from '../../../kernel/problem.ts';
import { asJson, firstOf, ifGiven, type RowOf, rowsOf } from '../../../kernel/statements.ts';
import type { ContentKeys } from '../../stored-content/index.ts';
import type { StoredChatCompletion } from '../entities.ts';
import { isId, storable, storablePairs } from '../responses/ids.ts';
import { type Json, KEPT_MS, type Owner } from '../responses/stored-responses.ts';
import { noSuchCursor } from '../responses/wire.ts';
import { tables } from '../tables.ts';

export interface ChatQuery {
  readonly after?: string | undefined;
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  readonly model?: string | undefined;
  /** Pairs that a completion has to have. */
  readonly metadata: Readonly<Record<string, string>>;
}

type Row = Pick<RowOf<typeof StoredChatCompletion>, (typeof COLUMNS)[number]>;
/** Without the messages, which may be a thousand times as large. */
const COLUMNS = ['id', 'completion', 'metadata'] as const;

/** Chat completions that were made with `store: true`, in PostgreSQL, for 30 days. */
export class StoredChats {
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #content: ContentKeys;

  constructor(pool: Pool, clock: Clock, content: ContentKeys) {
    this.#pool = pool;
    this.#clock = clock;
    this.#content = content;
  }

  async save(
    { accountId, livemode }: Owner,
    completion: Json,
    { messages, metadata }: Pick<ChatCompletionRequest, 'messages' | 'metadata'>,
  ): Promise<void> {
    const { id, model } = completion;
    if (!isId(id)) throw new Error('What is kept has an id of ours');
    const now = this.#clock.now();
    await this.#pool.query(
      `insert into stored_chat_completions (id, account_id, livemode, model, metadata, completion, messages, created_at, expires_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
      [
        id,
        accountId,
        livemode,
        storable(String(model)),
        JSON.stringify(storablePairs(metadata ?? {})),
        await this.#content.sealJson(accountId, placeOf(id, 'completion'), completion),
        await this.#content.sealJson(accountId, placeOf(id, 'messages'), messages),
        new Date(now),
        new Date(now + KEPT_MS),
      ],
    );
  }

  /** As the caller got it, with its metadata. @throws Problem `not_found`, also for somebody else's */
  async get(owner: Owner, id: string): Promise<Json> {
    const row = await firstOf(this.#pool, this.#kept(owner).select(COLUMNS).where('id', '=', this.#known(id)));
    if (!row) throw missing();
    return this.#opened(owner, row);
  }

  /** What it was asked with. @throws Problem `not_found` */
  async messages(owner: Owner, id: string): Promise<readonly Json[]> {
    const row = await firstOf(this.#pool, this.#kept(owner).select('messages').where('id', '=', this.#known(id)));
    if (!row) throw missing();
    return this.#content.openJson(owner.accountId, placeOf(id, 'messages'), row.messages);
  }

  /** Nothing of its content is opened. @throws Problem `not_found` */
  async #require(owner: Owner, id: string): Promise<void> {
    if (!(await firstOf(this.#pool, this.#kept(owner).select('id').where('id', '=', this.#known(id))))) throw missing();
  }

  /** @throws Problem `not_found` */
  async update(owner: Owner, id: string, metadata: Readonly<Record<string, string>>): Promise<Json> {
    await this.#pool.query('update stored_chat_completions set metadata = $4 where id = $1 and account_id = $2 and livemode = $3', [
      this.#known(id),
      owner.accountId,
      owner.livemode,
      JSON.stringify(storablePairs(metadata)),
    ]);
    return this.get(owner, id);
  }

  /** @throws Problem `not_found` */
  async delete(owner: Owner, id: string): Promise<void> {
    await this.#require(owner, id);
    await this.#pool.query('delete from stored_chat_completions where id = $1 and account_id = $2 and livemode = $3', [
      id,
      owner.accountId,
      owner.livemode,
    ]);
  }

  async list(owner: Owner, { after, limit, order, model, metadata }: ChatQuery): Promise<{ chats: Json[]; hasMore: boolean }> {
    if (after !== undefined) await this.#require(owner, after).catch(refuseCursor);
    const sign = order === 'asc' ? '>' : '<';
    const { accountId, livemode } = owner;
    const rows = await rowsOf(
      this.#pool,
      this.#kept(owner)
        .select(COLUMNS)
        .where((eb) => ifGiven(model, (name) => eb('model', '=', storable(name))))
        .where('metadata', '@>', asJson(storablePairs(metadata)))
        .where((eb) =>
          ifGiven(after, (last) =>
            eb(eb.refTuple('created_at', 'id'), sign, (within) =>
              within
                .selectFrom('stored_chat_completions')
                .select(['created_at', 'id'])
                .where('id', '=', last)
                .where('account_id', '=', accountId)
                .where('livemode', '=', livemode)
                .$asTuple('created_at', 'id'),
            ),
          ),
        )
        .orderBy('created_at', order)
        .orderBy('id', order)
        .limit(limit + 1),
    );
    const chats = await Promise.all(rows.slice(0, limit).map((row) => this.#opened(owner, row)));
    return { chats, hasMore: rows.length > limit };
  }

  async sweep(): Promise<number> {
    const { rowCount } = await this.#pool.query(
      'delete from stored_chat_completions where id in (select id from stored_chat_completions where expires_at <= $1 limit 1000)',
      [new Date(this.#clock.now())],
    );
    return rowCount ?? 0;
  }

  #kept({ accountId, livemode }: Owner) {
    return tables
      .selectFrom('stored_chat_completions')
      .where('account_id', '=', accountId)
      .where('livemode', '=', livemode)
      .where('expires_at', '>', new Date(this.#clock.now()));
  }

  async #opened({ accountId }: Owner, { id, completion, metadata }: Row): Promise<Json> {
    return { ...(await this.#content.openJson(accountId, placeOf(id, 'completion'), completion)), metadata };
  }

  #known(id: string): string {
    if (!isId(id)) throw missing();
    return id;
  }
}

function refuseCursor(thrown: unknown): never {
  throw thrown instanceof Problem ? noSuchCursor() : thrown;
}

/** What the content of a chat completion is sealed as. */
const placeOf = (id: string, column: 'completion' | 'messages'): string => `${column} of chat completion ${id}`;

const missing = (): Problem =>
  new Problem('not_found', 'No such chat completion: it was not stored (`store: true`), was deleted, or is older than 30 days.');
