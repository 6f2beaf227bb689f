import type { ServerResponse } from 'node:http';
import { type ChatRequest, plainBody, planAnswer } from './completion.ts';
import { eventStream } from './event-stream.ts';
import type { Step } from './step.ts';
import { breakOff, type Progress, pieces, write } from './wire.ts';

export interface Question {
  /** The answer's own id. */
  readonly id: string;
  readonly request: ChatRequest;
  readonly promptTokens: number;
}

/** Carries out one step. */
export function answer(response: ServerResponse, step: Step, question: Question, progress: Progress): void {
  const begin = (): void => {
    if (response.destroyed) return;
    if (step.cut?.at === 'before_head') breakOff(response, step.cut.how, progress);
    else if (step.body !== undefined) plain(response, step, bytesOf(step.body), progress);
    else if (question.request['stream'] === true) stream(response, step, question, progress);
    else plain(response, step, bytesOf(plainBody(planAnswer(question.id, question.request, step, question.promptTokens))), progress);
  };
  later(step.delayMs, begin);
}

const later = (delayMs: number | undefined, act: () => void): void => {
  if (delayMs) setTimeout(act, delayMs);
  else act();
};

const bytesOf = (body: string | Uint8Array | object): Uint8Array =>
  body instanceof Uint8Array ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));

function plain(response: ServerResponse, step: Step, body: Uint8Array, progress: Progress): void {
  const headers = { 'content-type': 'application/json', 'content-length': String(body.length), ...step.headers };
  respond(response, step, headers, [body], progress);
}

function stream(response: ServerResponse, step: Step, question: Question, progress: Progress): void {
  const options = question.request['stream_options'];
  const includesUsage = typeof options === 'object' && options !== null && 'include_usage' in options && options.include_usage === true;
  const plan = planAnswer(question.id, question.request, step, question.promptTokens);
  const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache', ...step.headers };
  respond(response, step, headers, eventStream(plan, step, includesUsage), progress);
}

function respond(
  response: ServerResponse,
  step: Step,
  headers: Record<string, string>,
  body: Iterable<string | Uint8Array>,
  progress: Progress,
): void {
  response.writeHead(step.status ?? 200, headers);
  if (step.firstByteDelayMs || step.cut) response.flushHeaders();
  later(step.firstByteDelayMs, () => {
    if (step.cut?.at === 'after_head') breakOff(response, step.cut.how, progress);
    else write(response, pieces(body, step.pieceBytes), step, progress);
  });
}
