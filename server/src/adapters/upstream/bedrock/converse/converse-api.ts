import type { Json } from '../../json-value.ts';

/**
 * The part of Converse that requests are written in (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html).
 * The model is in the path.
 */
export interface ConverseRequest {
  readonly messages: readonly Message[];
  readonly system?: readonly (TextBlock | CachePoint)[] | undefined;
  readonly inferenceConfig: {
    readonly maxTokens: number;
    readonly temperature?: number | undefined;
    readonly topP?: number | undefined;
    readonly stopSequences?: readonly string[] | undefined;
  };
  readonly toolConfig?: ToolConfig | undefined;
  /** In the words of the model's maker. */
  readonly additionalModelRequestFields?: Json | undefined;
}

export interface Message {
  readonly role: 'user' | 'assistant';
  readonly content: readonly Block[];
}

export interface TextBlock {
  readonly text: string;
}

export interface CachePoint {
  readonly cachePoint: { readonly type: 'default'; readonly ttl?: string | undefined };
}

/** Bytes in base64. */
interface Bytes {
  readonly bytes: string;
}

export type ResultBlock =
  | TextBlock
  | { readonly image: { readonly format: string; readonly source: Bytes } }
  | { readonly document: { readonly format: string; readonly name: string; readonly source: Bytes } };

export type Block =
  | ResultBlock
  | CachePoint
  | { readonly toolUse: { readonly toolUseId: string; readonly name: string; readonly input: Json } }
  | { readonly toolResult: { readonly toolUseId: string; readonly content: readonly ResultBlock[] } }
  | { readonly reasoningContent: { readonly reasoningText: { readonly text: string; readonly signature: string } } }
  | { readonly reasoningContent: { readonly redactedContent: string } };

export interface ToolConfig {
  readonly tools: readonly (ToolSpec | CachePoint)[];
  readonly toolChoice?: Json | undefined;
}

export interface ToolSpec {
  readonly toolSpec: {
    readonly name: string;
    readonly description?: string | undefined;
    readonly inputSchema: { readonly json: Json };
  };
}
