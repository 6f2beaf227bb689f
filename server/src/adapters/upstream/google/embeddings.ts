import type { EmbeddingRequest } from '@tallygate/contract';
import { statedUsage } from '../../../kernel/stated-usage.ts';
import { Untranslatable } from '../fault.ts';
import { isRecord, type Json, recordsIn } from '../json-value.ts';
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
  const inputs: readonly unknown[] = typeof input === 'string' ? [input] : input;
  const texts = inputs.map((text) => {
    if (typeof text !== 'string') throw new Untranslatable('input', 'This model takes text, not the tokens of another tokenizer.');
    return text;
  });
  return {
    requests: texts.map((text) => ({
      model,
      content: { parts: [{ text }] },
      ...(typeof dimensions === 'number' && { outputDimensionality: dimensions }),
    })),
  };
}

/** OpenAI's list of embeddings; undefined where the document is no answer of `batchEmbedContents`, or has a vector too few. */
export function embeddingList(document: unknown, request: EmbeddingRequest, model: string): Json | undefined {
  const embeddings = isRecord(document) ? recordsIn(document['embeddings']).map(({ values }) => numbersIn(values)) : [];
  const wanted = typeof request.input === 'string' ? 1 : request.input.length;
  if (!isRecord(document) || embeddings.length !== wanted || embeddings.some((values) => values.length === 0)) return undefined;
  // Google leaves shortened vectors as they fall; OpenAI's always have the length one, and who asks for theirs computes with that.
  const vectors = typeof request.dimensions !== 'number' ? embeddings : embeddings.map(ofUnitLength);
  const usage = embeddingUsage(document);
  return {
    object: 'list',
    data: vectors.map((values, index) => ({
      object: 'embedding',
      index,
      embedding: request.encoding_format === 'base64' ? base64Of(values) : values,
    })),
    model,
    ...(usage && { usage }),
  };
}

/** OpenAI's usage; undefined where Google sent none. */
export function embeddingUsage(found: Json): Json | undefined {
  const tokens = usageOf(statedUsage(found))?.total_tokens;
  return tokens === undefined ? undefined : { prompt_tokens: tokens, total_tokens: tokens };
}

const numbersIn = (values: unknown): number[] => (Array.isArray(values) ? values.filter((value) => typeof value === 'number') : []);

function ofUnitLength(values: readonly number[]): number[] {
  const length = Math.hypot(...values);
  return length === 0 ? [...values] : values.map((value) => value / length);
}

/** Little-endian 32-bit floats, as OpenAI encodes them. */
function base64Of(values: readonly number[]): string {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString('base64');
}
