import { writtenJson } from '../../../kernel/written-json.ts';
import { isRecord, type Json, jsonInBytes, recordsIn, textIn } from '../json-value.ts';
import { hiddenThought, type ReasoningDetail, thought } from './reasoning-details.ts';
import { finishReasonOf } from './stop-reason.ts';
import { ANSWER_TOOL } from './structured-output.ts';
import { usageOf } from './usage.ts';

/** A Messages answer as OpenAI's chat completion. What is no Messages answer stays as it is, for the relay to refuse. */
export async function completionBody(body: Buffer, created: number): Promise<Buffer> {
  const message = await jsonInBytes(body);
  return isRecord(message) && message['type'] === 'message' ? writtenJson(completionOf(message, created)) : body;
}

/** @param created unix seconds; Anthropic tells no time */
export function completionOf(message: Json, created: number): Json {
  const blocks = recordsIn(message['content']);
  const calls = blocks.filter(({ type, name }) => type === 'tool_use' && name !== ANSWER_TOOL);
  const answers = blocks.filter(({ type, name }) => type === 'tool_use' && name === ANSWER_TOOL);
  const stopReason = message['stop_reason'];
  const details = blocks.flatMap(detailsOf);
  const thoughts = joined(blocks, 'thinking');
  // A model that has to answer through a tool may talk before it does.
  const text = answers.length > 0 ? JSON.stringify(answers[0]?.['input'] ?? {}) : joined(blocks, 'text');
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
          ...(calls.length === 0 ? {} : { tool_calls: calls.map(toolCallOf) }),
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

const toolCallOf = ({ id, name, input }: Json): Json => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(input ?? {}) },
});
