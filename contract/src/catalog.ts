import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, idempotencyHeader, problem, refusals, Timestamp } from './conventions.ts';
import { AnthropicModel, AnthropicModelList, AnthropicModelQuery } from './inference/messages.ts';
import { modelPath } from './inference/model-fields.ts';
import { PriceEntry } from './log-declarations.ts';
import { ModelDefinition, ModelId, ModelKind, PriceInput, PriceMeter } from './model-definition.ts';

export * from './model-definition.ts';

const c = initContract();

const PerUnit = z.string().meta({ description: 'USD per single unit, exact decimal.', examples: ['0.00000015'] });

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
    effective_from: Timestamp.meta({ description: 'From which on it is charged (UTC).', examples: ['2026-07-24T00:00:00.000Z'] }),
    currency: z.literal('USD'),
    prices: z
      .partialRecord(PriceMeter, PerUnit)
      .meta({ description: 'USD per single unit, by meter.', examples: [{ input_tokens: '0.00000015', output_tokens: '0.0000006' }] }),
    tiers: z.array(PriceTier).meta({ description: 'Empty where long inputs cost no more.', examples: [[]] }),
    batch_factor: z.string().meta({ description: 'Factor on all prices in batches.', examples: ['0.5'] }),
    source: z.enum(['shipped', 'file', 'admin']).meta({
      description: 'Who set it: the list that comes with the gateway, the operator’s `MODELS_FILE`, an administrator.',
      examples: ['shipped'],
    }),
    cited: z
      .string()
      .nullable()
      .meta({
        description: 'Where the figures are from, and of which day.',
        examples: ['https://developers.openai.com/api/docs/pricing (2026-07-24)'],
      }),
    entry: PriceEntry.nullable().meta({
      description: 'The entry of the log of receipts that declares it, made before it is charged. Receipts name it.',
    }),
  })
  .meta({ id: 'ModelPricing', description: 'What a model costs.' });
export type ModelPricing = z.infer<typeof ModelPricing>;

