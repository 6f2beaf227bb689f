import type { ChatCompletionRequest } from '@tallygate/contract';
import type { CatalogModel } from '../../money/catalog/index.ts';

/** What a prompt can cost at most, apart from what a model counts in its own way. */
export interface PromptSize {
  /** Upper bound on text tokens: no tokenizer makes more tokens than there are bytes of UTF-8. */
  readonly textBytes: number;
  /** What the chat template adds, tokens. */
  readonly templateTokens: number;
  readonly images: number;
  /** Tokens of audio inside of the request. */
  readonly audioTokens: number;
  /** Parts whose tokens nothing in the request bounds (files, videos): they may fill the context window. */
  readonly isOpenEnded: boolean;
  /** Whether tools are described: some makers add instructions of their own then. */
  readonly hasTools?: boolean | undefined;
}

/** What chat templates add: to the whole, to each message, to each tool. Generous: published templates add 3 to 12 tokens a message. */
const TEMPLATE_TOKENS = 64;
const MESSAGE_TOKENS = 16;
const TOOL_TOKENS = 32;
/** What Anthropic adds to every request with tools, 290 to 806 tokens by model and choice (its page on tool use, pricing). */
const ANTHROPIC_TOOL_PROMPT_TOKENS = 1_000;
/** More than any model takes. */
const WINDOW_UNKNOWN = 10_000_000;

/** Instructions that a maker adds where tools are described. */
export const toolPromptTokens = ({ provider }: CatalogModel, hasTools = false): number =>
  hasTools && provider === 'anthropic' ? ANTHROPIC_TOOL_PROMPT_TOKENS : 0;

/**
 * The body counts as its text: JSON never has fewer bytes than the strings in it. Inline images and audio do not count as text; what else
 * comes as a data URL, a PDF for one, is no image of a known size.
 *
 * @param audioTokens of the audio in the request; undefined where nobody has measured it
 */
export function promptSize(request: ChatCompletionRequest, body: Buffer, audioTokens?: number): PromptSize {
  let images = 0;
  let inlineBytes = 0;
  let isOpenEnded = false;
  for (const { content } of request.messages) {
    if (!Array.isArray(content)) continue;
    for (const part of content) {
      if (part.type === 'image_url') {
        images += 1;
        const { url } = part.image_url;
        if (url.startsWith('data:image/')) inlineBytes += url.length;
        else if (holdsOtherThanPicture(url)) isOpenEnded = true;
      } else if (part.type === 'input_audio') {
        inlineBytes += part.input_audio.data.length;
        if (audioTokens === undefined) isOpenEnded = true;
      } else if (part.type === 'file' || part.type === 'video_url') isOpenEnded = true;
    }
  }
  const templateTokens = TEMPLATE_TOKENS + request.messages.length * MESSAGE_TOKENS + (request.tools?.length ?? 0) * TOOL_TOKENS;
  return {
    textBytes: writtenBytes(request, body) - inlineBytes,
    templateTokens,
    images,
    audioTokens: audioTokens ?? 0,
    isOpenEnded,
    hasTools: (request.tools?.length ?? 0) > 0,
  };
}

/** A data URL in the place of a picture that says that it is none: a PDF or a film, for one. */
export const holdsOtherThanPicture = (url: string): boolean => /^\s*data:(?!image\/)/i.test(url);

/** Only in schemas do numbers belong to the prompt. */
const writtenBytes = ({ tools, response_format, functions }: ChatCompletionRequest, body: Buffer): number =>
  body.length + grownBytes([tools, response_format, functions]);

/** The sign of a number, and its digits: from 1e21 on it has an exponent again. */
const LONGEST_WRITTEN = 22;

/**
 * By how much what goes out written anew can be longer than it came in: `1e20` has 21 digits there. Only a number with an exponent grows, and
 * by its zeros. The texts, which may be large, are not looked at.
 */
export function grownBytes(value: unknown): number {
  if (typeof value === 'number') return value !== 0 && value % 1_000 === 0 ? LONGEST_WRITTEN : 0;
  if (typeof value !== 'object' || value === null) return 0;
  let sum = 0;
  for (const one of Array.isArray(value) ? value : Object.values(value)) sum += grownBytes(one);
  return sum;
}

/**
 * Upper bound on the input tokens of one model. The context window bounds only what nothing in the request does: a provider whose window is
 * larger than the catalogue says takes, and bills, a longer text than that.
 */
export function inputTokenBound(model: CatalogModel, size: PromptSize): number {
  const { contextWindow, imageTokenBound } = model;
  const text = size.textBytes + size.audioTokens + size.templateTokens + toolPromptTokens(model, size.hasTools);
  if (size.isOpenEnded || (size.images > 0 && imageTokenBound === null)) return text + (contextWindow ?? WINDOW_UNKNOWN);
  return text + size.images * (imageTokenBound ?? 0);
}

/** Everything that may become part of the prompt, fields that only some providers know (`documents`) included: what a bound is counted on. */
export const boundText = ({ models: _, provider: __, ...request }: ChatCompletionRequest): string =>
  unescaped({ ...request, messages: messagesAsText(request) });

/** The text of the prompt as it is usually understood, for an estimate: message contents, names, tool calls, tool definitions, response schema. Images are counted apart. */
export function promptText(request: ChatCompletionRequest): string {
  const { tools, response_format } = request;
  return unescaped({ messages: messagesAsText(request), tools, response_format, functions: request['functions'] });
}

/** What is said in the messages, and nothing else: no template, name or punctuation of JSON adds to it. */
export const messageText = ({ messages }: Pick<ChatCompletionRequest, 'messages'>): string =>
  messages
    .flatMap(({ content }) =>
      typeof content === 'string' ? [content] : (content ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])),
    )
    .join('\n');

const messagesAsText = ({ messages }: Pick<ChatCompletionRequest, 'messages'>): unknown[] =>
  messages.map((message) =>
    Array.isArray(message.content)
      ? { ...message, content: message.content.filter(({ type }) => type !== 'image_url' && type !== 'input_audio') }
      : message,
  );

/**
 * JSON without its escapes, which the model does not read either: `\n` and its like join letters to tokens that a line end would part, so
 * escaped text can count a third less than the text itself.
 */
export function unescaped(value: unknown): string {
  if (typeof value === 'string') return `"${value}"`;
  if (Array.isArray(value)) return `[${value.map(unescaped).join()}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `"${name}":${unescaped(member)}`).join()}}`;
}
