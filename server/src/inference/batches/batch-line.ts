import type { BatchError } from '@tallygate/contract';
import * as z from 'zod';
import { INFERENCE_JSON, JsonScan } from '../../kernel/json-scan.ts';
import { Problem } from '../../kernel/problem.ts';
import { readJson } from '../../kernel/read-json.ts';
import { writtenJson } from '../../kernel/written-json.ts';
import { type Call, type Caller, type KeptAnswer, type Operation, receivedJson, type Work } from '../calls/index.ts';
import type { StoredBatch } from './stored-batch.ts';

/** What a line asks for. */
export interface LineRequest {
  readonly customId: string;
  /** The body, as compact JSON. */
  readonly body: string;
}

type Faulty = Omit<BatchError, 'line'>;

const Line = z.looseObject({
  custom_id: z.string().min(1).max(512),
  method: z.string(),
  url: z.string(),
  body: z.record(z.string(), z.unknown()),
});

/** A line of the input file, or what is wrong with it, in OpenAI's words where it has some. */
export async function readLine(text: string | null, endpoint: string): Promise<LineRequest | Faulty> {
  const value = text === null ? undefined : await jsonOf(Buffer.from(text));
  if (value === 'too_complex')
    return {
      code: 'body_too_complex',
      message: 'This line has more values, fields or levels than a request may have: split it.',
      param: null,
    };
  if (value === undefined) return { code: 'invalid_json_line', message: 'This line is not parseable as valid JSON.', param: null };
  const parsed = Line.safeParse(value);
  if (!parsed.success) {
    const param = String(parsed.error.issues[0]?.path[0] ?? '') || null;
    const isMissing = param === null || !(param in value);
    const message = `${param ?? 'The line'} ${isMissing ? 'is missing' : 'is not valid'}: every line has custom_id, method, url and body.`;
    return { code: isMissing ? 'missing_required_parameter' : 'invalid_parameter', message, param };
  }
  const { custom_id: customId, method, url, body } = parsed.data;
  if (!customId.isWellFormed() || customId.includes('\0'))
    return { code: 'invalid_parameter', message: 'custom_id is not valid text.', param: 'custom_id' };
  if (method !== 'POST')
    return { code: 'invalid_method', message: `The method of a line is POST, not ${method.slice(0, 20)}.`, param: 'method' };
  if (url !== endpoint)
    return { code: 'mismatched_endpoint', message: `The url of this line is not ${endpoint}, the endpoint of the batch.`, param: 'url' };
  // A batch has nobody to stream to, nor to come back later: its own answer comes later.
  for (const param of ['stream', 'background'])
    if (body[param] === true)
      return { code: 'invalid_request', message: `\`${param}\` cannot be true in a batch.`, param: `body.${param}` };
  return { customId, body: (await writtenJson(body)).toString() };
}

async function jsonOf(bytes: Buffer): Promise<object | undefined | 'too_complex'> {
  try {
    new JsonScan(INFERENCE_JSON).take(bytes);
    const value: unknown = await readJson(bytes);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch (error) {
    return error instanceof Problem ? 'too_complex' : undefined;
  }
}

/** @throws Problem where the endpoint does not take the body */
export async function workOfLine(body: string, operation: Operation, caller: Caller): Promise<Work> {
  const bytes = Buffer.from(body);
  const parsed = operation.schema.safeParse(await readJson(bytes));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const param = issue?.path.join('.') ?? '';
    throw new Problem('validation_failed', `\`${param}\` ${issue?.message ?? 'is not valid'}.`, { param });
  }
  return operation.workOf(parsed.data, receivedJson(bytes), caller);
}

/** What a fault of the body is called in the batch's errors. */
export const bodyFault = ({ code, message, extras: { param } }: Problem): Faulty => ({
  code: code === 'validation_failed' ? 'invalid_request' : code,
  message,
  param: param === undefined ? 'body' : `body.${param}`,
});

interface LineOfBatch {
  readonly batch: StoredBatch;
  readonly caller: Caller;
  readonly work: Work;
  readonly ids: Pick<Call, 'requestId' | 'receiptId' | 'attemptsBefore'>;
  readonly signal: AbortSignal;
  /** The line's place in the batch's agent run, where it has one. */
  readonly run?: Call['run'];
  readonly surface?: Call['surface'];
}

/** A line as a call: at the time and on the plan that the batch is held for. */
export const callOf = ({ batch, caller, work, ids, signal, run, surface }: LineOfBatch): Call => ({
  ...{ requestId: ids.requestId, receiptId: ids.receiptId, attemptsBefore: ids.attemptsBefore ?? 0 },
  clientRequestId: null,
  startedAt: batch.heldAt.getTime(),
  startedTick: performance.now(),
  grant: { ...caller, plan: batch.heldPlan },
  headers: headersOf(batch),
  work,
  clientSignature: null,
  signal,
  kind: 'batch_line',
  ...(run && { run }),
  ...(surface && { surface }),
});

type RunOf = Pick<StoredBatch, 'runId' | 'runCap' | 'parentRunId' | 'runCalls' | 'runDeadlineAt' | 'anchorWished'>;

export const headersOf = ({ runId, runCap, parentRunId, runCalls, runDeadlineAt, anchorWished }: RunOf): Call['headers'] => ({
  runId,
  runCap,
  ...(parentRunId !== null && { parentRunId }),
  ...(runCalls !== null && { runCalls }),
  ...(runDeadlineAt !== null && { runDeadline: { at: runDeadlineAt.getTime() } }),
  ...(anchorWished && { anchorWished }),
  budgetPolicy: 'strict',
  fallbackPolicy: 'deployment',
  sandboxFault: undefined,
});

interface AnsweredLine extends Pick<Call, 'requestId'> {
  readonly customId: string;
  /** Null where it came to no settlement, and so to no receipt. */
  readonly receiptId: string | null;
}

/** A line of the output file, or of the error file, without its end. */
export function outputLine(
  { requestId, receiptId, customId }: AnsweredLine,
  { status, body, promise }: Pick<KeptAnswer, 'status' | 'body'> & Partial<KeptAnswer>,
): string {
  const text = body.toString('utf8');
  // Most bodies are written by us, in one line.
  const json = text.includes('\n') ? JSON.stringify(JSON.parse(text)) : text;
  const promised = promise === undefined ? '' : `"receipt_promise":"${promise}",`;
  const receipt = receiptId === null ? '' : `"receipt_id":"${receiptId}",${promised}`;
  const response = `{"status_code":${status},"request_id":"${requestId}",${receipt}"body":${json}}`;
  return `{"id":"batch_${requestId}","custom_id":${JSON.stringify(customId)},"response":${response},"error":null}`;
}
