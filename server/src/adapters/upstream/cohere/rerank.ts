import type { UpstreamCallOf } from '../port.ts';

/** What Cohere's `POST /v2/rerank` takes (docs.cohere.com/reference/rerank). It refuses fields that it does not know. */
export interface CohereRerankRequest {
  readonly model: string;
  readonly query: string;
  readonly documents: readonly string[];
  readonly top_n?: number;
  readonly max_tokens_per_doc?: number;
  readonly priority?: number;
}

export function rerankRequest({ model, request }: UpstreamCallOf<'/v1/rerank'>): CohereRerankRequest {
  const { query, documents, top_n, max_tokens_per_doc, priority } = request;
  return {
    model,
    query,
    documents,
    // More than there are documents are refused there, and mean all of them here.
    ...(typeof top_n === 'number' && { top_n: Math.min(top_n, documents.length) }),
    ...(typeof max_tokens_per_doc === 'number' && { max_tokens_per_doc }),
    ...(typeof priority === 'number' && { priority }),
  };
}
