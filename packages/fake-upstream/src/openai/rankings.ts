import type { Answer, Question } from '../dialect.ts';
import { inflated } from '../inflated.ts';
import { never } from './texts.ts';

const DOCUMENTS_PER_SEARCH = 100;

/**
 * The documents as they came, each less relevant than the one before. Cohere's path bills search units, the path of Jina and of servers of open
 * models bills ten tokens for each document.
 */
export function rankingAnswer({ turn, path, request, step, promptTokens }: Question): Answer {
  const { documents, top_n: most } = request;
  const count = Array.isArray(documents) ? documents.length : 0;
  const results = Array.from({ length: Math.min(count, typeof most === 'number' ? most : count) }, (_, index) => ({
    index,
    relevance_score: 1 / (index + 1),
  }));
  const id = `rerank-fake-${turn}`;
  if (path === '/v2/rerank') {
    const billed_units = inflated({ search_units: Math.ceil(count / DOCUMENTS_PER_SEARCH) }, step);
    return never({ id, results, meta: { api_version: { version: '2' }, billed_units } });
  }
  const usage = inflated({ total_tokens: promptTokens * count, prompt_tokens: promptTokens * count }, step);
  return never({ id, model: request['model'] ?? 'fake-model', results, usage });
}
