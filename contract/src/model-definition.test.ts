import { expect, test } from 'vitest';
import type * as z from 'zod';
import { catalog } from './catalog.ts';
import { MAX_MODEL_TOKENS, ModelDefinition, ModelId, modelFields, PriceInput } from './model-definition.ts';

/** What PostgreSQL keeps in no text. */
const UNKEPT = ['nul\0', 'half\ud800'];

const isTaken = (schema: z.ZodType, value: unknown) => schema.safeParse(value).success;

test.each(Object.keys(modelFields))('the field %s of a definition takes no text that the database cannot keep', (field) => {
  for (const text of UNKEPT)
    for (const value of [text, [text], `/v1/${text}`, [`/v1/${text}`]])
      expect(isTaken(ModelDefinition, { [field]: value }), JSON.stringify(value)).toBe(false);
});

test('the source of a price takes no text that the database cannot keep', () => {
  const price = (source: string) => ({ usd_per_million: { input_tokens: '0', output_tokens: '0' }, source });
  expect(isTaken(PriceInput, price('our own machines'))).toBe(true);
  for (const text of UNKEPT) expect(isTaken(PriceInput, price(text)), JSON.stringify(text)).toBe(false);
});

test('a model is defined with lengths that the highest price fits into 64 bits, the answer within the context', () => {
  const faultOf = (definition: object) =>
    ModelDefinition.safeParse(definition).error?.issues.map(({ path, message }) => `${path}: ${message}`);
  for (const field of ['context_window', 'max_output_tokens', 'image_token_bound']) {
    expect(faultOf({ [field]: MAX_MODEL_TOKENS })).toBeUndefined();
    expect(faultOf({ [field]: MAX_MODEL_TOKENS + 1 })).toEqual([`${field}: must be at most 100000000 tokens`]);
  }
  expect(faultOf({ context_window: 1_000, max_output_tokens: 1_000 })).toBeUndefined();
  expect(faultOf({ context_window: 1_000, max_output_tokens: 1_001 })).toEqual([
    'max_output_tokens: must not be more than `context_window`',
  ]);
  // One fault for one length, and none for the other.
  for (const field of ['context_window', 'max_output_tokens', 'image_token_bound']) {
    expect(faultOf({ [field]: 1e300 })).toEqual([`${field}: must be at most 100000000 tokens`]);
    for (const length of [0, -1, -1e300]) expect(faultOf({ [field]: length })).toEqual([`${field}: must be more than 0`]);
    expect(faultOf({ [field]: 1.5 })).toEqual([`${field}: must be a whole number`]);
  }
  expect(faultOf({ context_window: -1, max_output_tokens: 5 })).toEqual(['context_window: must be more than 0']);
  const dearest = 999_999_999_999n;
  expect(PriceInput.safeParse({ usd_per_million: { input_tokens: '999999.999999' } }).success).toBe(true);
  expect((2n * BigInt(MAX_MODEL_TOKENS) * dearest) / 1_000n).toBeLessThan(2n ** 63n);
});

test.each(['1000000', '1000000.5', '0.1234567', '-1', '1e3', 'USD'])('the price %s is refused with the limit and the form', (price) => {
  expect(PriceInput.safeParse({ usd_per_million: { input_tokens: price } }).error?.issues.map(({ message }) => message)).toEqual([
    'must be USD per million units such as "0.15": below 1000000, with at most six decimals',
  ]);
});

test('a model can be defined under the ids that MODELS_FILE takes, and no others', () => {
  for (const [model, is] of [
    ['llama3.1:8b', true],
    ['meta-llama/Llama-4', true],
    ...['foo*', 'a?b', 'a#b', ' ', 'a b', 'x\ny', 'a\u200bb', 'a\u202eb', ...UNKEPT].map((id) => [id, false] as const),
  ] as const)
    expect([model, isTaken(ModelId, model), isTaken(catalog.setModel.pathParams, { model })]).toEqual([model, is, is]);
});
