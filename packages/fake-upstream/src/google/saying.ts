/** Google's `usageMetadata`, exact by the rule in the README. */
export interface GoogleUsage {
  readonly promptTokenCount: number;
  readonly candidatesTokenCount: number;
  readonly thoughtsTokenCount?: number;
  readonly cachedContentTokenCount?: number;
  readonly toolUsePromptTokenCount?: number;
  readonly totalTokenCount: number;
}

/** What only Google's API can say. The rest of a step (`text`, `reasoning`, `toolCalls`, …) is said in its parts. */
export interface GoogleSaying {
  /** Instead of the one that follows from the answer. */
  readonly finishReason?: string;
  readonly finishMessage?: string;
  /** The prompt is blocked: no candidate, but this reason. */
  readonly blockReason?: string;
  /** Stands on the first call, or on the last text where there is none. */
  readonly thoughtSignature?: string;
  /** Calls carry ids, as newer models' do. */
  readonly callIds?: boolean;
  /** Replaces the exact usage with whatever this returns. */
  readonly usage?: (exact: GoogleUsage) => unknown;
}
