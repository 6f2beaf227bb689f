/** Features of Cohere's API only. The rest of a step (`text`, `reasoning`, `toolCalls`, …) becomes its content. */
export interface CohereSaying {
  /** Instead of the one that follows from the answer. */
  readonly finishReason?: string;
}
