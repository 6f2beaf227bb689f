import type {
  CompactedResponse,
  CompactRequest,
  InputTokens,
  InputTokensRequest,
  ResponseItem,
  ResponseItemList,
  ResponseObject,
  ResponseRequest,
  ResponseStreamEvent,
} from './generated/models.ts';
import { Responses as Generated } from './generated/resources.ts';
import type { Call } from './transport/call.ts';
import { type CallOptions, type InferenceOptions, inferenceHeaders } from './transport/call-options.ts';
import { sleep } from './transport/deadline.ts';
import type { EventStream } from './transport/event-stream.ts';
import type { PagedCall } from './transport/paged-call.ts';
import { pathStep } from './transport/path.ts';

type Plain = ResponseRequest & { stream?: false | null | undefined };
type Streamed = ResponseRequest & { stream: true };
/** The model is the service's own choice where none is named. */
type Counted = Omit<InputTokensRequest, 'model'> & { model?: string | undefined };

/** What to show beside the usual: `reasoning.encrypted_content`. */
interface Shown {
  readonly include?: string | undefined;
}

/** Which items: at most `limit` after the one with the id `after`. */
export interface ItemQuery extends Shown {
  readonly after?: string | undefined;
  /** 1 to 100; default 20. */
  readonly limit?: number | undefined;
  /** Default: `desc`, newest first. */
  readonly order?: 'asc' | 'desc' | undefined;
}

export interface FollowQuery extends Shown {
  /** The `sequence_number` of the last event that has arrived; default: all events, from the first. */
  readonly startingAfter?: number | undefined;
}

export interface ResponseWaitOptions extends CallOptions {
  /** How long to wait before asking again, milliseconds. Default: 2,000. */
  readonly pollMs?: number | undefined;
}

const POLL_MS = 2_000;
const RUNNING: ReadonlySet<ResponseObject['status']> = new Set(['queued', 'in_progress'] as const);
const LAST_EVENTS = new Set(['response.completed', 'response.incomplete', 'response.failed']);
const isLast = ({ type }: ResponseStreamEvent): boolean => LAST_EVENTS.has(type);

/** `tallygate.responses`: stored answers, which can be continued. */
export class Responses extends Generated {
  /** Answers an input, whole, event by event (with `stream: true`) or later (with `background: true`). Stored unless `store` is false. */
  create(request: Plain, options?: InferenceOptions): Call<ResponseObject>;
  create(request: Streamed, options?: InferenceOptions): Call<EventStream<ResponseStreamEvent>>;
  create(request: ResponseRequest, options?: InferenceOptions): Call<ResponseObject | EventStream<ResponseStreamEvent>>;
  create(request: ResponseRequest, options: InferenceOptions = {}): Call<ResponseObject | EventStream<ResponseStreamEvent>> {
    const operation = { method: 'POST', path: '/v1/responses', body: request, headers: inferenceHeaders(options) } as const;
    return request.stream
      ? this.transport.events<ResponseStreamEvent>(operation, options, isLast)
      : this.transport.json<ResponseObject>({ ...operation, isOnce: true }, options);
  }

  /** The current state of a stored response. */
  get(responseId: string, shown: Shown = {}, options?: CallOptions): Call<ResponseObject> {
    return this.transport.json({ method: 'GET', path: responsePath(responseId), query: { ...shown } }, options);
  }

  /**
   * The events of a stored response, from the first or after one that has arrived; of one that still runs in the background, as they
   * come. One that is cancelled meanwhile breaks off: `ConnectionError` with code `stream_cut`.
   */
  follow(responseId: string, { include, startingAfter }: FollowQuery = {}, options?: CallOptions): Call<EventStream<ResponseStreamEvent>> {
    const query = { stream: true, include, starting_after: startingAfter };
    return this.transport.events<ResponseStreamEvent>({ method: 'GET', path: responsePath(responseId), query }, options, isLast);
  }

  /** Asks now and then until a background response is over. */
  async wait(responseId: string, { pollMs = POLL_MS, ...options }: ResponseWaitOptions = {}): Promise<ResponseObject> {
    for (;;) {
      const response = await this.get(responseId, {}, options);
      if (!RUNNING.has(response.status)) return response;
      await sleep(pollMs, options.signal);
    }
  }

  /** What was new in a response's request: the page that was asked for, or all from there on with `for await`. */
  inputItems(responseId: string, query: ItemQuery = {}, options?: CallOptions): PagedCall<ResponseItemList, ResponseItem> {
    return this.transport.pages({ path: `${responsePath(responseId)}/input_items`, query: { ...query } }, options);
  }

  /** Counts the tokens of an input, free of charge. */
  countTokens(request: Counted, options?: CallOptions): Call<InputTokens> {
    return this.transport.json({ method: 'POST', path: '/v1/responses/input_tokens', body: request }, options);
  }

  /** Has a long dialogue summed up: the `output` of the answer is the input of the next response. Charged as a response. */
  compact(request: CompactRequest, options: InferenceOptions = {}): Call<CompactedResponse> {
    return this.transport.json(
      { method: 'POST', path: '/v1/responses/compact', body: request, headers: inferenceHeaders(options), isOnce: true },
      options,
    );
  }
}

const responsePath = (responseId: string): string => `/v1/responses/${pathStep(responseId)}`;

/** Everything that the model says in a response, as one text; what it refuses with is no part of it. */
export const outputText = ({ output }: Pick<ResponseObject, 'output'>): string =>
  output
    .filter(({ type }) => type === 'message')
    .flatMap(({ content }) => (Array.isArray(content) ? content : []))
    .map((part: { type?: unknown; text?: unknown }) => (part.type === 'output_text' && typeof part.text === 'string' ? part.text : ''))
    .join('');
