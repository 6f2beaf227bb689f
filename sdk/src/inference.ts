import type { ChatCompletion, ChatCompletionChunk, ChatCompletionRequest } from './generated/models.ts';
import type { Call } from './transport/call.ts';
import { type InferenceOptions, inferenceHeaders } from './transport/call-options.ts';
import type { EventStream } from './transport/event-stream.ts';
import type { Operation, Transport } from './transport/transport.ts';

type PlainRequest = ChatCompletionRequest & { stream?: false | null | undefined };
type StreamRequest = ChatCompletionRequest & { stream: true };

/** `tallygate.chat.completions` */
export class ChatCompletions {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

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
      ? this.#transport.events<ChatCompletionChunk>(operation, options)
      : this.#transport.json<ChatCompletion>(operation, options);
  }
}

/** `tallygate.chat` */
export class Chat {
  readonly completions: ChatCompletions;

  constructor(transport: Transport) {
    this.completions = new ChatCompletions(transport);
  }
}
