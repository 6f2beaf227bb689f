import type { EmbedContentRequest } from '@tallygate/contract';
import { statedUsage } from '../../../kernel/stated-usage.ts';
import { inTurns } from '../../../kernel/turn.ts';
import { Untranslatable } from '../fault.ts';
import { type Exchange, jsonBody } from '../google/exchange.ts';
import { usageOf } from '../google/usage.ts';
import { countIn, isRecord, type Json, recordsIn } from '../json-value.ts';
import type { UpstreamCallOf } from '../port.ts';
import { openAiVectors, textsOf } from '../vectors.ts';

type EmbeddingCall = UpstreamCallOf<'/v1/embeddings'>;

export const isEmbedding = (model: string): boolean => /embedding/.test(model);

/** Gemini's newer ones have a method of their own, for one content a request; Google's libraries choose by the same rule. */
export const hasOwnMethod = (model: string): boolean => model.includes('gemini') && !model.includes('gemini-embedding-001');

/** A request in Google's own words: what its API for developers has beside the content is in a member of its own at Vertex. */
export function embedContentBody({ model: _, content, ...config }: EmbedContentRequest): object {
  return { content: { role: 'user', ...content }, ...(Object.keys(config).length > 0 && { embedContentConfig: config }) };
}

/** @param resource of the model, from the root */
export const embeddingExchange = (call: EmbeddingCall, resource: string): Exchange =>
  hasOwnMethod(call.model) ? embedContent(call, resource) : predict(call, resource);

/** https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/text-embeddings-api */
function predict({ model, request }: EmbeddingCall, resource: string): Exchange {
  const texts = textsOf(request.input);
  if (texts.length > 1 && model.includes('gemini')) throw new Untranslatable('input', 'This model takes one text a request.');
  const { dimensions } = request;
  return {
    path: `${resource}:predict`,
    body: {
      instances: texts.map((content) => ({ content })),
      // A text that is too long is refused rather than cut.
      parameters: { autoTruncate: false, ...(typeof dimensions === 'number' && { outputDimensionality: dimensions }) },
    },
    translationOf: () =>
      jsonBody(
        (document) => {
          const predictions = isRecord(document) ? recordsIn(document['predictions']).map(({ embeddings }) => embeddings) : [];
          return listOf({ model, request }, predictions, tokensOf(predictions));
        },
        // Each vector has its own, which only a document that was read tells.
        () => undefined,
      ),
  };
}

function embedContent({ model, request }: EmbeddingCall, resource: string): Exchange {
  const [text = '', ...others] = textsOf(request.input);
  if (others.length > 0) throw new Untranslatable('input', 'This model takes one text a request.');
  const { dimensions } = request;
  return {
    path: `${resource}:embedContent`,
    body: {
      content: { role: 'user', parts: [{ text }] },
      ...(typeof dimensions === 'number' && { embedContentConfig: { outputDimensionality: dimensions } }),
    },
    translationOf: () =>
      jsonBody((document) => {
        const usage = usageOf(statedUsage(document));
        return listOf({ model, request }, isRecord(document) ? [document['embedding']] : [], usage?.prompt_tokens);
      }, usageIn),
  };
}

const usageIn = (found: Json): unknown => usageBy(usageOf(statedUsage(found))?.prompt_tokens);

async function listOf(
  { model, request }: Pick<EmbeddingCall, 'model' | 'request'>,
  embeddings: readonly unknown[],
  tokens: number | undefined,
): Promise<Json | undefined> {
  if (embeddings.length !== textsOf(request.input).length) return undefined;
  const vectors = embeddings.map((embedding) => (isRecord(embedding) ? embedding['values'] : undefined));
  const data = await inTurns(openAiVectors(vectors, request));
  return data && { object: 'list', data, model, ...(tokens !== undefined && { usage: usageBy(tokens) }) };
}

/** Undefined where one of them says none. */
function tokensOf(embeddings: readonly unknown[]): number | undefined {
  const counts = embeddings.map((one) =>
    isRecord(one) && isRecord(one['statistics']) ? countIn(one['statistics']['token_count']) : undefined,
  );
  return counts.reduce((sum, count) => (sum === undefined || count === undefined ? undefined : sum + count), 0);
}

const usageBy = (tokens: number | undefined): Json | undefined =>
  tokens === undefined ? undefined : { prompt_tokens: tokens, total_tokens: tokens };
