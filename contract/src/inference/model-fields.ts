import * as z from 'zod';

/** JSON whose shape is the provider's business. */
export const anyJson = (description: string) => z.unknown().meta({ description });

/** Whether a tool that the model is to call, a function or a custom one, says by which name. */
export const isNamed = (type: string, described: unknown): boolean =>
  !(type === 'function' || type === 'custom') ||
  (typeof described === 'object' &&
    described !== null &&
    'name' in described &&
    typeof described.name === 'string' &&
    described.name !== '');

/** The model asked for. */
export const modelField = (example: string) =>
  z
    .string()
    .min(1)
    .max(200)
    .meta({ description: 'A model of the catalogue.', examples: [example] });

/** A model in the path. */
export const modelPath = z.object({
  model: z
    .string()
    .min(1)
    .max(200)
    .meta({ description: 'The model’s id.', examples: ['gpt-4o-mini'] }),
});

/** The caller's own fallbacks, on every endpoint that runs a model. */
export const fallbackModels = z
  .array(z.string().min(1).max(200))
  .min(1)
  .max(10)
  .nullable()
  .optional()
  .meta({ description: 'Fallbacks in order, tried when `model` cannot be served. Not sent to the provider.' });

export const streamField = z.boolean().nullable().optional().meta({ description: 'Answer as server-sent events.' });

export const userField = z.string().nullable().optional().meta({ description: 'An id of the end user, as the caller names them.' });

/** The cost as it is added to every usage. */
export const costField = z
  .number()
  .optional()
  .meta({ description: 'What the request cost, USD. For people: the exact amount is in the receipt.', examples: [0.00000855] });

const isTokenList = (value: unknown, most: number): boolean =>
  Array.isArray(value) && value.length > 0 && value.length <= most && value.every((token) => Number.isSafeInteger(token) && token >= 0);

/** A text as its tokens, by their numbers. Hundreds of thousands are an ordinary request: they are checked all at once, and not as a schema each. */
export const tokenList = (most = Number.MAX_SAFE_INTEGER) =>
  z
    .custom<number[]>((value) => isTokenList(value, most), 'must be tokens')
    .meta({
      type: 'array',
      items: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
      minItems: 1,
      ...(most < Number.MAX_SAFE_INTEGER && { maxItems: most }),
    });
