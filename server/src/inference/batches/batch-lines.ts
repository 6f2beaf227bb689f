import type { ReceiptUsage } from '@tallygate/contract';
import { sql } from 'kysely';
import type { Pool } from 'pg';
import * as z from 'zod';
import type { InFlight, PartSettlement, Units } from '../../adapters/lanes/port.ts';
import { checkedRows, firstOf, rowsOf, run } from '../../kernel/statements.ts';
import type { SettlementRecord } from '../../money/ledger/index.ts';
import type { WorstCase } from '../calls/index.ts';
import type { ContentKeys } from '../stored-content/index.ts';
import { type LineRow, lineRow, type PlaceOfLine } from './line-row.ts';
import { tables } from './tables.ts';
import { readUnits, settlementOf, type WrittenSettlement, writtenUnits } from './written-settlement.ts';

/** A line that has not been answered. */
export interface WaitingLine {
  readonly number: number;
  readonly customId: string;
  readonly requestId: string;
  readonly receiptId: string;
  readonly body: Buffer;
  readonly reserved: WorstCase;
  /** Calls of it that are settled, or cost nothing. */
  attemptsBefore: number;
}

/** A call of a line whose process died, or gave it up, while a provider was at work. */
export interface LostCall {
  readonly number: number;
  readonly part: PartSettlement;
  /** Which of the line's calls it was, from 1. */
  readonly attempt: number;
}

/** What a line came to, kept before it is settled. */
export interface LineAnswer {
  /** As it will stand in its file. */
  readonly output: string;
  readonly isError: boolean;
  readonly usage: ReceiptUsage;
  readonly cost: bigint;
  readonly units: Units;
  readonly record: string;
}

const PAGE_LINES = 64;
const PAGE_BYTES = 1024 * 1024;
/** Settled lines that are marked together: a mark that is lost is made up for by asking the ledger. */
const MARKS = 20;

const NOTHING: WorstCase = { amount: 0n, units: {} };
const LINE_END = Buffer.from('\n');

const Reserved = z.object({ meter: z.string(), sum: z.string() });

/** Rows of `batch_lines`: what is known of each line of the batches that are worked on. */
export class BatchLines {
  readonly #pool: Pool;
  /** Settled and not marked so, by batch. */
  readonly #unmarked = new Map<string, number[]>();

  readonly #content: ContentKeys;
  /** Of the batches that are worked on here. */
  readonly #accounts = new Map<string, string>();

  constructor(pool: Pool, content: ContentKeys) {
    this.#pool = pool;
    this.#content = content;
  }

  async #accountOf(batchId: string): Promise<string> {
    const known = this.#accounts.get(batchId);
    if (known !== undefined) return known;
    const batch = await firstOf(this.#pool, tables.selectFrom('batches').select('account_id').where('id', '=', batchId));
    if (!batch) throw new Error(`There is no batch ${batchId}`);
    this.#accounts.set(batchId, batch.account_id);
    return batch.account_id;
  }

