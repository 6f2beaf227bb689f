import type { Pool } from 'pg';
import { createGate } from './gate.ts';

const ROWS_AT_ONCE = 500;

interface RowSchema<Row> {
  parse(row: unknown): Row;
}

interface Statement<Row> {
  readonly row: RowSchema<Row>;
  readonly text: string;
  readonly values: unknown[];
}

/**
 * Reads answers of any length, some hundred rows at a time and as fast as they are taken. PostgreSQL keeps the whole answer, on its disk where it
 * is long, as of the moment in which the statement ran: a slow reader holds up no cleaning of tables. Each one occupies a connection until it is
 * read or left.
 * @param mostAtOnce the others wait for their turn
 */
export function createRowWalker(pool: Pool, mostAtOnce: number) {
  const inTurn = createGate(mostAtOnce);

  return async function* walk<Row>({ row, text, values }: Statement<Row>): AsyncGenerator<Row[], void, undefined> {
    const left = Promise.withResolvers<void>();
    const entered = Promise.withResolvers<void>();
    void inTurn(() => {
      entered.resolve();
      return left.promise;
    });
    await entered.promise;
    try {
      const client = await pool.connect();
      let isClosed = false;
      try {
        await client.query(`declare walked no scroll cursor with hold for ${text}`, values);
        for (;;) {
          const { rows } = await client.query(`fetch forward ${ROWS_AT_ONCE} from walked`);
          if (rows.length > 0) yield rows.map((one) => row.parse(one));
          if (rows.length < ROWS_AT_ONCE) break;
        }
        await client.query('close walked');
        isClosed = true;
      } finally {
        // Of an answer that was left halfway the connection is closed, and with it what PostgreSQL keeps.
        client.release(!isClosed);
      }
    } finally {
      left.resolve();
    }
  };
}

export type WalkRows = ReturnType<typeof createRowWalker>;
