/** What became of one request to an address that a caller has chosen. */
export interface Posted {
  /** Null where there was no answer. */
  readonly statusCode: number | null;
  /** Null for a status of 2xx. */
  readonly error: PostError | null;
  readonly durationMs: number;
}

/** `address_refused`: nothing was sent. `rejected`: a status that is neither 2xx nor 3xx. */
export type PostError = 'connection_failed' | 'timed_out' | 'address_refused' | 'redirected' | 'rejected';

export interface Post {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Sends to addresses that callers choose. Names are resolved once, and the connection is made to the very address that was checked; redirects
 * are not followed; time and the size of the answer are bounded.
 */
export interface WebhookSender {
  /** Never throws for what the other side does. */
  post(post: Post): Promise<Posted>;
  /** Why nothing is ever sent to this URL, as far as the URL alone says; undefined where it may be. */
  refusalOf(url: URL): string | undefined;
  close(): Promise<void>;
}
