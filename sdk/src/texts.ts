import type {
  Completion,
  CompletionRequest,
  EmbeddingList,
  EmbeddingRequest,
  Moderation,
  ModerationRequest,
  Ranking,
  RerankRequest,
} from './generated/models.ts';
import type { Call } from './transport/call.ts';
import { type InferenceOptions, inferenceHeaders } from './transport/call-options.ts';
import type { EventStream } from './transport/event-stream.ts';
import { Resource } from './transport/resource.ts';

type Plain = CompletionRequest & { stream?: false | null | undefined };
type Streamed = CompletionRequest & { stream: true };

/** `tallygate.completions`: the older text completions. */
export class Completions extends Resource {
  /** Completes a text, whole or (with `stream: true`) piece by piece. */
  create(request: Plain, options?: InferenceOptions): Call<Completion>;
  create(request: Streamed, options?: InferenceOptions): Call<EventStream<Completion>>;
  create(request: CompletionRequest, options: InferenceOptions = {}): Call<Completion | EventStream<Completion>> {
    const operation = { method: 'POST', path: '/v1/completions', body: request, headers: inferenceHeaders(options) } as const;
    return request.stream
      ? this.transport.events<Completion>(operation, options)
      : this.transport.json<Completion>({ ...operation, isOnce: true }, options);
  }
}

/** `tallygate.embeddings`: vectors for texts. */
export class Embeddings extends Resource {
  /** One vector for each input, in order: numbers, or base64 of little-endian 32-bit floats where `encoding_format` asks for it. */
  create(request: EmbeddingRequest, options: InferenceOptions = {}): Call<EmbeddingList> {
    return this.transport.json(
      { method: 'POST', path: '/v1/embeddings', body: request, headers: inferenceHeaders(options), isOnce: true },
      options,
    );
  }
}

/** `tallygate.moderations`: judgements of content, free of charge. */
export class Moderations extends Resource {
  /** One judgement for each input. */
  create(request: ModerationRequest, options: InferenceOptions = {}): Call<Moderation> {
    return this.transport.json(
      { method: 'POST', path: '/v1/moderations', body: request, headers: inferenceHeaders(options), isOnce: true },
      options,
    );
  }
}

/** `tallygate.rerank`: documents by their relevance. */
export class Rerank extends Resource {
  /** The documents in the order of what they have to do with the query. */
  create(request: RerankRequest, options: InferenceOptions = {}): Call<Ranking> {
    return this.transport.json(
      { method: 'POST', path: '/v1/rerank', body: request, headers: inferenceHeaders(options), isOnce: true },
      options,
    );
  }
}
