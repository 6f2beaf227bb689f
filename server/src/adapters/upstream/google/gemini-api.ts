import type { Json } from '../json-value.ts';

/** What is sent to `models/{model}:generateContent`, as far as it is used here. Google refuses fields that it does not know. */
export interface GenerateContentRequest {
  readonly contents: readonly Content[];
  readonly systemInstruction?: { readonly parts: readonly Part[] };
  readonly tools?: readonly { readonly functionDeclarations: readonly FunctionDeclaration[] }[];
  readonly toolConfig?: { readonly functionCallingConfig: FunctionCallingConfig };
  readonly serviceTier?: string;
  readonly generationConfig: GenerationConfig;
}

/** Google has two speakers; what tools answered is the user's word. */
export interface Content {
  readonly role: 'user' | 'model';
  readonly parts: readonly Part[];
}

export interface Blob {
  readonly mimeType: string;
  /** Base64. */
  readonly data: string;
}

export interface Part {
  readonly text?: string;
  readonly inlineData?: Blob;
  readonly fileData?: { readonly fileUri: string; readonly mimeType?: string };
  readonly functionCall?: { readonly id: string; readonly name: string; readonly args: Json };
  readonly functionResponse?: {
    readonly id: string;
    readonly name: string;
    readonly response: { readonly output: string };
    readonly parts?: readonly { readonly inlineData: Blob }[];
  };
  /** The model's sealed thoughts; stands on the part it came with. */
  readonly thoughtSignature?: string;
}

export interface FunctionDeclaration {
  readonly name: string;
  readonly description?: string;
  readonly parametersJsonSchema?: Json;
}

export interface FunctionCallingConfig {
  readonly mode: 'AUTO' | 'ANY' | 'NONE' | 'VALIDATED';
  readonly allowedFunctionNames?: readonly string[];
}

export interface ThinkingConfig {
  /** Gemini 2.5: tokens, 0 for none. */
  readonly thinkingBudget?: number;
  /** Gemini 3 and later. */
  readonly thinkingLevel?: 'MINIMAL' | 'LOW' | 'MEDIUM' | 'HIGH';
  readonly includeThoughts?: boolean;
}

export interface GenerationConfig {
  /** Bounds what is thought and what is said, together, of one candidate. */
  readonly maxOutputTokens: number;
  readonly candidateCount?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly seed?: number;
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
  readonly stopSequences?: readonly string[];
  readonly responseLogprobs?: boolean;
  /** How many alternatives to each token. */
  readonly logprobs?: number;
  readonly responseMimeType?: 'application/json';
  readonly responseJsonSchema?: Json;
  readonly thinkingConfig?: ThinkingConfig;
}
