import type { BatchError } from '@tallygate/contract';
import { newReceiptId, newRequestId } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import { breather } from '../../kernel/turn.ts';
import { type Caller, type Operation, worstCaseOf } from '../calls/index.ts';
import { callOf, type LineRequest, type NamelessLine, outputLine, readLine, workOfLine } from './batch-line.ts';
import type { BatchLines } from './batch-lines.ts';
import type { BatchDeps } from './deps.ts';
import { linesOf, type TextLine } from './jsonl.ts';
import type { LineRow, PlaceOfLine } from './line-row.ts';
import type { StoredBatch } from './stored-batch.ts';

const MOST_LINES = 50_000;
/** As much as a request may have that is sent by itself, and what is around it. */
const MOST_LINE_BYTES = 11 * 1024 * 1024;
const MOST_ERRORS = 100;
const CHUNK_LINES = 200;
/** As they are sealed. */
const CHUNK_CHARACTERS = 1024 * 1024;

export interface Checked {
  readonly errors: readonly BatchError[];
  readonly total: number;
  /** Null where the lines ask for several. */
  readonly model: string | null;
}

interface Checking {
  readonly batch: StoredBatch;
  readonly caller: Caller;
  readonly operation: Operation;
}

/**
 * Reads every line of the input, finds its worst case and stores it. A request that would be refused by itself is stored with its refusal.
 * Lines that cannot be told apart are collected, up to a hundred; then nothing of the batch is to be run.
 */
export async function checkLines(
  content: AsyncIterable<Uint8Array>,
  checking: Checking,
  lines: BatchLines,
  { inference }: Pick<BatchDeps, 'inference'>,
): Promise<Checked> {
  const errors: BatchError[] = [];
  const customIds = new Set<string>();
  const models = new Set<string>();
  let chunk: LineRow[] = [];
  let chunkCharacters = 0;
  let total = 0;
  const store = async () => {
    if (errors.length === 0 && chunk.length > 0) await lines.insert(chunk);
    chunk = [];
    chunkCharacters = 0;
  };
  const rest = breather();
  for await (const line of linesOf(content, MOST_LINE_BYTES)) {
    // Lines that are wrong are not stored, and nothing else is waited for.
    await rest();
    total += 1;
    if (total > MOST_LINES) {
      errors.push({ code: 'too_many_lines', message: `A batch may have ${MOST_LINES} lines.`, param: null, line: line.number });
      break;
    }
    const checked = await checkLine(line, checking, customIds, { inference, lines });
    if ('code' in checked) {
      errors.push({ ...checked, line: line.number });
      if (errors.length === MOST_ERRORS) break;
      continue;
    }
    if (checked.model !== undefined) models.add(checked.model);
    chunk.push(checked.row);
    chunkCharacters += checked.row.request?.length ?? 0;
    if (chunk.length >= CHUNK_LINES || chunkCharacters >= CHUNK_CHARACTERS) await store();
  }
  await store();
  if (total === 0) errors.push({ code: 'empty_file', message: 'The input file has no lines.', param: null, line: null });
  const [model = null] = models;
  return { errors, total, model: models.size === 1 ? model : null };
}

type Known = { readonly row: LineRow; readonly model?: string };

interface CheckDeps extends Pick<BatchDeps, 'inference'> {
  readonly lines: BatchLines;
}

async function checkLine(
  { bytes, number }: TextLine,
  checking: Checking,
  customIds: Set<string>,
  deps: CheckDeps,
): Promise<Known | NamelessLine> {
  const request = await readLine(bytes, checking.batch.endpoint);
  if ('code' in request) return request;
  const { customId } = request;
  if (customIds.has(customId))
    return { code: 'duplicate_custom_id', message: 'The custom_id of this line is that of an earlier one.', param: 'custom_id' };
  customIds.add(customId);
  const ids = { requestId: newRequestId(), receiptId: newReceiptId() };
  const place = { batchId: checking.batch.id, number, customId, ...ids };
  try {
    if ('problem' in request) throw request.problem;
    return await runnableLine(request, place, checking, deps);
  } catch (thrown) {
    // What fails over the gateway itself is no answer to the line.
    if (!(thrown instanceof Problem) || (thrown.status >= 500 && thrown.code !== 'no_provider_configured')) throw thrown;
    const { surface } = checking.operation.metadata;
    const { status, body } = deps.inference.problemReply(thrown, { requestId: ids.requestId, clientRequestId: null, surface });
    const refusal = outputLine({ requestId: ids.requestId, customId, receiptId: null }, { status, body });
    return { row: await deps.lines.refusedRow(place, refusal) };
  }
}

async function runnableLine(
  { body }: LineRequest,
  place: PlaceOfLine,
  { batch, caller, operation }: Checking,
  { inference, lines }: CheckDeps,
): Promise<Known> {
  const work = await workOfLine(body, operation, caller);
  const worstCase = worstCaseOf(callOf({ batch, caller, work, ids: place, signal: new AbortController().signal }), inference);
  return { row: await lines.waitingRow(place, body.bytes, worstCase), model: work.model };
}
