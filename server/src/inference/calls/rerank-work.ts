import type { ReceiptUsage, RerankRequest } from '@tallygate/contract';
import type { RankedTexts } from '../../adapters/upstream/port.ts';
import { plainUsage, statedUsage } from '../../kernel/stated-usage.ts';
import { writtenJson } from '../../kernel/written-json.ts';
import type { CatalogModel } from '../../money/catalog/index.ts';
import type { AnswerForm, ShownCost } from './answer-form.ts';
import { bytesBeside } from './cost-fields/index.ts';
import { BYTES_PER_TOKEN, countText } from './estimate.ts';
import { jsonObjectOf } from './json-answer.ts';
import type { Received } from './operation.ts';
import { rankedTexts, searchUnits, shownDocument } from './ranked-texts.ts';
import { isCount, isRecord, NO_USAGE, sidesOf } from './usage.ts';
import type { Work } from './work.ts';

type Json = Readonly<Record<string, unknown>>;

const ENDPOINT = '/v1/rerank';
/** What is put around each pair of a query and a document, tokens. */
const MARK_TOKENS = 8;

/**
 * A ranking is priced by its search units (Cohere), or by its tokens: those of every document, and those of the query with each of them (Jina,
 * and servers of open models). Providers are sent texts alone; what documents are returned is added here.
 *
 * @throws Problem `validation_failed` for a document without a text
 */
export function rerankWork(request: RerankRequest, { sha256 }: Received): Work {
  const { documents, rank_fields: _, return_documents: __, ...rest } = request;
  const texts = rankedTexts(request);
  const upstream: RankedTexts = { ...rest, documents: texts };
  const sizes = texts.map((text) => Buffer.byteLength(text));
  const sum = sizes.reduce((all, size) => all + size, 0);
  const query = Buffer.byteLength(request.query);
  const inputTokens = sum + texts.length * (query + MARK_TOKENS + bytesBeside(ENDPOINT, request));
  const unitsAt = (bytesPerToken: number) =>
    searchUnits({
      queryTokens: Math.ceil(query / bytesPerToken),
      documentTokens: sizes.map((size) => Math.ceil(size / bytesPerToken)),
      mostPerDocument: request.max_tokens_per_doc,
    });
  // No tokenizer makes more tokens than there are bytes.
  const mostUnits = unitsAt(1);
  return {
    endpoint: ENDPOINT,
    model: request.model,
    fallbackModels: request.models ?? [],
    isStream: false,
    needs: [],
    output: null,
    cheaper: 'shorten `query` or `documents`',
    estimatedTokens: Math.ceil((sum + texts.length * query) / BYTES_PER_TOKEN),
    dialects: [
      { endpoint: ENDPOINT, request: upstream, suits: isPricedBySearch, form: rankingForm(request, searchUsage) },
      { endpoint: ENDPOINT, request: upstream, form: rankingForm(request, tokenUsage) },
    ],
    bound: (model) => ({ inputTokens, ...(isPricedBySearch(model) && { searchUnits: mostUnits }) }),
    async estimate(model, _delivered, _bound, tokenizer) {
      if (isPricedBySearch(model)) return { ...NO_USAGE, search_units: Math.min(unitsAt(BYTES_PER_TOKEN), mostUnits) };
      const counted =
        (await countText(texts.join('\n'), model, tokenizer)) + texts.length * (await countText(request.query, model, tokenizer));
      return { ...NO_USAGE, input_tokens: Math.min(counted, inputTokens) };
    },
    requestSha256: sha256,
  };
}

const isPricedBySearch = ({ meters }: CatalogModel): boolean => meters.has('search_units');

type Reader = (...stated: readonly unknown[]) => ReceiptUsage | undefined;

/** Cohere's `meta.billed_units.search_units`. */
const searchUsage: Reader = (...stated) => {
  const units = Math.max(0, ...stated.map(unitsIn));
  return units > 0 ? { ...NO_USAGE, input_tokens: tokenUsage(...stated)?.input_tokens ?? 0, search_units: units } : undefined;
};

function unitsIn(usage: unknown): number {
  const units = plainUsage(usage)?.['search_units'];
  return isCount(units) ? units : 0;
}

const tokenUsage: Reader = (...stated) => {
  const counts = stated.map((usage) => sidesOf(plainUsage(usage))).map(({ input = 0, total = 0 }) => Math.max(input, total));
  const tokens = Math.max(0, ...counts);
  return tokens > 0 ? { ...NO_USAGE, input_tokens: tokens } : undefined;
};

/** Of an answer, which says its usage in one of two places, or in both. */
const statedIn = (value: Json): unknown[] => [statedUsage(value), statedUsage({ meta: value['meta'] })];

const rankingForm = ({ documents, top_n: most, return_documents: areShown }: RerankRequest, read: Reader): AnswerForm => ({
  async read(bytes) {
    const value = await jsonObjectOf(bytes);
    const results = value && resultsIn(value, documents.length);
    if (!results) return undefined;
    // Some servers give them in the order of the documents, and all of them.
    const ranked = results.toSorted((a, b) => scoreOf(b) - scoreOf(a));
    const shown = ranked.slice(0, most ?? undefined).map((result) => ({
      ...result,
      document: areShown ? shownDocument(documents[Number(result['index'])]) : undefined,
    }));
    return {
      contentType: 'application/json',
      usage: read(...statedIn(value)),
      delivered: { text: '', scale: 1 },
      value,
      toBytes: (cost) => writtenJson({ ...value, results: shown, usage: shownUsage(value['usage'], cost) }),
    };
  },
  usageIn: (usage) => read(usage),
  openStream() {
    throw new Error('This endpoint does not stream');
  },
});

/** Undefined where one of them names no document. */
function resultsIn({ results }: Json, count: number): Json[] | undefined {
  if (!Array.isArray(results) || results.length === 0) return undefined;
  const ranked = results
    .filter(isRecord)
    .filter(({ index, relevance_score: score }) => isCount(index) && index < count && typeof score === 'number');
  return ranked.length === results.length ? ranked : undefined;
}

const scoreOf = ({ relevance_score: score }: Json): number => Number(score);

const shownUsage = (reported: unknown, { usage: { input_tokens: tokens, search_units: units }, costUsd }: ShownCost): Json => ({
  ...(tokens > 0 && { prompt_tokens: tokens, total_tokens: tokens }),
  ...(isRecord(reported) && reported),
  ...(units !== undefined && { search_units: units }),
  cost: costUsd,
});
