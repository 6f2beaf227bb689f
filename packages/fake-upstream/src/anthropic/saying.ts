/** Anthropic's usage, exact by the rule in the README. */
export interface AnthropicUsage {
  readonly input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation: { readonly ephemeral_5m_input_tokens: number; readonly ephemeral_1h_input_tokens: number };
  readonly output_tokens: number;
  readonly output_tokens_details: { readonly thinking_tokens: number };
  readonly service_tier: 'standard';
}

/** Features of Anthropic's API only. The rest of a step (`text`, `reasoning`, `toolCalls`, …) becomes its blocks. */
export interface AnthropicSaying {
  /** Instead of the one that follows from the answer. */
  readonly stopReason?: string;
  readonly stopDetails?: object;
  /** A `redacted_thinking` block before everything else, with this as its data. */
  readonly redactedThinking?: string;
  /** Replaces the exact usage with the returned one. */
  readonly usage?: (exact: AnthropicUsage) => unknown;
}
