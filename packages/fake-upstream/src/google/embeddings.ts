import { type Fields, isFields } from '../fields.ts';
import { unknownName } from './unknown-name.ts';

const KNOWN = new Set(['model', 'content', 'taskType', 'title', 'outputDimensionality']);
const DEFAULT_DIMENSIONS = 3072;

const requestsIn = ({ requests }: Fields): Fields[] => (Array.isArray(requests) ? requests.filter(isFields) : []);

export function whatIsWrongWithEmbedding(body: Fields, model: string): string | undefined {
  if (!('requests' in body)) return wrongRequest(body);
  const requests = requestsIn(body);
  if (requests.length === 0) return '* BatchEmbedContentsRequest.requests: requests is not specified';
  for (const request of requests) {
    const wrong = wrongRequest(request);
    if (wrong !== undefined) return wrong;
    if (request['model'] !== `models/${model}`) return '* BatchEmbedContentsRequest.requests.model: model must match the one in the path';
  }
  return undefined;
}

const wrongRequest = (request: Fields): string | undefined =>
  unknownName(request, KNOWN) ?? (isFields(request['content']) ? undefined : '* EmbedContentRequest.content: content is not specified');

/** Vectors that are all alike; their length is not one, as Google's shortened ones are not. */
export const embeddingAnswer = (body: Fields): Fields =>
  'requests' in body ? { embeddings: requestsIn(body).map(vectorFor) } : { embedding: vectorFor(body) };

const vectorFor = ({ outputDimensionality: dimensions = DEFAULT_DIMENSIONS }: Fields): Fields => ({
  values: Array.from({ length: Number(dimensions) }, () => 0.5),
});
