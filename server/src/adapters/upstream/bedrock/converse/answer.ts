import { inOrder } from '../../../../kernel/soon.ts';
import { isRecord, type Json, recordsIn, textIn } from '../../json-value.ts';
import { stopReasonOf } from './stop-reason.ts';
import { messageUsage } from './usage.ts';

export interface AnswerContext {
  /** Of the answer: Bedrock names none in it. */
  readonly id: string;
  /** As it was asked for: Bedrock does not repeat it. */
  readonly model: string;
  /** The caller declined parallel calls, which Converse cannot be told: of several, the first alone is passed on. */
  readonly oneCallOnly: boolean;
}

/** An answer of Converse as one of Anthropic's Messages; undefined where it is none. */
export async function messageOf(document: unknown, { id, model, oneCallOnly }: AnswerContext): Promise<Json | undefined> {
  if (!isRecord(document) || !isRecord(document['output'])) return undefined;
  const { message } = document['output'];
  if (!isRecord(message)) return undefined;
  const blocks: Json[] = [];
  await inOrder(recordsIn(message['content']), (block) => void blocks.push(...blockOf(block)));
  const firstCall = blocks.findIndex(isCall);
  const content = oneCallOnly ? blocks.filter((block, at) => !isCall(block) || at === firstCall) : blocks;
  const stop_reason = stopReasonOf(document['stopReason']);
  return { type: 'message', role: 'assistant', id, model, content, stop_reason, usage: messageUsage(document['usage']) };
}

const isCall = ({ type }: Json): boolean => type === 'tool_use';

function blockOf({ text, toolUse, reasoningContent, citationsContent }: Json): Json[] {
  if (typeof text === 'string') return [{ type: 'text', text }];
  // What the model's maker runs is no call of the caller's.
  if (isRecord(toolUse) && toolUse['type'] === undefined)
    return [{ type: 'tool_use', id: toolUse['toolUseId'], name: toolUse['name'], input: toolUse['input'] }];
  if (isRecord(reasoningContent)) return thoughtOf(reasoningContent);
  if (!isRecord(citationsContent)) return [];
  const cited = recordsIn(citationsContent['content']).map((part) => textIn(part['text']) ?? '');
  return [{ type: 'text', text: cited.join('') }];
}

function thoughtOf({ reasoningText, redactedContent }: Json): Json[] {
  if (isRecord(reasoningText)) return [{ type: 'thinking', thinking: reasoningText['text'], signature: reasoningText['signature'] }];
  return typeof redactedContent === 'string' ? [{ type: 'redacted_thinking', data: redactedContent }] : [];
}
