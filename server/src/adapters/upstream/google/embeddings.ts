import type { EmbeddingRequest } from '@tallygate/contract';
import { statedUsage } from '../../../kernel/stated-usage.ts';
import type { Steps } from '../../../kernel/turn.ts';
import { isRecord, type Json, recordsIn } from '../json-value.ts';
import { openAiVectors, textsOf } from '../vectors.ts';
import { usageOf } from './usage.ts';

export interface BatchEmbedContentsRequest {
  readonly requests: readonly {
    readonly model: string;
    readonly content: { readonly parts: readonly [{ readonly text: string }] };
    readonly outputDimensionality?: number;
  }[];
}

/**
 * @param model as Google's resource name, `models/gemini-embedding-001`
 * @throws Untranslatable for tokens, which are another maker's
 */
export function batchEmbedRequest({ input, dimensions }: EmbeddingRequest, model: string): BatchEmbedContentsRequest {
  return {
    requests: textsOf(input).map((text) => ({
      model,
      content: { parts: [{ text }] },
      ...(typeof dimensions === 'number' && { outputDimensionality: dimensions }),
    })),
  };
}

/** OpenAI's list of embeddings; undefined where the document is no answer of `batchEmbedContents`, or has a vector too few. */
export function* embeddingList(document: unknown, request: EmbeddingRequest, model: string): Steps<Json | undefined> {
  const embeddings = isRecord(document) ? recordsIn(document['embeddings']) : [];
  const wanted = typeof request.input === 'string' ? 1 : request.input.length;
  if (!isRecord(document) || embeddings.length !== wanted) return undefined;
  const data = yield* openAiVectors(
    embeddings.map(({ values }) => values),
    request,
  );
  if (!data) return undefined;
  const usage = embeddingUsage(document);
  return { object: 'list', data, model, ...(usage && { usage }) };
}

/** OpenAI's usage; undefined where Google sent none. */
export function embeddingUsage(found: Json): Json | undefined {
  const tokens = usageOf(statedUsage(found))?.total_tokens;
  return tokens === undefined ? undefined : { prompt_tokens: tokens, total_tokens: tokens };
}
