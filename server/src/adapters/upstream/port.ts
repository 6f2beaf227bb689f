import type { ChatCompletionRequest } from '@tallygate/contract';

/** One call of one model at one provider. */
export interface ChatCall {
  /** The provider's own name for the model. */
  readonly model: string;
  /** The caller's request as it was validated; the gateway's own fields (`models`) are not for the provider. */
  readonly request: ChatCompletionRequest;
  readonly stream: boolean;
  /** The token bound that is held. It must reach the provider, whatever the caller wrote: it is what makes a cap binding. */
  readonly maxOutputTokens: number;
  /** From sending the request to the answer's first body byte, milliseconds. */
  readonly firstByteTimeoutMs: number;
  /** Between two body bytes, milliseconds. */
  readonly idleTimeoutMs: number;
  /** Aborted when the caller hangs up: the call at the provider is cancelled, and `chat` resolves with a fault of kind `cancelled`. */
  readonly signal: AbortSignal;
  /** `X-Sandbox-Fault` of the request; only the sandbox provider looks at it. */
  readonly sandboxFault?: string | undefined;
}

/**
 * An answer whose head is there and whose body has begun. Its bytes are OpenAI's: JSON of a chat completion, or server-sent events of its chunks.
 * Exactly one of `collect` and `pump` is called, once.
 */
export interface UpstreamAnswer {
  readonly ok: true;
  readonly status: number;
  /** Reads the whole body. Rejects with {@link UpstreamCut}; also when it is longer than `maxBytes`. */
  collect(maxBytes: number): Promise<Buffer>;
  /**
   * Hands every chunk to `onChunk` in order, and waits where it returns a promise (back-pressure reaches the provider).
   * Resolves after the last byte of a complete body; rejects with {@link UpstreamCut} when the body breaks off or stalls.
   */
  pump(onChunk: (chunk: Buffer) => void | Promise<void>): Promise<void>;
  /** Cancels the call at the provider, as the call's signal does; a running `collect` or `pump` rejects with {@link UpstreamCut}. Harmless after the end. */
  abort(): void;
}

/** No answer: what went wrong, decided once, here, for everybody who acts on it. */
export interface UpstreamFault {
  readonly ok: false;
  /**
   * `rejected`: the request itself is at fault, another deployment would say the same. `rate_limited`: 429.
   * `timeout`: no first byte in time. `cancelled`: the signal was aborted. `failed`: everything else (5xx, 408, 409, refused credentials,
   * connection trouble).
   */
  readonly kind: 'rejected' | 'rate_limited' | 'timeout' | 'cancelled' | 'failed';
  /** Whether another deployment, or the same one later, may answer. */
  readonly retryable: boolean;
  /** The provider's HTTP status, null when none came. */
  readonly status: number | null;
  /** The provider's `Retry-After` (or `retry-after-ms`), milliseconds. */
  readonly retryAfterMs: number | null;
  /** The provider's own words, bounded in length; shown to the caller for `rejected` only, else logged. */
  readonly message: string;
  /** OpenAI's `error.param` where the provider named one. */
  readonly param: string | null;
  /** OpenAI's `error.code` where the provider named one. */
  readonly code: string | null;
}

/** The body broke off, stalled, or was cancelled. */
export class UpstreamCut extends Error {
  readonly reason: 'reset' | 'idle_timeout' | 'aborted' | 'too_large';

  constructor(reason: UpstreamCut['reason'], cause?: unknown) {
    super(`The provider's answer ended early: ${reason}`, { cause });
    this.name = 'UpstreamCut';
    this.reason = reason;
  }
}

/** A provider behind the one port. Adapters translate and nothing else: no retry, no price, no log, no choice. */
export interface UpstreamProvider {
  /** Resolves at the answer's first body byte (or its end, if empty), or with the fault that took its place. Never rejects. */
  chat(call: ChatCall): Promise<UpstreamAnswer | UpstreamFault>;
  close(): Promise<void>;
}
