import { isRecord, type Json, recordsIn, textIn } from '../json-value.ts';
import { finishReasonOf, hasFailed } from './finish-reason.ts';
import { usageOf } from './usage.ts';

/** What an answer needs besides the provider's words. */
export interface AnswerContext {
  /** Cohere names none in its answer. */
  readonly model: string;
  /** Unix seconds. */
  readonly created: number;
  /** Where the provider names no id of its own. */
  readonly id: string;
  /** The caller declined parallel calls, which Cohere cannot be told: of several, the first alone is passed on. */
  readonly oneCallOnly: boolean;
}

/** Undefined where the document is no answer of `/v2/chat`, or says that it failed. */
export function completionOf(document: unknown, context: AnswerContext): Json | undefined {
  if (!isRecord(document) || !isRecord(document['message']) || hasFailed(document['finish_reason'])) return undefined;
  const { message, finish_reason: reason, usage: stated } = document;
  const calls = callsIn(message).slice(0, context.oneCallOnly ? 1 : undefined);
  const text = saidIn(message, 'text');
  const thoughts = saidIn(message, 'thinking') + (textIn(message['tool_plan']) ?? '');
  const usage = usageOf(stated);
  return {
    id: `chatcmpl-${textIn(document['id']) ?? context.id}`,
    ...{ object: 'chat.completion', created: context.created, model: context.model },
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text === '' && calls.length > 0 ? null : text,
          refusal: null,
          ...(thoughts !== '' && { reasoning_content: thoughts }),
          ...(calls.length > 0 && { tool_calls: calls }),
        },
        logprobs: null,
        finish_reason: finishReasonOf(reason, calls.length > 0),
      },
    ],
    ...(usage && { usage }),
  };
}

const saidIn = ({ content }: Json, type: 'text' | 'thinking'): string =>
  typeof content === 'string' && type === 'text'
    ? content
    : recordsIn(content)
        .map((block) => textIn(block[type]) ?? '')
        .join('');

const callsIn = ({ tool_calls: calls }: Json): Json[] =>
  recordsIn(calls).map(({ id, function: called }) => ({
    ...{ id: textIn(id) ?? '', type: 'function' },
    function: {
      name: (isRecord(called) ? textIn(called['name']) : undefined) ?? '',
      arguments: (isRecord(called) ? textIn(called['arguments']) : undefined) ?? '{}',
    },
  }));
