import type { EmbeddingRequest } from '@tallygate/contract';
import { statedUsage } from '../../../kernel/stated-usage.ts';
import type { Steps } from '../../../kernel/turn.ts';
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
export function* embeddingList(document: unknown, request: EmbeddingRequest, model: string): Steps<Json | undefined> {
  const embeddings = isRecord(document) ? recordsIn(document['embeddings']) : [];
  const wanted = typeof request.input === 'string' ? 1 : request.input.length;
  if (!isRecord(document) || embeddings.length !== wanted) return undefined;
  const data: Json[] = [];
  for (const [index, { values }] of embeddings.entries()) {
    const vector = yield* numbersIn(values);
    if (vector.length === 0) return undefined;
    // Google leaves shortened vectors as they fall; OpenAI's always have the length one, and who asks for theirs computes with that.
    if (typeof request.dimensions === 'number') yield* toUnitLength(vector);
    const embedding = request.encoding_format === 'base64' ? yield* base64Of(vector) : vector;
    data.push({ object: 'embedding', index, embedding });
  }
  const usage = embeddingUsage(document);
  return { object: 'list', data, model, ...(usage && { usage }) };
}

/** OpenAI's usage; undefined where Google sent none. */
export function embeddingUsage(found: Json): Json | undefined {
  const tokens = usageOf(statedUsage(found))?.total_tokens;
  return tokens === undefined ? undefined : { prompt_tokens: tokens, total_tokens: tokens };
}

/** So many numbers are looked at in one step. */
const STEP = 16_384;

function* numbersIn(values: unknown): Steps<number[]> {
  const numbers: number[] = [];
  if (!Array.isArray(values)) return numbers;
  for (let from = 0; from < values.length; from += STEP) {
    for (const value of values.slice(from, from + STEP)) if (typeof value === 'number') numbers.push(value);
    yield;
  }
  return numbers;
}

function* toUnitLength(values: number[]): Steps<void> {
  let squares = 0;
  for (let at = 0; at < values.length; at += 1) {
    squares += (values[at] ?? 0) ** 2;
    if (at % STEP === 0) yield;
  }
  const length = Math.sqrt(squares);
  for (let at = 0; at < values.length && length > 0; at += 1) {
    values[at] = (values[at] ?? 0) / length;
    if (at % STEP === 0) yield;
  }
}

/** Little-endian 32-bit floats, as OpenAI encodes them. */
function* base64Of(values: readonly number[]): Steps<string> {
  const bytes = Buffer.alloc(values.length * 4);
  for (let at = 0; at < values.length; at += 1) {
    bytes.writeFloatLE(values[at] ?? 0, at * 4);
    if (at % STEP === 0) yield;
  }
  return bytes.toString('base64');
}
