/** Converse's usage, exact by the rule in the README. */
export interface BedrockUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly cacheReadInputTokens: number;
  readonly cacheWriteInputTokens: number;
}

/** Features of Bedrock's API only. The rest of a step (`text`, `reasoning`, `toolCalls`, …) becomes its blocks. */
export interface BedrockSaying {
  /** Instead of the one that follows from the answer. */
  readonly stopReason?: string;
  /** A block of hidden reasoning before everything else, base64. */
  readonly redactedContent?: string;
  /** Replaces the exact usage with the returned one. */
  readonly usage?: (exact: BedrockUsage) => unknown;
}
