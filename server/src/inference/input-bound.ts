import type { ChatCompletionRequest } from '@tallygate/contract';
import type { CatalogModel } from '../catalog/index.ts';

/** What a prompt can cost at most, apart from what a model counts in its own way. */
export interface PromptSize {
  /** Upper bound on text tokens: no tokenizer makes more tokens than there are bytes of UTF-8. */
  readonly textBytes: number;
  /** What the chat template adds, tokens. */
  readonly templateTokens: number;
  readonly images: number;
  /** Parts whose tokens nothing in the request bounds (files, videos): they may fill the context window. */
  readonly isOpenEnded: boolean;
}

/** What chat templates add: to the whole, to each message, to each tool. Generous: published templates add 3 to 12 tokens a message. */
const TEMPLATE_TOKENS = 64;
const MESSAGE_TOKENS = 16;
const TOOL_TOKENS = 32;

/** The body stands for its text: JSON never has fewer bytes than the strings in it. Inline images do not count as text. */
export function promptSize(request: ChatCompletionRequest, bodyBytes: number): PromptSize {
  let images = 0;
  let imageBytes = 0;
  let isOpenEnded = false;
  for (const { content } of request.messages) {
    if (!Array.isArray(content)) continue;
    for (const part of content) {
      if (part.type === 'image_url') {
        images += 1;
        if (part.image_url.url.startsWith('data:')) imageBytes += part.image_url.url.length;
      } else if (part.type === 'file' || part.type === 'video_url') isOpenEnded = true;
    }
  }
  const templateTokens = TEMPLATE_TOKENS + request.messages.length * MESSAGE_TOKENS + (request.tools?.length ?? 0) * TOOL_TOKENS;
  return { textBytes: bodyBytes - imageBytes, templateTokens, images, isOpenEnded };
}

/** Upper bound on the input tokens of one model. No prompt is larger than the context window. */
export function inputTokenBound(model: CatalogModel, size: PromptSize): number {
  const window = model.contextWindow ?? Number.MAX_SAFE_INTEGER;
  if (size.isOpenEnded || (size.images > 0 && model.imageTokenBound === null)) return window;
  return Math.min(window, size.textBytes + size.templateTokens + size.images * (model.imageTokenBound ?? 0));
}

/** All text of the prompt, for counting: message contents, names, tool calls, tool definitions, response schema. */
export function promptText(request: ChatCompletionRequest): string {
  const isImage = (value: unknown): boolean => typeof value === 'string' && value.startsWith('data:');
  const { messages, tools, response_format, ...rest } = request;
  const functions = rest['functions'];
  return JSON.stringify({ messages, tools, response_format, functions }, (_key, value) => (isImage(value) ? '' : value));
}
