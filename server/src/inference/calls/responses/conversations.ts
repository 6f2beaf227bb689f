import { randomBytes } from 'node:crypto';
import type { ResponseItem } from '@tallygate/contract';
import { sql } from 'kysely';
import type { Pool } from 'pg';
import type { Clock } from '../../../kernel/clock.ts';
import { Problem } from '../../../kernel/problem.ts';
import { inOrder } from '../../../kernel/soon.ts';
import { firstOf, ifGiven, type RowOf, rowsOf } from '../../../kernel/statements.ts';
import { inTransaction } from '../../../kernel/transaction.ts';
import type { ContentKeys } from '../../stored-content/index.ts';
import type { ConversationItem } from '../entities.ts';
import { tables } from '../tables.ts';
import { isId, storablePairs } from './ids.ts';
import { wholeItem } from './items.ts';
import { MOST_BEFORE_BYTES, type Owner, tooLong } from './stored-responses.ts';
import { noSuchCursor } from './wire.ts';

export interface Conversation {
  readonly id: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly createdAt: Date;
}

export interface ItemPage {
  readonly items: readonly ResponseItem[];
  readonly hasMore: boolean;
}

interface PageQuery {
  /** Id of the last item of the page before. */
  readonly after?: string | undefined;
  readonly limit: number;
  readonly order: 'asc' | 'desc';
}

/** Items are written in statements of about so many characters. */
const MOST_WRITTEN_CHARACTERS = 1_000_000;

/** A page ends with the item that reaches so many bytes, as they are kept: a hundred may have a gigabyte. */
const MOST_PAGE_BYTES = 16 * 1024 * 1024;

/** Conversations and their items, in PostgreSQL. They are kept until they are deleted. */
export class Conversations {
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #content: ContentKeys;

  constructor(pool: Pool, clock: Clock, content: ContentKeys) {
    this.#pool = pool;
    this.#clock = clock;
    this.#content = content;
  }

  async create(owner: Owner, metadata: Conversation['metadata'], items: readonly ResponseItem[]): Promise<Conversation> {
    const conversation = { id: `conv_${randomBytes(24).toString('hex')}`, metadata, createdAt: new Date(this.#clock.now()) };
    await this.#pool.query('insert into conversations (id, account_id, livemode, metadata, created_at) values ($1, $2, $3, $4, $5)', [
      conversation.id,
      owner.accountId,
      owner.livemode,
      JSON.stringify(storablePairs(metadata)),
      conversation.createdAt,
    ]);
    if (items.length > 0) await this.append(owner, conversation.id, items);
    return conversation;
  }

  /** @throws Problem `not_found`, also for somebody else's */
  async get(owner: Owner, id: string): Promise<Conversation> {
    if (!isId(id)) throw missing('conversation');
    const row = await firstOf(
      this.#pool,
      tables
        .selectFrom('conversations')
        .select(['metadata', 'created_at'])
        .where('id', '=', id)
        .where('account_id', '=', owner.accountId)
        .where('livemode', '=', owner.livemode),
    );
    if (!row) throw missing('conversation');
    return { id, metadata: row.metadata, createdAt: row.created_at };
  }

  async exists(owner: Owner, id: string): Promise<boolean> {
    return this.get(owner, id).then(
      () => true,
      (thrown: unknown) => {
        if (thrown instanceof Problem) return false;
        throw thrown;
      },
    );
  }

