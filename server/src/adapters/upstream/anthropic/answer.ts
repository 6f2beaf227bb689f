import { writtenJson } from '../../../kernel/written-json.ts';
import {
  argumentsText,
  isRecord,
  type Json,
  jsonInBytes,
  NONE_WRITTEN,
  recordsIn,
  textIn,
  type WrittenArguments,
  writtenArguments,
} from '../json-value.ts';
import { hiddenThought, type ReasoningDetail, thought } from './reasoning-details.ts';
import { finishReasonOf } from './stop-reason.ts';
import { ANSWER_TOOL } from './structured-output.ts';
import { usageOf } from './usage.ts';

/** A Messages answer as OpenAI's chat completion. What is no Messages answer stays as it is, for the relay to refuse. */
export async function completionBody(body: Buffer, created: number): Promise<Buffer> {
  const message = await jsonInBytes(body);
  if (!isRecord(message) || message['type'] !== 'message') return body;
  const written = await writtenArguments(recordsIn(message['content']).map(({ input }) => input));
  return writtenJson(completionOf(message, created, written));
}

/** @param created unix seconds; Anthropic tells no time */
export function completionOf(message: Json, created: number, written = NONE_WRITTEN): Json {
  const blocks = recordsIn(message['content']);
  const calls = blocks.filter(({ type, name }) => type === 'tool_use' && name !== ANSWER_TOOL);
  const answers = blocks.filter(({ type, name }) => type === 'tool_use' && name === ANSWER_TOOL);
  const stopReason = message['stop_reason'];
  const details = blocks.flatMap(detailsOf);
  const thoughts = joined(blocks, 'thinking');
  // A model that has to answer through a tool may talk before it does.
  const text = answers.length > 0 ? argumentsText(answers[0]?.['input'], written) : joined(blocks, 'text');
  const refusal = refusalOf(message);
  return {
    id: message['id'],
    object: 'chat.completion',
    created,
    model: message['model'],
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text === '' && (calls.length > 0 || refusal !== null) ? null : text,
          refusal,
          ...(thoughts === '' ? {} : { reasoning_content: thoughts }),
          ...(details.length === 0 ? {} : { reasoning_details: details }),
          ...(calls.length === 0 ? {} : { tool_calls: calls.map((call) => toolCallOf(call, written)) }),
        },
        logprobs: null,
        finish_reason: stopReason === 'tool_use' && calls.length === 0 ? 'stop' : finishReasonOf(stopReason),
      },
    ],
    usage: usageOf(message['usage']),
  };
}

/** The provider's reason for a refusal; null where it refused nothing, or gave none. */
export function refusalOf({ stop_reason: reason, stop_details: details }: Json): string | null {
  return reason === 'refusal' && isRecord(details) ? (textIn(details['explanation']) ?? null) : null;
}

const joined = (blocks: readonly Json[], type: 'text' | 'thinking'): string =>
  blocks.map((block) => (block['type'] === type ? (textIn(block[type]) ?? '') : '')).join('');

function detailsOf(block: Json, index: number): ReasoningDetail[] {
  if (block['type'] === 'redacted_thinking') return [hiddenThought(index, textIn(block['data']) ?? '')];
  if (block['type'] !== 'thinking') return [];
  return [thought(index, { text: textIn(block['thinking']) ?? '', signature: textIn(block['signature']) ?? '' })];
}

const toolCallOf = ({ id, name, input }: Json, written: WrittenArguments): Json => ({
  id,
  type: 'function',
  function: { name, arguments: argumentsText(input, written) },
});
