import type { Connection, PoolClient, Submittable } from 'pg';

/** Rows of a table in the text format of `COPY`, a line each. */
export interface CopiedRows {
  readonly columns: readonly string[];
  readonly lines: readonly string[];
}

/** @throws RangeError for a text that is no Unicode: PostgreSQL would be sent another one */
export function copiedRows(rows: readonly object[]): CopiedRows {
  const columns = Object.keys(rows[0] ?? {});
  return { columns, lines: rows.map((row) => columns.map((column) => copyField((row as Record<string, unknown>)[column])).join('\t')) };
}

const SPECIAL = /[\\\t\n\r]/;
const EVERY_SPECIAL = /[\\\t\n\r]/g;
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** One value: objects and lists as JSON, what is not there as null. @throws RangeError as above */
export function copyField(value: unknown): string {
  if (value === null || value === undefined) return '\\N';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  if (!text.isWellFormed()) throw new RangeError('A text has half of a surrogate pair');
  return SPECIAL.test(text) ? text.replace(EVERY_SPECIAL, (character) => ESCAPES[character] ?? character) : text;
}

/** A value of a column of texts, as PostgreSQL writes arrays. */
export const arrayText = (texts: readonly string[]): string => `{${texts.map((text) => `"${text.replace(/[\\"]/g, '\\$&')}"`).join()}}`;

/**
 * Inserts rows by `COPY`: neither planned nor taken apart as JSON, and written to the write-ahead log by the page. What the table refuses it
 * refuses as from an INSERT, with the same codes.
 */
export async function copyInto(client: PoolClient, table: string, { columns, lines }: CopiedRows): Promise<void> {
  if (lines.length === 0) return;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const rows = Buffer.from(`${lines.join('\n')}\n`);
  client.query(new CopyIn(`copy ${table} (${columns.join()}) from stdin`, rows, { resolve, reject }));
  try {
    await promise;
  } catch (error) {
    // As pg does with its own: a trace that began in the socket would not name who asked.
    if (error instanceof Error) Error.captureStackTrace(error);
    throw error;
  }
}

/** What pg's connection has for `COPY`, and its types do not name. */
interface CopyConnection {
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

/** What pg calls while the statement runs. */
class CopyIn implements Submittable {
  readonly #text: string;
  readonly #rows: Buffer;
  readonly #done: { readonly resolve: () => void; readonly reject: (error: unknown) => void };

  constructor(text: string, rows: Buffer, done: { readonly resolve: () => void; readonly reject: (error: unknown) => void }) {
    this.#text = text;
    this.#rows = rows;
    this.#done = done;
  }

  submit(connection: Connection): void {
    connection.query(this.#text);
  }

  handleCopyInResponse(connection: CopyConnection): void {
    connection.sendCopyFromChunk(this.#rows);
    connection.endCopyFrom();
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.#done.resolve();
  }

  handleError(error: Error): void {
    this.#done.reject(error);
  }
}