  async update(owner: Owner, id: string, metadata: Conversation['metadata']): Promise<Conversation> {
    await this.get(owner, id);
    await this.#pool.query('update conversations set metadata = $4 where id = $1 and account_id = $2 and livemode = $3', [
      id,
      owner.accountId,
      owner.livemode,
      JSON.stringify(storablePairs(metadata)),
    ]);
    return this.get(owner, id);
  }

  /** @throws Problem `not_found` */
  async delete(owner: Owner, id: string): Promise<void> {
    await this.get(owner, id);
    const { rowCount } = await this.#pool.query('delete from conversations where id = $1 and account_id = $2 and livemode = $3', [
      id,
      owner.accountId,
      owner.livemode,
    ]);
    if (rowCount === 0) throw missing('conversation');
  }

  /**
   * Adds items at the end, in order. One that is there already stays where it is. Resolves to the items with their ids.
   *
   * @throws Problem `not_found`
   */
  async append(owner: Owner, id: string, given: readonly ResponseItem[]): Promise<ResponseItem[]> {
    await this.get(owner, id);
    const items = given.map(wholeItem);
    const sealed = await inOrder(items, async (item) => ({
      id: String(item.id),
      item: await this.#content.sealJson(owner.accountId, placeOf(id, String(item.id)), item),
    }));
    const [batch = [], ...more] = batchesOf(sealed);
    if (more.length === 0) await insertItems(this.#pool, id, batch);
    else
      await inTransaction(this.#pool, async (client) => {
        for (const part of [batch, ...more]) await insertItems(client, id, part);
      });
    return items;
  }

  /** All items, oldest first: what the next response begins with. @throws Problem `not_found`, `payload_too_large` */
  async allItems(owner: Owner, id: string): Promise<ResponseItem[]> {
    await this.get(owner, id);
    const kept = tables.selectFrom('conversation_items').select(sql<string>`coalesce(sum(pg_column_size(item)), 0)`.as('bytes'));
    const size = await firstOf(this.#pool, kept.where('conversation_id', '=', id));
    if (Number(size?.bytes) > MOST_BEFORE_BYTES) throw tooLong('conversation');
    const rows = await rowsOf(this.#pool, itemsOf(id).orderBy('position'));
    return this.#opened(owner, id, rows);
  }

  async items(owner: Owner, id: string, { after, limit, order }: PageQuery): Promise<ItemPage> {
    await this.get(owner, id);
    if (after !== undefined && !(await this.#has(id, after))) throw noSuchCursor();
    const page = itemsOf(id)
      .select('position')
      .where((eb) =>
        ifGiven(after, (last) =>
          eb('position', order === 'asc' ? '>' : '<', (within) =>
            within.selectFrom('conversation_items').select('position').where('conversation_id', '=', id).where('id', '=', last),
          ),
        ),
      )
      .orderBy('position', order)
      .limit(limit + 1)
      .as('page');
    const before = sql<string>`sum(pg_column_size(item)) over (order by position ${sql.raw(order)}) - pg_column_size(item)`;
    const sized = tables
      .selectFrom(page)
      .selectAll()
      .select([before.as('bytes_before'), sql<string>`count(*) over ()`.as('found')])
      .as('sized');
    const rows = await rowsOf(
      this.#pool,
      tables
        .selectFrom(sized)
        .select(['id', 'item', 'found'])
        .where('bytes_before', '<', String(MOST_PAGE_BYTES))
        .orderBy('position', order),
    );
    const shown = rows.slice(0, limit);
    return { items: await this.#opened(owner, id, shown), hasMore: Number(rows[0]?.found ?? 0) > shown.length };
  }

  async #opened({ accountId }: Owner, id: string, rows: readonly ItemRow[]): Promise<ResponseItem[]> {
    return inOrder(rows, (row) => this.#content.openJson(accountId, placeOf(id, row.id), row.item));
  }

  async #has(id: string, itemId: string): Promise<boolean> {
    if (!isId(itemId)) return false;
    const { rowCount } = await this.#pool.query('select 1 from conversation_items where conversation_id = $1 and id = $2', [id, itemId]);
    return rowCount === 1;
  }

  /** @throws Problem `not_found` */
  async item(owner: Owner, id: string, itemId: string): Promise<ResponseItem> {
    await this.get(owner, id);
    if (!isId(itemId)) throw missing('item');
    const rows = await rowsOf(this.#pool, itemsOf(id).where('id', '=', itemId));
    const [item] = await this.#opened(owner, id, rows);
    if (!item) throw missing('item');
    return item;
  }

  /** @throws Problem `not_found` */
  async deleteItem(owner: Owner, id: string, itemId: string): Promise<Conversation> {
    const conversation = await this.get(owner, id);
    if (!isId(itemId)) throw missing('item');
    const { rowCount } = await this.#pool.query('delete from conversation_items where conversation_id = $1 and id = $2', [id, itemId]);
    if (rowCount === 0) throw missing('item');
    return conversation;
  }
}

interface SealedItem {
  readonly id: string;
  /** JSON text. */
  readonly item: string;
}

/**
 * One turn after the other: the items of two would mix, so the conversation is locked until the transaction ends. One that is deleted meanwhile
 * has no row to lock, and takes nothing.
 */
async function insertItems(db: Pick<Pool, 'query'>, id: string, items: readonly SealedItem[]): Promise<void> {
  await db.query(
    `with locked as (select id from conversations where id = $1 for update)
     insert into conversation_items (conversation_id, id, item)
     select locked.id, item_id, item from locked, unnest($2::text[], $3::json[]) with ordinality as given (item_id, item, place) order by place
     on conflict (conversation_id, id) do nothing`,
    [id, items.map((sealed) => sealed.id), items.map(({ item }) => item)],
  );
}

/** What one statement takes: its parameters are put together at once. */
function* batchesOf(items: readonly SealedItem[]): Generator<readonly SealedItem[]> {
  let batch: SealedItem[] = [];
  let characters = 0;
  for (const sealed of items) {
    batch.push(sealed);
    characters += sealed.item.length;
    if (characters < MOST_WRITTEN_CHARACTERS) continue;
    yield batch;
    batch = [];
    characters = 0;
  }
  if (batch.length > 0) yield batch;
}

type ItemRow = Pick<RowOf<typeof ConversationItem>, 'id' | 'item'>;

const itemsOf = (id: string) => tables.selectFrom('conversation_items').select(['id', 'item']).where('conversation_id', '=', id);

/** What an item is sealed as. */
const placeOf = (conversationId: string, itemId: string): string => `item ${itemId} of conversation ${conversationId}`;

const missing = (what: 'conversation' | 'item'): Problem => new Problem('not_found', `No such ${what}.`);
