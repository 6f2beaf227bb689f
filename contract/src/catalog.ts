import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, problem, refusals } from './conventions.ts';

const c = initContract();

const PerUnit = z.string().meta({ description: 'USD per single unit, exact decimal.', examples: ['0.00000015'] });

const PRICE_METERS = {
  input_tokens: 'Text token in.',
  cached_input_tokens: 'Input token read from the provider’s prompt cache.',
  cache_write_tokens: 'Input token written to the provider’s prompt cache.',
  cache_write_1h_tokens: 'Input token written to the cache for an hour.',
  output_tokens: 'Token out, reasoning included.',
  audio_input_tokens: 'Audio token in.',
  image_input_tokens: 'Image token in.',
  cached_image_input_tokens: 'Cached image token in.',
  image_output_tokens: 'Image token out.',
  input_characters: 'Character of text to be spoken.',
  audio_seconds: 'Second of audio to be transcribed.',
  video_seconds: 'Second of video made.',
} as const;

/** The units a price can be in. */
export const PriceMeter = z.enum(Object.keys(PRICE_METERS) as [keyof typeof PRICE_METERS, ...(keyof typeof PRICE_METERS)[]]);
export type PriceMeter = z.infer<typeof PriceMeter>;

const PriceTier = z
  .object({
    above_input_tokens: z
      .int()
      .meta({ description: 'The whole request is priced at this tier when its input is above this many tokens.', examples: [200000] }),
    prices: z.partialRecord(PriceMeter, PerUnit).meta({ examples: [{ input_tokens: '0.0000003', output_tokens: '0.0000012' }] }),
  })
  .meta({ id: 'PriceTier', description: 'Long-context prices.' });

export const ModelPricing = z
  .object({
    version: z.string().meta({ description: 'The price version that receipts name.', examples: ['2026-07-24'] }),
    effective_from: z.iso.date().meta({ description: 'First day (UTC) on which it is charged.', examples: ['2026-07-24'] }),
    currency: z.literal('USD'),
    prices: z
      .partialRecord(PriceMeter, PerUnit)
      .meta({ description: 'USD per single unit, by meter.', examples: [{ input_tokens: '0.00000015', output_tokens: '0.0000006' }] }),
    tiers: z.array(PriceTier).meta({ description: 'Empty where long inputs cost no more.', examples: [[]] }),
    batch_factor: z.string().meta({ description: 'Factor on all prices in batches.', examples: ['0.5'] }),
  })
  .meta({ id: 'ModelPricing', description: 'What a model costs.' });

export const Model = z
  .object({
    id: z.string().meta({ examples: ['gpt-4o-mini'] }),
    object: z.literal('model'),
    created: z.int().meta({ description: 'Release, unix seconds; 0 where no release date is known.', examples: [1721260800] }),
    owned_by: z.string().meta({ examples: ['openai'] }),
    kind: z.enum(['chat', 'completion', 'embedding', 'image', 'moderation', 'tts', 'stt', 'video']),
    context_length: z
      .int()
      .nullable()
      .meta({ description: 'Tokens; null where the model is not limited in tokens.', examples: [128000] }),
    max_output_tokens: z
      .int()
      .nullable()
      .meta({ examples: [16384] }),
    modalities: z
      .object({ input: z.array(z.string()), output: z.array(z.string()) })
      .meta({ examples: [{ input: ['text', 'image'], output: ['text'] }] }),
    capabilities: z.array(z.string()).meta({ examples: [['streaming', 'tools', 'vision']] }),
    supported_parameters: z
      .array(z.string())
      .meta({ description: 'Request fields that the model acts on.', examples: [['temperature', 'tools']] }),
    endpoints: z.array(z.string()).meta({ examples: [['/v1/chat/completions']] }),
    ladder: z.array(z.string()).meta({
      description:
        'Models that may stand in for it while its providers are in trouble, the nearest first, in agent runs and with `X-Fallback-Policy: semantic`. Of these only those are tried that can do all that the request asks, and that cost no more.',
      examples: [['gpt-4o-mini']],
    }),
    pricing: ModelPricing,
  })
  .meta({ id: 'Model', description: 'A model in OpenAI’s shape, with what it can do and what it costs.' });
export type Model = z.infer<typeof Model>;

export const ModelList = z
  .object({ object: z.literal('list'), data: z.array(Model) })
  .meta({ id: 'ModelList', description: 'The catalogue.' });
export type ModelList = z.infer<typeof ModelList>;

export const PriceList = z
  .object({
    object: z.literal('list'),
    data: z.array(
      z.object({
        id: z.string().meta({ description: 'The model.', examples: ['gpt-4o-mini'] }),
        pricing: ModelPricing,
      }),
    ),
  })
  .meta({
    id: 'PriceList',
    description:
      'Every price of every model, one entry for each version: those that were, are and will be charged. A version that was published never changes.',
  });
export type PriceList = z.infer<typeof PriceList>;

export const catalog = c.router({
  listModels: {
    method: 'GET',
    path: '/v1/models',
    summary: 'List models',
    description: 'The whole catalogue with prices. OpenAI’s `models.list` reads it as it is.',
    headers: headersA,
    responses: { 200: ModelList, ...refusals.read },
    metadata: { auth: 'bearer', scope: 'inference', tag: 'Models', operationId: 'listModels' } as const,
  },
  listPrices: {
    method: 'GET',
    path: '/v1/prices',
    summary: 'List all prices, past ones included',
    description:
      'Public: with it, the receipt and the public keys, anybody can check that what was charged is what was published. A price is in force from its `effective_from` (UTC) until the next one of the same model.',
    responses: { 200: PriceList, ...refusals.open },
    metadata: { auth: 'none', tag: 'Models', operationId: 'listPrices' } as const,
  },
  getModel: {
    method: 'GET',
    path: '/v1/models/:model',
    summary: 'Get a model',
    description: 'One model with its limits, abilities and prices.',
    headers: headersA,
    pathParams: z.object({
      model: z
        .string()
        .min(1)
        .max(200)
        .meta({ description: 'The model’s id.', examples: ['gpt-4o-mini'] }),
    }),
    responses: { 200: Model, 404: problem, ...refusals.read },
    metadata: { auth: 'bearer', scope: 'inference', tag: 'Models', operationId: 'getModel' } as const,
  },
});
