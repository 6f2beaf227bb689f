import { type Fields, isFields } from '../fields.ts';
import { unknownName } from './unknown-name.ts';

const KNOWN = new Set(['model', 'content', 'taskType', 'title', 'outputDimensionality']);
const DEFAULT_DIMENSIONS = 3072;

const requestsIn = ({ requests }: Fields): Fields[] => (Array.isArray(requests) ? requests.filter(isFields) : []);

export function whatIsWrongWithEmbedding(body: Fields, model: string): string | undefined {
  const requests = requestsIn(body);
  if (requests.length === 0) return '* BatchEmbedContentsRequest.requests: requests is not specified';
  for (const request of requests) {
    const unknown = unknownName(request, KNOWN);
    if (unknown !== undefined) return unknown;
    if (request['model'] !== `models/${model}`) return '* BatchEmbedContentsRequest.requests.model: model must match the one in the path';
    if (!isFields(request['content'])) return '* EmbedContentRequest.content: content is not specified';
  }
  return undefined;
}

/** Vectors that are all alike; their length is not one, as Google's shortened ones are not. */
export const embeddingAnswer = (body: Fields): Fields => ({
  embeddings: requestsIn(body).map(({ outputDimensionality: dimensions = DEFAULT_DIMENSIONS }) => ({
    values: Array.from({ length: Number(dimensions) }, () => 0.5),
  })),
});
