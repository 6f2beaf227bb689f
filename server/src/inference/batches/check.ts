import type { BatchError } from '@tallygate/contract';
import { newReceiptId, newRequestId } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import { breather } from '../../kernel/turn.ts';
import type { Caller, Operation } from '../calls/index.ts';
import { worstCaseOf } from '../calls/index.ts';
import { bodyFault, callOf, readLine, workOfLine } from './batch-line.ts';
import type { BatchLines, NewLine } from './batch-lines.ts';
import type { BatchDeps } from './deps.ts';
import { linesOf, type TextLine } from './jsonl.ts';
import type { StoredBatch } from './stored-batch.ts';

const MOST_LINES = 50_000;
/** As much as a request may have that is sent by itself, and what is around it. */
const MOST_LINE_BYTES = 11 * 1024 * 1024;
const MOST_ERRORS = 100;
const CHUNK_LINES = 200;
const CHUNK_BYTES = 1024 * 1024;

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
 * Reads every line of the input, finds its worst case and stores it. What is wrong is collected, up to a hundred faults; then nothing of
 * the batch is to be run.
 */
export async function checkLines(
  content: AsyncIterable<Uint8Array>,
  checking: Checking,
  lines: BatchLines,
  { inference }: Pick<BatchDeps, 'inference'>,
): Promise<Checked> {
  const { batch } = checking;
  const errors: BatchError[] = [];
  const customIds = new Set<string>();
  const models = new Set<string>();
  let chunk: NewLine[] = [];
  let chunkBytes = 0;
  let total = 0;
  const store = async () => {
    if (errors.length === 0 && chunk.length > 0) await lines.insert(batch.id, chunk);
    chunk = [];
    chunkBytes = 0;
  };
  const rest = breather();
  for await (const text of linesOf(content, MOST_LINE_BYTES)) {
    // Lines that are wrong are not stored, and nothing else is waited for.
    await rest();
    total += 1;
    if (total > MOST_LINES) {
      errors.push({ code: 'too_many_lines', message: `A batch may have ${MOST_LINES} lines.`, param: null, line: text.number });
      break;
    }
    const checked = await checkLine(text, checking, customIds, inference);
    if ('code' in checked) {
      errors.push({ ...checked, line: text.number });
      if (errors.length === MOST_ERRORS) break;
      continue;
    }
    models.add(checked.model);
    chunk.push(checked.line);
    chunkBytes += checked.line.body.length;
    if (chunk.length >= CHUNK_LINES || chunkBytes >= CHUNK_BYTES) await store();
  }
  await store();
  if (total === 0) errors.push({ code: 'empty_file', message: 'The input file has no lines.', param: null, line: null });
  const [model = null] = models;
  return { errors, total, model: models.size === 1 ? model : null };
}

async function checkLine(
  { text, number }: TextLine,
  { batch, caller, operation }: Checking,
  customIds: Set<string>,
  deps: BatchDeps['inference'],
): Promise<{ line: NewLine; model: string } | Omit<BatchError, 'line'>> {
  const request = await readLine(text, batch.endpoint);
  if ('code' in request) return request;
  if (customIds.has(request.customId))
    return { code: 'duplicate_custom_id', message: 'The custom_id of this line is that of an earlier one.', param: 'custom_id' };
  customIds.add(request.customId);
  const ids = { requestId: newRequestId(), receiptId: newReceiptId() };
  try {
    const work = await workOfLine(request.body, operation, caller);
    const worstCase = worstCaseOf(callOf({ batch, caller, work, ids, signal: new AbortController().signal }), deps);
    return { line: { ...request, ...ids, number, worstCase }, model: work.model };
  } catch (thrown) {
    if (thrown instanceof Problem && thrown.status < 500) return bodyFault(thrown);
    if (thrown instanceof Problem && thrown.code === 'no_provider_configured') return bodyFault(thrown);
    throw thrown;
  }
}
