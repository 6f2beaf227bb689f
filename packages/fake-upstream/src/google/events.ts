import type { Fields } from '../fields.ts';
import type { StreamForm } from '../step.ts';
import type { GeneratedAnswer } from './answer.ts';

/** The answer as one document. */
export function plainAnswer(answer: GeneratedAnswer): Fields {
  if (answer.saying.blockReason !== undefined) return blocked(answer);
  return document(answer, answer.parts, true);
}

/** The answer as server-sent events, one string each. There is no end marker. */
export function* answerEvents(answer: GeneratedAnswer, form: StreamForm): Generator<string> {
  const lineEnd = form.lineEnd ?? '\r\n';
  const ping = form.pings ? `: ping${lineEnd}${lineEnd}` : '';
  const frame = (event: unknown): string => `${ping}data: ${JSON.stringify(event)}${lineEnd}${lineEnd}`;
  let sent = 0;
  for (const event of events(answer, form)) {
    if (sent === form.errorAfter) {
      yield frame({ error: { code: 503, message: 'The model is overloaded. Please try again later.', status: 'UNAVAILABLE' } });
      return;
    }
    yield frame(event);
    sent++;
  }
}

function* events(answer: GeneratedAnswer, { done }: StreamForm): Generator<Fields> {
  if (answer.saying.blockReason !== undefined) {
    yield blocked(answer);
    return;
  }
  for (const part of answer.parts) yield document(answer, [part], false);
  if (done !== false) yield document(answer, answer.saying.finishReason === undefined ? [{ text: '' }] : [], true);
}

function document(answer: GeneratedAnswer, parts: readonly Fields[], isLast: boolean): Fields {
  const { finishReason, saying, usage, candidates } = answer;
  const ending = isLast ? { finishReason, ...(saying.finishMessage !== undefined && { finishMessage: saying.finishMessage }) } : {};
  return {
    candidates: Array.from({ length: candidates }, (_, index) => ({
      ...(parts.length > 0 && { content: { role: 'model', parts } }),
      ...ending,
      index,
    })),
    ...(usage !== undefined && { usageMetadata: usage }),
    modelVersion: answer.model,
    responseId: answer.responseId,
  };
}

function blocked({ saying, usage, model, responseId }: GeneratedAnswer): Fields {
  const { promptTokenCount, totalTokenCount }: Fields = Object(usage);
  return {
    promptFeedback: { blockReason: saying.blockReason },
    usageMetadata: { promptTokenCount, totalTokenCount },
    modelVersion: model,
    responseId,
  };
}
