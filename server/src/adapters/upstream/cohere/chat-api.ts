import type { Json } from '../json-value.ts';

/**
 * What is sent to `POST /v2/chat`, as far as it is used here (docs.cohere.com/reference/chat). Cohere refuses fields that it does not know.
 * Answers are read as {@link Json}: nothing in them is trusted to be there.
 */
export interface CohereChatRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly messages: readonly CohereMessage[];
  readonly max_tokens: number;
  readonly tools?: readonly CohereTool[];
  readonly tool_choice?: 'REQUIRED' | 'NONE';
  readonly strict_tools?: boolean;
  readonly documents?: unknown;
  readonly citation_options?: unknown;
  readonly safety_mode?: unknown;
  readonly response_format?: { readonly type: 'json_object'; readonly json_schema?: Json };
  readonly stop_sequences?: readonly string[];
  readonly temperature?: number;
  readonly seed?: number;
  readonly frequency_penalty?: number;
  readonly presence_penalty?: number;
  readonly k?: number;
  readonly p?: number;
  readonly thinking?: { readonly type: 'enabled' | 'disabled'; readonly token_budget?: number };
}

export type CohereContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly thinking: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string; readonly detail?: string } };

export interface CohereToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

export type CohereMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: string | readonly CohereContent[] }
  | {
      readonly role: 'assistant';
      readonly content?: string | readonly CohereContent[];
      readonly tool_calls?: readonly CohereToolCall[];
      /** What the model thought before it called tools. */
      readonly tool_plan?: string;
    }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string };

export interface CohereTool {
  readonly type: 'function';
  readonly function: { readonly name: string; readonly description?: string; readonly parameters: Json };
}
