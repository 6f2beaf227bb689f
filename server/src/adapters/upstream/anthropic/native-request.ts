import type { MessagesRequest } from '@tallygate/contract';
import type { UpstreamCallOf } from '../port.ts';
import { withinBound } from './thinking.ts';

type Message = MessagesRequest['messages'][number];
type Block = Exclude<Message['content'], string>[number];

/**
 * A Messages request as it goes to Anthropic: the caller's own, with our model and the bound that is held. What other models said in the
 * conversation is told in the words that Anthropic takes.
 */
export function nativeRequest({ model, request, stream, maxOutputTokens }: UpstreamCallOf<'/v1/messages'>): object {
  const { thinking } = request;
  return {
    ...request,
    models: undefined,
    provider: undefined,
    model,
    max_tokens: maxOutputTokens,
    messages: request.messages.some(hasForeign) ? request.messages.map(withoutForeign) : request.messages,
    ...(thinking && { thinking: withinBound(thinking, maxOutputTokens) }),
    stream: stream || undefined,
  };
}

/** Thoughts of another model bear no signature, and its calls may bear one that Anthropic does not know: it refuses both. */
const isForeign = (block: Block): boolean => block.type === 'thinking' && block.signature === '';
const isMarked = (block: Block): boolean => block.type === 'tool_use' && block['extra_content'] !== undefined;

const hasForeign = ({ content }: Message): boolean =>
  typeof content !== 'string' && content.some((block) => isForeign(block) || isMarked(block));

function withoutForeign(message: Message): Message {
  const { content } = message;
  if (typeof content === 'string') return message;
  const own = content
    .filter((block) => !isForeign(block))
    .map((block) => (isMarked(block) ? { ...block, extra_content: undefined } : block));
  return { ...message, content: own };
}
