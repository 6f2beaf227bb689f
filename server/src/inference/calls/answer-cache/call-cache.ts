/** An answer as its client got it. */
export interface CachedAnswer {
  readonly contentType: string;
  readonly body: Buffer;
  /** Which model answered, by which provider. */
  readonly model: string;
  readonly provider: string;
}

/** An answer that is given again. */
export type AnswerAgain = CachedAnswer & { readonly ageMs: number };

/** The place of one call in the cache. Neither method rejects: without the cache, a call is served as any other. */
export interface CallCache {
  /** Undefined where a model has to be asked. */
  find(): Promise<AnswerAgain | undefined>;
  /** To be called once the answer is settled. */
  keep(answer: CachedAnswer): Promise<void>;
}
