import type { EntityManager, EntitySchemaWithMeta, InferKyselyDB, InferKyselyTable } from '@mikro-orm/postgresql';
import type { Expression, RawBuilder, Selectable, SqlBool } from 'kysely';
import {
  type Compilable,
  CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
} from 'kysely';

/** Where statements run: the pool, a client that is in a transaction, or a unit of work of the ORM ({@link inUnit}). */
export interface Queryable {
  /** Placeholders are PostgreSQL's: `$1`, `$2`. */
  query(text: string, values?: unknown[]): Promise<Answer>;
}

interface Answer {
  readonly rows: unknown[];
  readonly rowCount: number | null;
}

interface Preparing {
  query(statement: { readonly name: string; readonly text: string; readonly values: unknown[] }): Promise<Answer>;
}

/**
 * Where statements run that are parsed and planned once a connection, for those that every batch of settlements runs. @param name of one
 * text, in all the program
 */
export const prepared = (db: Preparing, name: string): Queryable => ({ query: (text, values = []) => db.query({ name, text, values }) });

/** One entity, as `defineEntity` makes it. */
interface Entity {
  readonly name: string;
  readonly tableName?: string;
}

/** Builds statements and runs none: the caller decides where they run. */
const builder = new Kysely<never>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

/** Builds statements over the tables of these entities, typed by them: `tablesOf<typeof Mail | typeof MailHandover>()`. */
export const tablesOf = <Entities extends Entity>(): Kysely<InferKyselyDB<Entities>> =>
  builder as unknown as Kysely<InferKyselyDB<Entities>>;

/** A row of an entity's table as it is read: its columns by their names. */
export type RowOf<Table extends EntitySchemaWithMeta> = Selectable<InferKyselyTable<Table>>;

/** The rows that a statement answers with. */
export async function rowsOf<Row>(db: Queryable, statement: Compilable<Row>): Promise<Row[]> {
  const { rows } = await ask(db, statement);
  return rows as Row[]; // Typed by the entities, which are compared with the tables.
}

/** The first of them. */
export const firstOf = async <Row>(db: Queryable, statement: Compilable<Row>): Promise<Row | undefined> => (await rowsOf(db, statement))[0];

/** How many rows a statement has written. */
export const run = async (db: Queryable, statement: Compilable): Promise<number> => (await ask(db, statement)).rowCount ?? 0;

function ask(db: Queryable, statement: Compilable): Promise<Answer> {
  const { sql: text, parameters } = statement.compile();
  return db.query(text, [...parameters]);
}

/** What parses a row: a schema of zod. */
interface RowSchema<Row> {
  parse(row: unknown): Row;
}

/** The rows of a statement that the builder has no words for, each checked as it arrives. */
export async function checkedRows<Row>(db: Queryable, row: RowSchema<Row>, text: string, values: unknown[] = []): Promise<Row[]> {
  const { rows } = await db.query(text, values);
  return rows.map((one) => row.parse(one));
}

/** The first of them. */
export const checkedRow = async <Row>(db: Queryable, row: RowSchema<Row>, text: string, values?: unknown[]): Promise<Row | undefined> =>
  (await checkedRows(db, row, text, values))[0];

/** A condition on what a caller names: what is left out filters nothing. */
export const ifGiven = <Value>(value: Value | undefined, condition: (value: Value) => Expression<SqlBool>): Expression<SqlBool> =>
  value === undefined ? sql<SqlBool>`true` : condition(value);

/** One of a list, as one parameter however long it is: `where('id', '=', anyOf(ids))`. */
export const anyOf = <Value>(values: readonly Value[]): RawBuilder<Value> => sql<Value>`any(${values})`;

/** A value of a `json` or `jsonb` column: the driver would write an array as one of PostgreSQL's. */
export const asJson = <T>(value: T): RawBuilder<T> => sql<T>`${JSON.stringify(value)}`;

/** The transaction of a unit of work; `unit` is what `em.transactional` passes in. */
export const inUnit = (unit: EntityManager): Queryable => ({
  async query(text, values = []) {
    const { rows, numAffectedRows } = await unit.getKysely().executeQuery(CompiledQuery.raw(text, values));
    return { rows, rowCount: numAffectedRows === undefined ? rows.length : Number(numAffectedRows) };
  },
});
