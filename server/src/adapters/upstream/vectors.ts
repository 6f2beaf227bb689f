import type { EmbeddingRequest } from '@tallygate/contract';
import type { Steps } from '../../kernel/turn.ts';
import { Untranslatable } from './fault.ts';
import type { Json } from './json-value.ts';

/** @throws Untranslatable for tokens, which are another maker's */
export function textsOf(input: EmbeddingRequest['input']): string[] {
  const inputs: readonly unknown[] = typeof input === 'string' ? [input] : input;
  return inputs.map((text) => {
    if (typeof text !== 'string') throw new Untranslatable('input', 'This model takes text, not the tokens of another tokenizer.');
    return text;
  });
}

/** The vectors of a provider as OpenAI's list has them; undefined where one is none. */
export function* openAiVectors(vectors: readonly unknown[], request: EmbeddingRequest): Steps<Json[] | undefined> {
  const data: Json[] = [];
  for (const [index, values] of vectors.entries()) {
    const vector = yield* numbersIn(values);
    if (vector.length === 0) return undefined;
    // Others leave shortened vectors as they fall; OpenAI's always have the length one, and who asks for theirs computes with that.
    if (typeof request.dimensions === 'number') yield* toUnitLength(vector);
    const embedding = request.encoding_format === 'base64' ? yield* base64Of(vector) : vector;
    data.push({ object: 'embedding', index, embedding });
  }
  return data;
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