export const Model = z
  .object({
    id: z.string().meta({ examples: ['gpt-4o-mini'] }),
    object: z.literal('model'),
    created: z.int().meta({ description: 'Release, unix seconds; 0 where no release date is known.', examples: [1721260800] }),
    owned_by: z.string().meta({ examples: ['openai'] }),
    kind: ModelKind,
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
    aliases: z.array(z.string()).meta({
      description: 'Other names of it, dated ones among them. With a `*`: every name of that form.',
      examples: [['gpt-4o-mini-2024-07-18']],
    }),
    ladder: z.array(z.string()).meta({
      description:
        'Models that may answer instead while its providers fail, the most similar first, in agent runs and with `X-Fallback-Policy: semantic`. Of these only those are tried that can do all that the request asks, and that cost no more.',
      examples: [['gpt-4o-mini']],
    }),
    deprecated: z.iso
      .date()
      .nullable()
      .meta({ description: 'Day on which its end was announced.', examples: [null] }),
    retired: z.iso
      .date()
      .nullable()
      .meta({ description: 'Day (UTC) from which its provider does not serve it.', examples: [null] }),
    pricing: ModelPricing.nullable().meta({ description: 'Null where it has no price yet: until it has one it is not served.' }),
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

export const ModelPrice = z
  .object({ id: z.string().meta({ description: 'The model.', examples: ['llama3.1:8b'] }), pricing: ModelPricing })
  .meta({ id: 'ModelPrice', description: 'A price that was set.' });
export type ModelPrice = z.infer<typeof ModelPrice>;

export const DiscoveryReport = z
  .object({
    providers: z.array(
      z.object({
        provider: z.string().meta({ examples: ['my-vllm'] }),
        found: z.array(z.string()).meta({ description: 'The ids of all models that it serves.', examples: [['llama3.1:8b']] }),
        without_price: z
          .array(z.string())
          .meta({ description: 'Those of them that need a price before they are served.', examples: [['llama3.1:8b']] }),
        error: z
          .string()
          .nullable()
          .meta({ description: 'Why it could not be asked; then what it served when it was asked last still counts.', examples: [null] }),
      }),
    ),
  })
  .meta({ id: 'DiscoveryReport', description: 'What the providers say that they serve.' });
export type DiscoveryReport = z.infer<typeof DiscoveryReport>;

const definedPath = z.object({ model: ModelId.meta({ description: 'The model’s id.', examples: ['llama3.1:8b'] }) });

/** Sessions only: what a model costs decides what every account is charged. */
const administers = { auth: 'bearer', session: true, manage: 'admin:write', role: 'admin', tag: 'Models' } as const;

export const catalog = c.router({
  listModels: {
    method: 'GET',
    path: '/v1/models',
    summary: 'List models',
    description:
      'Models with their prices, in OpenAI’s form. A live key is shown what it can be served now; a test key and a session the advertised models and the operator’s own.',
    headers: headersA,
    query: z.object({
      all: z
        .enum(['true', 'false'])
        .optional()
        .meta({ description: '`true`: the whole catalogue, unpriced and unserved models too.', examples: ['true'] }),
    }),
    responses: { 200: ModelList, ...refusals.read },
    metadata: {
      auth: 'bearer',
      scope: 'inference',
      everyAccountRole: true,
      tag: 'Models',
      operationId: 'listModels',
      tool: 'read',
      errors: { also: ['dedicated_capacity_required'] },
      alsoOn: { anthropic: { answer: AnthropicModelList, query: AnthropicModelQuery } },
    } as const,
  },
  listPrices: {
    method: 'GET',
    path: '/v1/prices',
    summary: 'List all prices, past ones included',
    description:
      'Public: with it, the receipt and the public keys, anybody can check that what was charged is what was published. A price is in force from its `effective_from` (UTC) until the next one of the same model.',
    responses: { 200: PriceList, ...refusals.openRead },
    metadata: { auth: 'none', tag: 'Models', operationId: 'listPrices', sdk: 'models.prices' } as const,
  },
  getModel: {
    method: 'GET',
    path: '/v1/models/:model',
    summary: 'Get a model',
    description: 'One model with its limits, abilities and prices.',
    headers: headersA,
    pathParams: modelPath,
    responses: { 200: Model, 404: problem, ...refusals.read },
    metadata: {
      auth: 'bearer',
      scope: 'inference',
      everyAccountRole: true,
      tag: 'Models',
      operationId: 'getModel',
      sdk: 'models.get',
      tool: 'read',
      errors: { also: ['model_not_found', 'dedicated_capacity_required'] },
      alsoOn: { anthropic: { answer: AnthropicModel } },
    } as const,
  },
  setModel: {
    method: 'PUT',
    path: '/v1/admin/models/:model',
    summary: 'Define a model',
    description:
      'For administrators: a model of one’s own, or another definition of a known one. It counts before `MODELS_FILE`, the shipped list and what was discovered, on every gateway within a second. Its price is set by itself.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: definedPath,
    body: ModelDefinition,
    responses: { 200: Model, 409: problem, ...refusals.write },
    metadata: { ...administers, operationId: 'setModel', sdk: 'models.define' } as const,
  },
  setModelPrice: {
    method: 'POST',
    path: '/v1/admin/models/:model/prices',
    summary: 'Set the price of a model',
    description:
      'For administrators: a new price version of a model, named by its id; an alias, a dated name or a name with a provider is refused. The first one of a model is charged from now on; a later one from two seconds on, so that all gateways change at the same moment, or from a later moment that is named. No price is ever edited or dated back: requests that have begun, and receipts, keep theirs.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: modelPath,
    body: PriceInput,
    responses: { 201: ModelPrice, 404: problem, 409: problem, ...refusals.write },
    metadata: { ...administers, operationId: 'setModelPrice', sdk: 'models.setPrice', errors: { also: ['model_not_found'] } } as const,
  },
  removeModel: {
    method: 'DELETE',
    path: '/v1/admin/models/:model',
    summary: 'Remove a definition of a model',
    description:
      'For administrators: takes back what an administrator has defined. What `MODELS_FILE`, the shipped list and the providers say of the model counts again, on every gateway within a second; a model of which they say nothing is no longer in the catalogue. Its prices stay published, and count again if it is defined anew.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: modelPath,
    responses: { 204: c.noBody(), 404: problem, 409: problem, ...refusals.read },
    metadata: { ...administers, operationId: 'removeModel', sdk: 'models.remove', errors: { also: ['model_not_found'] } } as const,
  },
  discoverModels: {
    method: 'POST',
    path: '/v1/admin/models/discover',
    summary: 'Ask the providers for their models',
    description:
      'For administrators: asks every provider that is configured with `"discover": true` for `GET /v1/models`, as the gateway does at its start and every minute.',
    headers: { ...headersA, ...idempotencyHeader },
    body: z.strictObject({}).optional(),
    responses: { 200: DiscoveryReport, 409: problem, ...refusals.write },
    metadata: { ...administers, operationId: 'discoverModels', sdk: 'models.discover' } as const,
  },
});
