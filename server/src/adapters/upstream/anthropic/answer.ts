import { statedUsage } from '../../../kernel/stated-usage.ts';
import { argumentsText, NONE_WRITTEN, type WrittenArguments, writtenArguments } from '../../../kernel/tool-arguments.ts';
import { inTurns, type Steps } from '../../../kernel/turn.ts';
import { writtenJson } from '../../../kernel/written-json.ts';
import { isRecord, type Json, recordsIn, textIn } from '../json-value.ts';
import { documentIn } from '../usage-search.ts';
import { hiddenThought, type ReasoningDetail, thought } from './reasoning-details.ts';
import { finishReasonOf } from './stop-reason.ts';
import { ANSWER_TOOL } from './structured-output.ts';
import { usageOf } from './usage.ts';

/** A Messages answer as OpenAI's chat completion. What is no Messages answer stays as it is, for the relay to refuse. */
export async function completionBody(body: Buffer, created: number): Promise<Buffer> {
  const message = await documentIn(body);
  return isRecord(message) && message['type'] === 'message' ? completionOfMessage(message, created) : body;
}

export async function completionOfMessage(message: Json, created: number): Promise<Buffer> {
  const written = await writtenArguments(inputsIn(message));
  return writtenJson(await inTurns(completionOf(message, created, written)));
}

function* inputsIn(message: Json): Generator<unknown> {
  for (const { input } of recordsIn(message['content'])) yield input;
}

/** @param created unix seconds; Anthropic tells no time */
export function* completionOf(message: Json, created: number, written = NONE_WRITTEN): Steps<Json> {
  const { text, thoughts, details, calls } = yield* saidIn(recordsIn(message['content']), written);
  const stopReason = message['stop_reason'];
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
          ...(calls.length === 0 ? {} : { tool_calls: calls }),
        },
        logprobs: null,
        finish_reason: stopReason === 'tool_use' && calls.length === 0 ? 'stop' : finishReasonOf(stopReason),
      },
    ],
    usage: usageOf(statedUsage(message)),
  };
}

/** The provider's reason for a refusal; null where it refused nothing, or gave none. */
export function refusalOf({ stop_reason: reason, stop_details: details }: Json): string | null {
  return reason === 'refusal' && isRecord(details) ? (textIn(details['explanation']) ?? null) : null;
}

interface Said {
  readonly text: string;
  readonly thoughts: string;
  readonly details: readonly ReasoningDetail[];
  readonly calls: readonly Json[];
}

function* saidIn(blocks: readonly Json[], written: WrittenArguments): Steps<Said> {
  const texts: string[] = [];
  const thoughts: string[] = [];
  const details: ReasoningDetail[] = [];
  const calls: Json[] = [];
  let answer: string | undefined;
  for (const [at, block] of blocks.entries()) {
    details.push(...detailsOf(block, at));
    if (block['type'] === 'text') texts.push(textIn(block['text']) ?? '');
    if (block['type'] === 'thinking') thoughts.push(textIn(block['thinking']) ?? '');
    if (block['type'] === 'tool_use' && block['name'] !== ANSWER_TOOL) calls.push(toolCallOf(block, written));
    else if (block['type'] === 'tool_use') answer ??= argumentsText(block['input'], written);
    yield;
  }
  // A model that has to answer through a tool may talk before it does.
  return { text: answer ?? texts.join(''), thoughts: thoughts.join(''), details, calls };
}

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
