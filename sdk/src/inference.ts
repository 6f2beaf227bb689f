import type { ChatCompletion, ChatCompletionChunk, ChatCompletionList, ChatCompletionRequest } from './generated/models.ts';
import { ChatCompletions as Generated } from './generated/resources.ts';
import type { Call } from './transport/call.ts';
import { type CallOptions, type InferenceOptions, inferenceHeaders } from './transport/call-options.ts';
import type { EventStream } from './transport/event-stream.ts';
import type { PagedCall } from './transport/paged-call.ts';
import type { Operation, Transport } from './transport/transport.ts';

type PlainRequest = ChatCompletionRequest & { stream?: false | null | undefined };
type StreamRequest = ChatCompletionRequest & { stream: true };

/** Which part of a list: at most `limit` after the one with the id `after`. */
interface StoredQuery {
  readonly after?: string | undefined;
  /** 1 to 100; default 20. */
  readonly limit?: number | undefined;
  /** Default: `asc`, oldest first. */
  readonly order?: 'asc' | 'desc' | undefined;
}

/** Which stored completions. */
export interface StoredChatQuery extends StoredQuery {
  /** Only those that this model gave. */
  readonly model?: string | undefined;
  /** Only those that have these pairs. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/** `tallygate.chat.completions` */
export class ChatCompletions extends Generated {
  /**
   * Answers a conversation, whole or (with `stream: true`) piece by piece. The worst-case cost is held on every cap before the model
   * runs: where it does not fit, `BudgetExceededError` says which cap refused it and by how much.
   */
  create(request: PlainRequest, options?: InferenceOptions): Call<ChatCompletion>;
  create(request: StreamRequest, options?: InferenceOptions): Call<EventStream<ChatCompletionChunk>>;
  create(request: ChatCompletionRequest, options?: InferenceOptions): Call<ChatCompletion | EventStream<ChatCompletionChunk>>;
  create(request: ChatCompletionRequest, options: InferenceOptions = {}): Call<ChatCompletion | EventStream<ChatCompletionChunk>> {
    const isStream = request.stream === true;
    const operation: Operation = {
      method: 'POST',
      path: '/v1/chat/completions',
      body: request,
      headers: inferenceHeaders(options),
      // Streams cannot be replayed, so the service takes no idempotency key for them.
      isOnce: !isStream,
    };
    return isStream
      ? this.transport.events<ChatCompletionChunk>(operation, options)
      : this.transport.json<ChatCompletion>(operation, options);
  }

  /** Completions that were made with `store: true`: the page that was asked for, or all from there on with `for await`. */
  list({ metadata = {}, ...query }: StoredChatQuery = {}, options?: CallOptions): PagedCall<ChatCompletionList, ChatCompletion> {
    const pairs = Object.fromEntries(Object.entries(metadata).map(([name, value]) => [`metadata[${name}]`, value]));
    return this.transport.pages({ path: '/v1/chat/completions', query: { ...query, ...pairs } }, options);
  }
}

/** `tallygate.chat` */
export class Chat {
  readonly completions: ChatCompletions;

  constructor(transport: Transport) {
    this.completions = new ChatCompletions(transport);
  }
}
