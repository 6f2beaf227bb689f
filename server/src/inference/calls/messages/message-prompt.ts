import type { CountTokensRequest, MessagesRequest } from '@tallygate/contract';
import type { Json } from '../event-data.ts';
import { holdsOtherThanPicture, type PromptSize, unescaped } from '../input-bound.ts';
import { isRecord } from '../usage.ts';
import type { Requirement } from '../work.ts';

/** What a template adds: to the whole, to each block, to each tool. Anthropic adds less than 750 tokens for each of its own tools. */
const TEMPLATE_TOKENS = 64;
const BLOCK_TOKENS = 16;
const TOOL_TOKENS = 32;
const OWN_TOOL_TOKENS = 1_000;
/** One entry for some thirty tools. */
const TOOLSET_TOKENS = 20_000;

type Prompt = CountTokensRequest | MessagesRequest;
type Block = Json & { readonly type?: unknown };

/** A block that is no text, and where it is. */
interface Medium {
  readonly kind: 'image' | 'document';
  readonly source: Json;
  /** `messages[0].content[1]`. */
  readonly at: string;
}

/** Images and documents, wherever they are: in turns, in what tools gave back, inside of documents. */
export function mediaOf({ messages }: Pick<Prompt, 'messages'>): Medium[] {
  const media: Medium[] = [];
  for (const [index, { content }] of messages.entries()) collect(content, `messages[${index}].content`, media);
  return media;
}

function collect(content: unknown, at: string, media: Medium[]): void {
  if (!Array.isArray(content)) return;
  for (const [index, block] of content.entries()) {
    if (!isRecord(block)) continue;
    const place = `${at}[${index}]`;
    const { type, source } = block;
    if (type === 'tool_result') collect(block['content'], `${place}.content`, media);
    if ((type !== 'image' && type !== 'document') || !isRecord(source)) continue;
    if (source['type'] === 'content') collect(source['content'], `${place}.source.content`, media);
    else if (source['type'] !== 'text') media.push({ kind: isPicture(block) ? 'image' : 'document', source, at: place });
  }
}

/** A film, a sound or a book is none, whatever the block calls it: some providers go by the media type alone. */
function isPicture({ type, source }: Block): boolean {
  if (type !== 'image' || !isRecord(source)) return false;
  const { type: place, media_type: mediaType, url } = source;
  return place === 'base64' ? /^image\//i.test(String(mediaType)) : !holdsOtherThanPicture(String(url));
}

/** Base64 that is no text: of pictures, and of PDFs, which the window bounds. Any other file may be as many tokens as it has bytes. */
function inlineBytes({ kind, source: { type, data, media_type: mediaType } }: Medium): number {
  if (type !== 'base64' || typeof data !== 'string') return 0;
  return kind === 'image' || mediaType === 'application/pdf' ? data.length : 0;
}

/** How large the prompt can be at most. @param bytes of all that is sent */
export function messagePromptSize(request: Prompt, bytes: number): PromptSize {
  const media = mediaOf(request);
  const tools = request.tools ?? [];
  const blocks = request.messages.reduce((sum, { content }) => sum + (typeof content === 'string' ? 1 : content.length + 1), 0);
  return {
    textBytes: bytes - media.reduce((sum, medium) => sum + inlineBytes(medium), 0),
    templateTokens: TEMPLATE_TOKENS + blocks * BLOCK_TOKENS + tools.reduce((sum, tool) => sum + toolTokens(tool), 0),
    images: media.filter(({ kind }) => kind === 'image').length,
    audioTokens: 0,
    isOpenEnded: media.some(({ kind }) => kind === 'document'),
    hasTools: tools.length > 0,
  };
}

function toolTokens({ type }: NonNullable<Prompt['tools']>[number]): number {
  if (type === undefined || type === null || type === 'custom') return TOOL_TOKENS;
  return type.includes('toolset') ? TOOLSET_TOKENS : OWN_TOOL_TOKENS;
}

/** What a model must be able to do to serve the request. */
export function messageNeeds(request: MessagesRequest): Requirement[] {
  const needs: Requirement[] = [];
  const add = (capability: string, param: string) => {
    if (!needs.some((need) => need.capability === capability)) needs.push({ capability, param });
  };
  if (request.tools && request.tools.length > 0) add('tools', 'tools');
  if (request.output_config?.format) add('json_schema', 'output_config.format');
  for (const { kind, at } of mediaOf(request)) add(kind === 'image' ? 'vision' : 'pdf', at);
  return needs;
}

/** Everything that may become part of the prompt, but for images and documents: what a bound is counted on. */
export const boundText = (request: Prompt): string =>
  unescaped({ ...request, models: undefined, provider: undefined, messages: request.messages.map(withoutMedia) });

/** The text of the prompt as it is usually understood, for an estimate. */
export const promptText = ({ messages, system, tools }: Prompt): string => unescaped([messages.map(withoutMedia), system, tools]);

/** A turn, or a block with blocks of its own. */
function withoutMedia<Holder extends Block>(holder: Holder): unknown {
  const { content } = holder;
  return Array.isArray(content) ? { ...holder, content: content.filter((block) => !isMedium(block)).map(withoutInnerMedia) } : holder;
}

const withoutInnerMedia = (block: unknown): unknown => (isRecord(block) && block['type'] === 'tool_result' ? withoutMedia(block) : block);

const isMedium = (block: unknown): boolean =>
  isRecord(block) &&
  (block['type'] === 'image' || block['type'] === 'document') &&
  isRecord(block['source']) &&
  !isTextual(block['source']);

const isTextual = ({ type }: Json): boolean => type === 'text' || type === 'content';
