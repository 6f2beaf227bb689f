import { breather } from '../../../../kernel/turn.ts';
import { writtenJson } from '../../../../kernel/written-json.ts';
import { billed } from '../billing.ts';
import type { Composer } from '../composition.ts';
import { featuresOf, vectorOf } from '../embeddings/vector.ts';
import { countTokens, countTokensOf } from '../tokens.ts';

/** Enough to tell texts apart: a request may have thousands of documents. */
const DIMENSIONS = 256;
const DOCUMENTS_PER_SEARCH = 100;
const PRECISION = 1e6;

interface Scored {
  readonly index: number;
  readonly relevance_score: number;
}

/** The documents by the words that they share with the query. The usage has both ways to bill: search units and tokens. */
export const composeRanking: Composer<'/v1/rerank'> = async ({ model, request }, { idSeed, fault }) => {
  const { query, documents, top_n: most } = request;
  const asked = vectorOf(featuresOf(query), DIMENSIONS, DIMENSIONS);
  const rest = breather();
  const scored: Scored[] = [];
  for (const [index, document] of documents.entries()) {
    scored.push({ index, relevance_score: likeness(asked, vectorOf(featuresOf(document), DIMENSIONS, DIMENSIONS)) });
    await rest();
  }
  const results = scored.sort((a, b) => b.relevance_score - a.relevance_score || a.index - b.index).slice(0, most ?? undefined);
  const tokens = countTokensOf(documents) + documents.length * countTokens(query);
  const units = Math.ceil(documents.length / DOCUMENTS_PER_SEARCH);
  const usage = billed({ total_tokens: tokens }, fault, () => ({ total_tokens: 1_000 * tokens }));
  const billed_units = billed({ search_units: units }, fault, () => ({ search_units: 1_000 * units }));
  const meta = { api_version: { version: '2' }, ...(billed_units && { billed_units }) };
  const answer = { id: idSeed.slice(0, 32), model, results, meta, ...(usage && { usage }) };
  return { ok: true, contentType: 'application/json', pieces: [await writtenJson(answer)] };
};

/** From 0 to 1. */
function likeness(a: readonly number[], b: readonly number[]): number {
  const product = a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
  return Math.round(Math.min(1, Math.max(0, product)) * PRECISION) / PRECISION;
}
