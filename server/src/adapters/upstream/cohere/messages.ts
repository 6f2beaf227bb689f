import type { ChatCompletionRequest } from '@tallygate/contract';
import { Untranslatable } from '../fault.ts';
import { isRecord, type Json, recordsIn, textIn } from '../json-value.ts';
import type { CohereContent, CohereMessage, CohereToolCall } from './chat-api.ts';

type ChatMessage = ChatCompletionRequest['messages'][number];

/** The roles are OpenAI's; of content Cohere reads text and images. */
export const cohereMessages = (messages: readonly ChatMessage[]): CohereMessage[] =>
  messages.map((message, at) => cohereMessage(message, `messages[${at}]`));

function cohereMessage(message: ChatMessage, param: string): CohereMessage {
  const { role, content, tool_call_id: id } = message;
  switch (role) {
    case 'system':
    case 'developer':
      return { role: 'system', content: textOnly(content, param) };
    case 'user':
      return { role, content: userContent(content, `${param}.content`) };
    case 'assistant':
      return assistantMessage(message, param);
    case 'tool':
      return { role, tool_call_id: id ?? '', content: textOnly(content, param) };
    default:
      throw new Untranslatable(param, 'Messages of role `function` are not understood here: use `tool_calls` and role `tool`.');
  }
}

function assistantMessage(message: ChatMessage, param: string): CohereMessage {
  const { tool_calls: calls } = message;
  const text = textOnly(message.content, param);
  const thought = textIn(message['reasoning_content']) ?? textIn(message['reasoning']);
  // A plan is what it thinks before it calls; anything else that it thought is a block in front of its words.
  if (calls && calls.length > 0)
    return {
      role: 'assistant',
      tool_calls: calls.map((call) => toolCall(call, param)),
      ...(thought !== undefined && { tool_plan: thought }),
      ...(text !== '' && { content: text }),
    };
  if (thought === undefined) return { role: 'assistant', content: text };
  const said: CohereContent[] = text === '' ? [] : [{ type: 'text', text }];
  return { role: 'assistant', content: [{ type: 'thinking', thinking: thought }, ...said] };
}

function toolCall({ id, function: called }: NonNullable<ChatMessage['tool_calls']>[number], param: string): CohereToolCall {
  if (!called) throw new Untranslatable(`${param}.tool_calls`, 'Only calls of functions can be told to this model.');
  return { id, type: 'function', function: { name: called.name, arguments: called.arguments } };
}

/** Of text alone a text. */
function userContent(content: unknown, param: string): string | CohereContent[] {
  if (typeof content === 'string') return content;
  const parts = recordsIn(content).flatMap((part, at) => contentOf(part, `${param}[${at}]`));
  return parts.every(({ type }) => type === 'text') ? parts.map((part) => ('text' in part ? part.text : '')).join('\n') : parts;
}

function contentOf(part: Json, param: string): CohereContent[] {
  switch (part['type']) {
    case 'text':
      return textIn(part['text']) === undefined ? [] : [{ type: 'text', text: String(part['text']) }];
    case 'image_url':
      return [{ type: 'image_url', image_url: imageOf(part['image_url'], param) }];
    default:
      throw new Untranslatable(param, `This model's provider takes no content of type ${String(part['type'])}.`);
  }
}

function imageOf(image: unknown, param: string): { url: string; detail?: string } {
  const { url, detail }: Json = isRecord(image) ? image : {};
  if (typeof url !== 'string') throw new Untranslatable(param, 'An image needs an https URL or a data URL.');
  return { url, ...((detail === 'auto' || detail === 'low' || detail === 'high') && { detail }) };
}

function textOnly(content: unknown, param: string): string {
  if (typeof content === 'string') return content;
  return recordsIn(content)
    .map((part) => {
      const text = textIn(part['text']) ?? textIn(part['refusal']);
      if (text === undefined && part['type'] !== 'text' && part['type'] !== 'refusal')
        throw new Untranslatable(param, `This model's provider takes text alone here, no content of type ${String(part['type'])}.`);
      return text ?? '';
    })
    .join('\n');
}
