import type { Json } from '../json-value.ts';

/**
 * The part of Anthropic's Messages API that requests are written in (https://platform.claude.com/docs/en/api/messages).
 * Answers are read as {@link Json}: nothing in them is trusted to be there.
 */
export interface MessagesRequest {
  readonly model: string;
  readonly max_tokens: number;
  readonly messages: readonly Turn[];
  readonly system?: readonly TextBlock[] | undefined;
  readonly tools?: readonly Tool[] | undefined;
  readonly tool_choice?: ToolChoice | undefined;
  readonly thinking?: Json | undefined;
  readonly output_config?: Json | undefined;
  readonly temperature?: number | undefined;
  readonly top_p?: number | undefined;
  readonly top_k?: number | undefined;
  readonly stop_sequences?: readonly string[] | undefined;
  readonly metadata?: { readonly user_id: string } | undefined;
  readonly service_tier?: 'auto' | 'standard_only' | undefined;
  readonly cache_control?: Json | undefined;
  readonly stream?: true | undefined;
}

export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: readonly Block[];
}

/** Marks the end of a prefix that is kept in the prompt cache. */
interface Cacheable {
  readonly cache_control?: Json | undefined;
}

export interface TextBlock extends Cacheable {
  readonly type: 'text';
  readonly text: string;
}

export type Source =
  | { readonly type: 'base64'; readonly media_type: string; readonly data: string }
  | { readonly type: 'text'; readonly media_type: 'text/plain'; readonly data: string }
  | { readonly type: 'url'; readonly url: string };

export interface ImageBlock extends Cacheable {
  readonly type: 'image';
  readonly source: Source;
}

export interface DocumentBlock extends Cacheable {
  readonly type: 'document';
  readonly source: Source;
  readonly title?: string | undefined;
}

export type ContentBlock = TextBlock | ImageBlock | DocumentBlock;

export type ThinkingBlock =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string };

export interface ToolUseBlock extends Cacheable {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  readonly input: Json;
}

export interface ToolResultBlock extends Cacheable {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content?: string | readonly ContentBlock[] | undefined;
}

export type Block = ContentBlock | ThinkingBlock | ToolUseBlock | ToolResultBlock;

export interface Tool extends Cacheable {
  readonly name: string;
  readonly description?: string | undefined;
  readonly input_schema: Json;
}

export type ToolChoice =
  | { readonly type: 'none' }
  | { readonly type: 'auto' | 'any'; readonly disable_parallel_tool_use?: true | undefined }
  | { readonly type: 'tool'; readonly name: string; readonly disable_parallel_tool_use?: true | undefined };
