import { type RateLimits, rateLimitsOf } from './rate-limits.ts';

/** What the headers of an answer say. Fields are `undefined` where the endpoint does not send them. */
export interface AnswerFacts {
  readonly requestId: string | undefined;
  /** Give it to `receipts.get` a moment after the answer has ended. */
  readonly receiptId: string | undefined;
  /** Signed by the service: `verifyPromise` of `@tallygate/receipts` checks it against the receipt. Keep it until the receipt is in the log. */
  readonly receiptPromise: string | undefined;
  /** Decimal string, USD. A stream has its cost in the last chunk's `usage.cost` instead. */
  readonly costUsd: string | undefined;
  readonly modelServed: string | undefined;
  readonly provider: string | undefined;
  readonly fallback: string | undefined;
  /** Time spent in the gateway until the first byte, milliseconds. */
  readonly overheadMs: number | undefined;
  /** The token bound that the gateway set or lowered. */
  readonly maxTokens: number | undefined;
  /** What is left of the rate limits, after a call to inference. */
  readonly rateLimits: RateLimits | undefined;
  /** The agent run's money, decimal strings in USD. */
  readonly run: { readonly limitUsd: string; readonly spentUsd: string; readonly remainingUsd: string } | undefined;
}

/** An answer with what its headers say. */
export interface CallResult<T> extends AnswerFacts {
  readonly data: T;
  /** The raw response; its body has been read, or belongs to the stream in `data`. */
  readonly response: Response;
}

export function callResult<T>(data: T, response: Response): CallResult<T> {
  return { data, response, ...answerFacts(response.headers) };
}

export function answerFacts(headers: Headers): AnswerFacts {
  const text = (name: string) => headers.get(name) ?? undefined;
  const number = (name: string) => (headers.has(name) ? Number(headers.get(name)) : undefined);
  const limitUsd = text('x-agent-budget-limit-usd');
  const spentUsd = text('x-agent-budget-spent-usd');
  const remainingUsd = text('x-agent-budget-remaining-usd');
  return {
    requestId: text('x-request-id'),
    receiptId: text('x-receipt-id'),
    receiptPromise: text('x-receipt-promise'),
    costUsd: text('x-cost-usd'),
    modelServed: decoded(text('x-model-served')),
    provider: text('x-provider'),
    fallback: text('x-fallback'),
    overheadMs: number('x-overhead-ms'),
    maxTokens: number('x-budget-max-tokens'),
    rateLimits: rateLimitsOf(headers),
    run: limitUsd !== undefined && spentUsd !== undefined && remainingUsd !== undefined ? { limitUsd, spentUsd, remainingUsd } : undefined,
  };
}

/** The gateway percent-encodes what no header may hold, and `%`; what something else sends is left as it is. */
function decoded(name: string | undefined): string | undefined {
  try {
    return name && decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** A call under way: await it for the data, or `withResponse()` for the data and its headers. It is sent once, either way. */
export class Call<T> implements Promise<T> {
  readonly [Symbol.toStringTag] = 'Call';
  readonly #result: Promise<CallResult<T>>;

  constructor(result: Promise<CallResult<T>>) {
    this.#result = result;
  }

  /** The data with request id, receipt id, cost and the raw response. */
  withResponse(): Promise<CallResult<T>> {
    return this.#result;
  }

  // biome-ignore lint/suspicious/noThenProperty: being awaited is what a call is for.
  then<R = T, E = never>(
    onDone?: ((data: T) => R | PromiseLike<R>) | null,
    onFailed?: ((reason: unknown) => E | PromiseLike<E>) | null,
  ): Promise<R | E> {
    return this.#result.then(({ data }) => data).then(onDone, onFailed);
  }

  catch<E = never>(onFailed?: ((reason: unknown) => E | PromiseLike<E>) | null): Promise<T | E> {
    return this.then(null, onFailed);
  }

  finally(onEnded?: (() => void) | null): Promise<T> {
    return this.then().finally(onEnded);
  }
}