  async #sealed(batchId: string, line: number, column: Column, text: string | Buffer): Promise<string> {
    return this.#content.seal(await this.#accountOf(batchId), placeOf(batchId, line, column), text);
  }

  async #opened(batchId: string, line: number, column: Column, stored: string): Promise<Buffer> {
    return this.#content.openBytes(await this.#accountOf(batchId), placeOf(batchId, line, column), stored);
  }

  /** @param body of a line that is to be run */
  async waitingRow(place: PlaceOfLine, body: Buffer, worstCase: WorstCase) {
    const request = await this.#sealed(place.batchId, place.number, 'request', body);
    return lineRow(place, worstCase, { state: 'waiting', is_error: null, request, output: null });
  }

  /** @param refusal of a line that is not run: what its file says of it */
  async refusedRow(place: PlaceOfLine, refusal: string) {
    const output = await this.#sealed(place.batchId, place.number, 'output', refusal);
    return lineRow(place, NOTHING, { state: 'done', is_error: true, request: null, output });
  }

  async insert(rows: readonly LineRow[]): Promise<void> {
    await run(this.#pool, tables.insertInto('batch_lines').values(rows));
  }

  async deleteAll(batchId: string): Promise<void> {
    this.#accounts.delete(batchId);
    await this.#pool.query('delete from batch_lines where batch_id = $1', [batchId]);
  }

  /** What is not done, all together: a line whose call was lost may cost as much again. */
  async worstCase(batchId: string): Promise<WorstCase> {
    const rows = await checkedRows(
      this.#pool,
      Reserved,
      `with undone as (
         select reserved_nano, reserved_units, (state <> 'done')::int + (in_flight is not null)::int as calls
           from batch_lines where batch_id = $1 and (state <> 'done' or in_flight is not null))
       select '' as meter, coalesce(sum(reserved_nano * calls), 0)::text as sum from undone
       union all
       select key, sum(value::numeric * calls)::text from undone, json_each_text(reserved_units) group by key`,
      [batchId],
    );
    const sums = new Map(rows.map(({ meter, sum }) => [meter, BigInt(sum)]));
    const amount = sums.get('') ?? 0n;
    sums.delete('');
    return { amount, units: Object.fromEntries(sums) };
  }

  /** Lines without an answer, in order, a page at a time: whoever asks for them need not have room for all. */
  async *waiting(batchId: string): AsyncGenerator<WaitingLine> {
    for (let after = 0; ; ) {
      const page = await this.#pageOfWaiting(batchId, after);
      const last = page.at(-1);
      if (!last) return;
      after = last.number;
      yield* page;
    }
  }

  /** Opened all together: nothing is kept of what they were sealed as. */
  async #pageOfWaiting(batchId: string, after: number): Promise<WaitingLine[]> {
    const lines = tables.selectFrom('batch_lines').where('batch_id', '=', batchId).where('state', '=', 'waiting').where('line', '>', after);
    const page = lines.selectAll().orderBy('line').limit(PAGE_LINES).as('page');
    const sized = tables
      .selectFrom(page)
      .selectAll()
      .select(sql<bigint>`sum(octet_length(request)) over (order by line) - octet_length(request)`.as('bytes_before'))
      .as('sized');
    const rows = await rowsOf(
      this.#pool,
      tables
        .selectFrom(sized)
        .select(['line', 'custom_id', 'request_id', 'receipt_id', 'reserved_nano', 'reserved_units', 'attempts_before'])
        // Until it is answered it has one.
        .select((eb) => eb.ref('request').$notNull().as('request'))
        .where('bytes_before', '<', BigInt(PAGE_BYTES))
        .orderBy('line'),
    );
    return Promise.all(
      rows.map(async (row) => ({
        number: row.line,
        customId: row.custom_id,
        requestId: row.request_id,
        receiptId: row.receipt_id,
        body: await this.#opened(batchId, row.line, 'request', row.request),
        reserved: { amount: row.reserved_nano, units: readUnits(row.reserved_units) },
        attemptsBefore: row.attempts_before,
      })),
    );
  }

  /** A provider is asked next: what settles that should nobody ever say what came of it. @throws where somebody else has answered the line */
  async begun(batchId: string, line: number, { cost, units, record }: InFlight): Promise<void> {
    const { rowCount } = await this.#pool.query(
      "update batch_lines set in_flight = $3 where batch_id = $1 and line = $2 and state = 'waiting'",
      [batchId, line, JSON.stringify({ cost: cost.toString(), units: writtenUnits(units), record } satisfies WrittenSettlement)],
    );
    if (rowCount !== 1) throw new Error(`Line ${line} of ${batchId} is answered already`);
  }

  /** No provider is at work for it any more, and none bills. */
  async ended(batchId: string, { number, attemptsBefore }: WaitingLine): Promise<void> {
    await this.#pool.query('update batch_lines set in_flight = null, attempts_before = $3 where batch_id = $1 and line = $2', [
      ...[batchId, number, attemptsBefore],
    ]);
  }

  /** Calls that were begun and came to nothing that is known. To be asked while nobody runs a line of the batch. */
  async lost(batchId: string): Promise<LostCall[]> {
    const rows = await rowsOf(
      this.#pool,
      tables
        .selectFrom('batch_lines')
        .select(['line', 'receipt_id', 'reserved_nano', 'reserved_units'])
        .select((eb) => eb.ref('in_flight').$notNull().as('in_flight'))
        .where('batch_id', '=', batchId)
        .where('in_flight', 'is not', null)
        .orderBy('line'),
    );
    return rows.map(({ line, receipt_id, reserved_nano, reserved_units, in_flight }) => ({
      number: line,
      part: {
        partId: receipt_id,
        reserved: { amount: reserved_nano, units: readUnits(reserved_units) },
        ...settlementOf(in_flight),
      },
      attempt: (JSON.parse(in_flight.record) as Pick<SettlementRecord, 'attempt'>).attempt,
    }));
  }

  /** The lost call is settled: the next one of the line has a receipt of its own. */
  async lostSettled(batchId: string, { number, attempt }: LostCall, receiptId: string): Promise<void> {
    await this.#pool.query(
      'update batch_lines set in_flight = null, attempts_before = $3, receipt_id = $4 where batch_id = $1 and line = $2',
      [batchId, number, attempt, receiptId],
    );
  }

  /** Before it is settled. False when somebody else has answered the line. */
  async answered(batchId: string, line: number, { output, isError, usage, cost, units, record }: LineAnswer): Promise<boolean> {
    const settlement = JSON.stringify({ cost: cost.toString(), units: writtenUnits(units), record });
    const { rowCount } = await this.#pool.query(
      `update batch_lines set state = 'answered', request = null, in_flight = null, output = $3, is_error = $4, settlement = $5,
              input_tokens = $6, cached_tokens = $7, output_tokens = $8, reasoning_tokens = $9
        where batch_id = $1 and line = $2 and state = 'waiting'`,
      [
        ...[batchId, line, await this.#sealed(batchId, line, 'output', output), isError, settlement],
        ...[usage.input_tokens, usage.cached_input_tokens, usage.output_tokens, usage.reasoning_tokens],
      ],
    );
    return rowCount === 1;
  }

  /** Its mark may wait for {@link markSettled}, which has to come before the batch ends. */
  async settled(batchId: string, line: number): Promise<void> {
    const unmarked = this.#unmarked.get(batchId) ?? [];
    this.#unmarked.set(batchId, unmarked);
    if (unmarked.push(line) >= MARKS) await this.markSettled(batchId);
  }

  async markSettled(batchId: string): Promise<void> {
    const lines = this.#unmarked.get(batchId) ?? [];
    this.#unmarked.delete(batchId);
    if (lines.length === 0) return;
    await this.#pool.query("update batch_lines set state = 'done', settlement = null where batch_id = $1 and line = any($2)", [
      batchId,
      lines,
    ]);
  }

  /** A line that never got as far as a provider: there is nothing to settle. */
  async refused(batchId: string, line: number, output: string): Promise<void> {
    await this.#pool.query(
      `update batch_lines set state = 'done', request = null, is_error = true, output = $3
        where batch_id = $1 and line = $2 and state = 'waiting'`,
      [batchId, line, await this.#sealed(batchId, line, 'output', output)],
    );
  }

  /** All lines without an answer, for one reason. */
  async giveUp(batchId: string, error: { readonly code: string; readonly message: string }): Promise<void> {
    await this.#pool.query(
      `update batch_lines set state = 'done', request = null, is_error = true,
              output = '{"id":"batch_' || request_id || '","custom_id":' || to_json(custom_id)::text || ',"response":null,"error":' || $2 || '}'
        where batch_id = $1 and state = 'waiting'`,
      [batchId, JSON.stringify(error)],
    );
  }

  /** Lines that were answered and, as far as is known here, not settled. */
  async unsettled(batchId: string): Promise<{ number: number; part: PartSettlement }[]> {
    const rows = await rowsOf(
      this.#pool,
      tables
        .selectFrom('batch_lines')
        .select(['line', 'receipt_id', 'reserved_nano', 'reserved_units'])
        .select((eb) => eb.ref('settlement').$notNull().as('settlement'))
        .where('batch_id', '=', batchId)
        .where('state', '=', 'answered')
        .orderBy('line'),
    );
    return rows.map(({ line, receipt_id, reserved_nano, reserved_units, settlement }) => ({
      number: line,
      part: {
        partId: receipt_id,
        reserved: { amount: reserved_nano, units: readUnits(reserved_units) },
        ...settlementOf(settlement),
      },
    }));
  }

  async has(batchId: string, isError: boolean): Promise<boolean> {
    const lines = tables.selectFrom('batch_lines').select('line').where('batch_id', '=', batchId).where('is_error', '=', isError);
    return (await firstOf(this.#pool, lines.limit(1))) !== undefined;
  }

  /** The bytes of a file, in the order of the input. */
  async *file(batchId: string, isError: boolean): AsyncGenerator<Buffer> {
    let after = 0;
    for (;;) {
      const lines = tables
        .selectFrom('batch_lines')
        .where('batch_id', '=', batchId)
        .where('is_error', '=', isError)
        .where('line', '>', after);
      const page = lines.select(['line', 'output']).orderBy('line').limit(1000).as('page');
      const sized = tables
        .selectFrom(page)
        .selectAll()
        .select(sql<bigint>`sum(octet_length(output)) over (order by line) - octet_length(output)`.as('bytes_before'))
        .as('sized');
      const rows = await rowsOf(
        this.#pool,
        tables
          .selectFrom(sized)
          .select((eb) => ['line' as const, eb.ref('output').$notNull().as('output')])
          .where('bytes_before', '<', BigInt(PAGE_BYTES))
          .orderBy('line'),
      );
      const last = rows.at(-1);
      if (!last) return;
      after = last.line;
      for (const { line, output } of rows) {
        yield await this.#opened(batchId, line, 'output', output);
        yield LINE_END;
      }
    }
  }
}

type Column = 'request' | 'output';
/** What a line is sealed as. */
const placeOf = (batchId: string, line: number, column: Column): string => `${column} of line ${line} of batch ${batchId}`;
