import type { EmbeddingRequest } from '@tallygate/contract';
import { billed } from '../billing.ts';
import type { Composer } from '../composition.ts';
import { rejection } from '../rejection.ts';
import { countTokensOf } from '../tokens.ts';
import { featuresOf, tokenFeatures, vectorOf } from './vector.ts';

/** Length of a model's vectors; every other model has vectors of {@link USUAL_DIMENSIONS}. */
const DIMENSIONS: readonly (readonly [RegExp, number])[] = [
  [/(?:^|\/)gemini-embedding/i, 3072],
  [/(?:^|\/)text-embedding-3-large/i, 3072],
];
const USUAL_DIMENSIONS = 1536;

type Input = string | readonly number[];

/** A vector for each input, made when it is its turn: a request may ask for thousands. */
export const composeEmbeddings: Composer<'/v1/embeddings'> = ({ model, request }, { fault }) => {
  const dimensions = DIMENSIONS.find(([name]) => name.test(model))?.[1] ?? USUAL_DIMENSIONS;
  const length = request.dimensions ?? dimensions;
  if (length > dimensions) {
    const message = `Invalid value for 'dimensions' = ${length}. Must be at most ${dimensions} for this model.`;
    return rejection(message, { param: 'dimensions', code: 'invalid_value' });
  }
  const inputs = inputsOf(request);
  const texts = inputs.filter((input) => typeof input === 'string');
  const tokens = inputs.reduce((sum, input) => sum + (typeof input === 'string' ? 0 : input.length), countTokensOf(texts));
  const usage = billed({ prompt_tokens: tokens, total_tokens: tokens }, fault, () => ({
    prompt_tokens: 2 * tokens + 16,
    total_tokens: 2 * tokens + 16,
  }));
  const entries = inputs.map((input, index) => () => {
    const features = typeof input === 'string' ? featuresOf(input) : tokenFeatures(input);
    const vector = vectorOf(features, dimensions, length);
    const embedding = request.encoding_format === 'base64' ? base64(vector) : vector;
    return `${index > 0 ? ',' : ''}${JSON.stringify({ object: 'embedding', index, embedding })}`;
  });
  const end = `],${JSON.stringify({ model, usage }).slice(1)}`;
  return { ok: true, contentType: 'application/json', pieces: ['{"object":"list","data":[', ...entries, end] };
};

function inputsOf({ input }: EmbeddingRequest): Input[] {
  if (typeof input === 'string') return [input];
  const numbers = input.filter((one) => typeof one === 'number');
  if (numbers.length > 0) return [numbers];
  return input.flatMap((one): Input[] => (typeof one === 'number' ? [] : [one]));
}

/** Little-endian 32-bit floats. */
function base64(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString('base64');
}
