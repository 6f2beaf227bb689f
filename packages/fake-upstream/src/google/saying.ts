/** Google's `usageMetadata`, exact by the rule in the README. */
export interface GoogleUsage {
  readonly promptTokenCount: number;
  readonly candidatesTokenCount: number;
  readonly thoughtsTokenCount?: number;
  readonly cachedContentTokenCount?: number;
  readonly toolUsePromptTokenCount?: number;
  readonly totalTokenCount: number;
}

/** Features of Google's API only. The rest of a step (`text`, `reasoning`, `toolCalls`, …) becomes its parts. */
export interface GoogleSaying {
  /** Instead of the one that follows from the answer. */
  readonly finishReason?: string;
  readonly finishMessage?: string;
  /** The prompt is blocked: no candidate, but this reason. */
  readonly blockReason?: string;
  /** On the first call, or on the last text if there is none. */
  readonly thoughtSignature?: string;
  /** Calls carry ids, as newer models' do. */
  readonly callIds?: boolean;
  /** The tier that its head names; default: the one that is asked for, else the standard one. */
  readonly serviceTier?: string;
  /** Replaces the exact usage with the returned one. */
  readonly usage?: (exact: GoogleUsage) => unknown;
}
