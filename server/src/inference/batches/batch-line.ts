import type { BatchError } from '@tallygate/contract';
import * as z from 'zod';
import { INFERENCE_JSON, JsonScan } from '../../kernel/json-scan.ts';
import { Problem } from '../../kernel/problem.ts';
import { readJson } from '../../kernel/read-json.ts';
import { breather } from '../../kernel/turn.ts';
import { writtenJson } from '../../kernel/written-json.ts';
import { type Call, type Caller, type KeptAnswer, type Operation, receivedJson, type Work } from '../calls/index.ts';
import type { StoredBatch } from './stored-batch.ts';

/** What a line asks for. */
export interface LineRequest {
  readonly customId: string;
  readonly body: LineBody;
}

interface LineBody {
  /** Compact JSON. */
  readonly bytes: Buffer;
  /** What that says. */
  readonly value: unknown;
}

/** A line that cannot be told from others: with one of them nothing of the file is run. */
export type NamelessLine = Omit<BatchError, 'line'>;

/** A line that fails by itself, as the request would that it asks for. */
export interface FailedLine {
  readonly customId: string;
  readonly problem: Problem;
}

const Named = z.looseObject({
  custom_id: z
    .string()
    .min(1)
    .max(512)
    .refine((text) => text.isWellFormed() && !text.includes('\0')),
});

const Line = z.looseObject({
  method: z.string(),
  url: z.string(),
  body: z.record(z.string(), z.unknown()),
});

/** A line of the input file, or what is wrong with it, in OpenAI's words where it has some. */
export async function readLine(bytes: Buffer | null, endpoint: string): Promise<LineRequest | FailedLine | NamelessLine> {
  const value = bytes === null ? undefined : await jsonOf(bytes);
  if (value === 'too_complex')
    return {
      code: 'body_too_complex',
      message: 'This line has more values, fields or levels than a request may have: split it.',
      param: null,
    };
  if (value === undefined) return { code: 'invalid_json_line', message: 'This line is not parseable as valid JSON.', param: null };
  const named = Named.safeParse(value);
  if (!named.success) {
    const isMissing = !('custom_id' in value);
    const message = `custom_id ${isMissing ? 'is missing' : 'is not valid'}: every line has custom_id, method, url and body.`;
    return { code: isMissing ? 'missing_required_parameter' : 'invalid_parameter', message, param: 'custom_id' };
  }
  const { custom_id: customId } = named.data;
  const parsed = Line.safeParse(value);
  const fault = parsed.success ? faultOf(parsed.data, endpoint) : unreadable(value, parsed.error);
  if (fault) return { customId, problem: new Problem('validation_failed', fault.message, { param: fault.param }) };
  const body = parsed.data?.body ?? {};
  return { customId, body: { bytes: await writtenJson(body), value: body } };
}

interface Fault {
  readonly message: string;
  readonly param: string;
}

function unreadable(value: object, { issues }: z.ZodError): Fault {
  const param = String(issues[0]?.path[0] ?? 'body');
  const message = `${param} ${param in value ? 'is not valid' : 'is missing'}: every line has custom_id, method, url and body.`;
  return { message, param };
}

function faultOf({ method, url, body }: z.infer<typeof Line>, endpoint: string): Fault | undefined {
  if (method !== 'POST') return { message: `The method of a line is POST, not ${method.slice(0, 20)}.`, param: 'method' };
  if (url !== endpoint) return { message: `The url of this line is not ${endpoint}, the endpoint of the batch.`, param: 'url' };
  // A batch has nobody to stream to, nor to come back later: its own answer comes later.
  const param = ['stream', 'background'].find((name) => body[name] === true);
  return param === undefined ? undefined : { message: `\`${param}\` cannot be true in a batch.`, param };
}

const PIECE_BYTES = 262_144;

async function jsonOf(bytes: Buffer): Promise<object | undefined | 'too_complex'> {
  try {
    const scan = new JsonScan(INFERENCE_JSON);
    const rest = breather();
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      scan.take(bytes.subarray(at, at + PIECE_BYTES));
      await rest();
    }
    const value: unknown = await readJson(bytes);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch (error) {
    return error instanceof Problem ? 'too_complex' : undefined;
  }
}

/** @throws Problem where the endpoint does not take the body */
export async function workOfLine({ bytes, value }: LineBody, operation: Operation, caller: Caller): Promise<Work> {
  const rest = breather();
  const parsed = operation.schema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const param = issue?.path.join('.') ?? '';
    throw new Problem('validation_failed', `\`${param}\` ${issue?.message ?? 'is not valid'}.`, { param });
  }
  await rest();
  return operation.workOf(parsed.data, receivedJson(bytes), caller);
}

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
