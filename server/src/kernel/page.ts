import { type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { invalidInput } from './invalid-input.ts';

/** The one shape of lists: `page` of the contract. */
export interface Page<Item> {
  readonly data: Item[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

export interface PageQuery {
  readonly limit: number;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
}

/** What a statement selects beside the row: the values by which the row is sorted. */
export interface Keyed {
  readonly page_key: string[];
}

interface Kind {
  /** The value of a column as text. */
  written(column: string): string;
  /** The text as a value again. */
  read(text: string): string;
  readonly pattern: RegExp;
}

const KINDS = {
  // Microseconds: a text with a time zone would be longer, and a number of milliseconds would lose rows of one millisecond.
  time: {
    written: (column) => `(extract(epoch from ${column}) * 1000000)::bigint::text`,
    read: (text) => `(timestamptz 'epoch' + ${text}::bigint * interval '1 microsecond')`,
    pattern: /^\d{1,16}$/,
  },
  uuid: {
    written: (column) => `${column}::text`,
    read: (text) => `${text}::uuid`,
    pattern: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  },
  integer: { written: (column) => `${column}::text`, read: (text) => `${text}::bigint`, pattern: /^-?\d{1,18}$/ },
  text: { written: (column) => `${column}::text`, read: (text) => text, pattern: /^[^\0]{1,200}$/u },
} satisfies Record<string, Kind>;

interface KeysetOptions {
  /** Distinguishes the cursors of one list from those of another. */
  readonly name: string;
  /** The columns by which the list is sorted; together they are unique. */
  readonly columns: Readonly<Record<string, keyof typeof KINDS>>;
  readonly direction: 'asc' | 'desc';
}

/**
 * A list that is read in pages by its sort key (keyset pagination): the next page begins after the last row of the previous page, even if rows were
 * inserted or deleted meanwhile, and costs as much as the first where an index has the columns.
 *
 * @example
 * const INVOICES = new Keyset({ name: 'invoices', columns: { issued_at: 'time', invoice_id: 'uuid' }, direction: 'desc' });
 * const rows = await rowsOf(pool, INVOICES.pageIn(tables.selectFrom('invoices').selectAll(), query));
 * return mapPage(INVOICES.page(rows, query), toWire);
 */
export class Keyset {
  readonly #options: KeysetOptions;
  readonly #written: string;
  /** Selects `page_key`. */
  readonly key: string;
  readonly order: string;

  constructor(options: KeysetOptions) {
    this.#options = options;
    const columns = Object.entries(options.columns);
    this.#written = `array[${columns.map(([column, kind]) => KINDS[kind].written(column)).join(', ')}]`;
    this.key = `${this.#written} as page_key`;
    this.order = columns.map(([column]) => `${column} ${options.direction}`).join(', ');
  }

  /** The condition that leaves the rows of the page and those after it. @param parameter of `cursorKey` */
  after(parameter: string): string {
    const { columns, direction } = this.#options;
    const values = Object.values(columns).map((kind, index) => KINDS[kind].read(`(${parameter}::text[])[${index + 1}]`));
    const comparison = direction === 'asc' ? '>' : '<';
    return `(${parameter}::text[] is null or (${Object.keys(columns).join(', ')}) ${comparison} (${values.join(', ')}))`;
  }

  /** The sort key of the last row of the page before; null for the first page. @throws Problem `validation_failed` for a cursor of another list */
  cursorKey(cursor: string | undefined): readonly string[] | null {
    if (cursor === undefined) return null;
    const { name, columns } = this.#options;
    const [list, ...key] = readCursor(cursor);
    const patterns = Object.values(columns).map((kind) => KINDS[kind].pattern);
    if (list !== name || key.length !== patterns.length || !patterns.every((pattern, index) => pattern.test(key[index] ?? '')))
      throw badCursor();
    return key;
  }

  /** The statement that reads one page of what another one would read as a whole. */
  pageIn<DB, Tables extends keyof DB, Row>(
    statement: SelectQueryBuilder<DB, Tables, Row>,
    query: PageQuery,
  ): SelectQueryBuilder<DB, Tables, Row & Keyed> {
    const [after, limit] = this.values(query);
    const words = this.after('\0').split('\0');
    return statement
      .select(sql.raw<string[]>(this.#written).as('page_key'))
      .where(
        sql<SqlBool>`${sql.join(
          words.map((part) => sql.raw(part)),
          sql`${after}`,
        )}`,
      )
      .orderBy(sql.raw(this.order))
      .limit(limit)
      .$castTo<Row & Keyed>();
  }

  /** The last two parameters of a statement: the cursor's key, and one row more than the page has, which shows whether the list continues. */
  values({ cursor, limit }: PageQuery): [readonly string[] | null, number] {
    return [this.cursorKey(cursor), limit + 1];
  }

  /** @param rows at most `limit` and one more */
  page<Row>(rows: readonly (Row & Keyed)[], { limit }: Pick<PageQuery, 'limit'>): Page<Row> {
    const shown = rows.slice(0, limit);
    const last = rows.length > limit ? shown.at(-1) : undefined;
    return {
      data: shown.map(({ page_key: _, ...row }) => row as Row),
      has_more: last !== undefined,
      next_cursor: last ? this.#cursorOf(last.page_key) : null,
    };
  }

  /** A page of a list that is in memory as a whole. @param keyOf the sort key; integers without leading zeros */
  pageOf<Item>(items: readonly Item[], query: PageQuery, keyOf: (item: Item) => readonly string[]): Page<Item> {
    const after = this.cursorKey(query.cursor);
    const keyed = items
      .map((item) => ({ item, page_key: [...keyOf(item)] }))
      .filter(({ page_key }) => after === null || this.#compare(page_key, after) > 0)
      .sort((a, b) => this.#compare(a.page_key, b.page_key));
    return mapPage(this.page(keyed, query), ({ item }) => item);
  }

  /** In the order of the list. */
  #compare(one: readonly string[], other: readonly string[]): number {
    const { columns, direction } = this.#options;
    for (const [index, kind] of Object.values(columns).entries()) {
      const [a = '', b = ''] = [one[index], other[index]];
      const isNumber = kind === 'time' || kind === 'integer';
      const difference = isNumber ? Number(BigInt(a) - BigInt(b)) : Number(a > b) - Number(a < b);
      if (difference !== 0) return direction === 'asc' ? difference : -difference;
    }
    return 0;
  }

  #cursorOf(key: readonly string[]): string {
    return Buffer.from(JSON.stringify([this.#options.name, ...key])).toString('base64url');
  }
}

export const mapPage = <Row, Item>({ data, ...rest }: Page<Row>, toItem: (row: Row) => Item): Page<Item> => ({
  ...rest,
  data: data.map((row) => toItem(row)),
});

function readCursor(cursor: string): string[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (Array.isArray(parts) && parts.every((part) => typeof part === 'string')) return parts;
  } catch (failure) {
    if (!(failure instanceof SyntaxError)) throw failure;
  }
  throw badCursor();
}

const badCursor = () => invalidCursor('cursor', 'the next_cursor of a page of this list');

const invalidCursor = (parameter: string, expected: string) =>
  invalidInput([{ loc: ['query', parameter], msg: `must be ${expected}`, type: 'invalid_cursor' }]);

/** The place of an id in a list that is in memory. @throws Problem `validation_failed`, which names the parameter, where it is not in it */
export function indexInList(id: string, ids: readonly string[], parameter: string): number {
  const place = ids.indexOf(id);
  if (place === -1) throw invalidCursor(parameter, 'from an earlier page of this list');
  return place;
}
