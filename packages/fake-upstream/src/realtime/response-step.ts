/** One scripted response of a realtime session. All fields are optional. */
export interface ResponseStep {
  /** So many tokens out: words, or pieces of sound with a word each. Default 8. */
  readonly tokens?: number;
  /** The provider begins it when this has settled. */
  readonly begins?: Promise<unknown>;
  /** The provider waits for it after so many tokens, as long as it likes. */
  readonly pause?: { readonly after: number; readonly until: Promise<unknown> };
  /** The connection is reset after so many tokens. */
  readonly resetAfter?: number;
  /** It fails after so many tokens, with this code. */
  readonly fails?: { readonly after: number; readonly code: string };
  /** Replaces the exact usage; `undefined` leaves it out. */
  readonly usage?: (exact: RealtimeUsage) => unknown;
  /** Ignores `max_output_tokens`. */
  readonly exceedsBound?: boolean;
  /** Answered with this error in place of a response. */
  readonly refusal?: { readonly code: string; readonly message: string };
}

/** As `response.done` says it. */
export interface RealtimeUsage {
  readonly total_tokens: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly input_token_details: {
    readonly text_tokens: number;
    readonly audio_tokens: number;
    readonly image_tokens: number;
    readonly cached_tokens: number;
    readonly cached_tokens_details: { readonly text_tokens: number; readonly audio_tokens: number; readonly image_tokens: number };
  };
  readonly output_token_details: { readonly text_tokens: number; readonly audio_tokens: number };
}

/** Tokens of text and of sound. */
export interface Tokens {
  readonly text: number;
  readonly audio: number;
}

export const NO_TOKENS: Tokens = { text: 0, audio: 0 };
export const plus = (a: Tokens, b: Tokens): Tokens => ({ text: a.text + b.text, audio: a.audio + b.audio });

/** @param cached of the input */
export function usageOf(input: Tokens, output: Tokens, cached: Tokens): RealtimeUsage {
  const [inputTokens, outputTokens] = [input.text + input.audio, output.text + output.audio];
  return {
    total_tokens: inputTokens + outputTokens,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    input_token_details: {
      text_tokens: input.text,
      audio_tokens: input.audio,
      image_tokens: 0,
      cached_tokens: cached.text + cached.audio,
      cached_tokens_details: { text_tokens: cached.text, audio_tokens: cached.audio, image_tokens: 0 },
    },
    output_token_details: { text_tokens: output.text, audio_tokens: output.audio },
  };
}
