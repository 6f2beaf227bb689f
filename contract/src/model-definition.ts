import * as z from 'zod';
import { isPlainText, isVisibleText, NOT_PLAIN, prose } from './conventions.ts';

const PRICE_METERS = {
  input_tokens: 'Text token in.',
  cached_input_tokens: 'Input token read from the provider’s prompt cache.',
  cache_write_tokens: 'Input token written to the provider’s prompt cache.',
  cache_write_1h_tokens: 'Input token written to the cache for an hour.',
  output_tokens: 'Token out, reasoning included.',
  audio_input_tokens: 'Audio token in.',
  cached_audio_input_tokens: 'Cached audio token in.',
  image_input_tokens: 'Image token in.',
  cached_image_input_tokens: 'Cached image token in.',
  image_output_tokens: 'Image token out.',
  input_characters: 'Character of text to be spoken.',
  audio_seconds: 'Second of audio to be transcribed.',
  video_seconds: 'Second of video made.',
  audio_output_tokens: 'Audio token out.',
  web_searches: 'Search of the web by the provider.',
  web_search_previews: 'Search of the web by the provider’s older tool, `web_search_preview`.',
  file_searches: 'Search of stored files by the provider.',
  container_gigabytes: 'Gigabyte of memory of a container that the provider runs, for a session of twenty minutes.',
  image_tool_text_input_tokens: 'Text token in of the provider’s image tool.',
  image_tool_image_input_tokens: 'Image token in of the provider’s image tool.',
  image_tool_text_output_tokens: 'Text token out of the provider’s image tool.',
  image_tool_image_output_tokens: 'Image token out of the provider’s image tool.',
  search_units: 'Search of a rerank model: a query with up to a hundred documents.',
} as const;

/** The units a price can be in. */
export const PriceMeter = z.enum(Object.keys(PRICE_METERS) as [keyof typeof PRICE_METERS, ...(keyof typeof PRICE_METERS)[]]);
export type PriceMeter = z.infer<typeof PriceMeter>;

export const ModelKind = z.enum(['chat', 'completion', 'embedding', 'image', 'moderation', 'realtime', 'rerank', 'tts', 'stt', 'video']);
export type ModelKind = z.infer<typeof ModelKind>;

/** USD per 1,000,000 units as decimal strings, by meter: six decimals are exact in pico-USD per unit. */
const UsdPerMillion = z
  .partialRecord(
    PriceMeter,
    z.string().regex(/^\d{1,6}(\.\d{1,6})?$/, 'must be USD per million units such as "0.15": below 1000000, with at most six decimals'),
  )
  .meta({
    description: 'USD per 1,000,000 units, exact decimals, by meter. "0" is a price.',
    examples: [{ input_tokens: '0.15', cached_input_tokens: '0.075', output_tokens: '0.6' }],
  });

const pricesOfRequests = {
  usd_per_million: UsdPerMillion,
  tiers: z
    .array(
      z.strictObject({
        above_input_tokens: z
          .int()
          .positive()
          .meta({
            description: 'The whole request is priced at this tier when its input is above this many tokens.',
            examples: [200000],
          }),
        usd_per_million: UsdPerMillion,
      }),
    )
    .max(10)
    .optional()
    .meta({ description: 'Prices of long inputs.', examples: [[]] }),
};

/** The service tiers that can have a price of their own. */
export const ServiceTier = z.enum(['flex', 'priority']);
export type ServiceTier = z.infer<typeof ServiceTier>;

const terms = {
  ...pricesOfRequests,
  service_tiers: z
    .partialRecord(ServiceTier, z.strictObject(pricesOfRequests))
    .optional()
    .meta({
      description:
        'Prices of requests that the provider serves at another `service_tier`, in place of all others: with every meter that is priced without. Each is a version of its own, such as `2026-07-24/flex`.',
      examples: [{ flex: { usd_per_million: { input_tokens: '0.075', output_tokens: '0.3' } } }],
    }),
  batch_factor: z
    .string()
    .regex(/^(1|0\.\d{0,17}[1-9])$/, 'must be a factor above 0 and at most 1 such as "0.5"')
    .optional()
    .meta({ description: 'Factor on all prices in batches.', examples: ['1'] }),
};

/** What a model costs, without when. */
export const PriceTerms = z.strictObject(terms);
export type PriceTerms = z.infer<typeof PriceTerms>;

export const PriceInput = z
  .strictObject({
    ...terms,
    effective_from: z.iso
      .datetime()
      .optional()
      .meta({ description: 'When it is to be charged from, not before now. Now when left out.', examples: ['2027-01-01T00:00:00.000Z'] }),
    source: z
      .string()
      .trim()
      .min(1)
      .max(500)
      .refine(isPlainText, NOT_PLAIN)
      .optional()
      .meta({ description: 'Where the figures are from: a page, an offer.', examples: ['our own machines'] }),
  })
  .meta({
    id: 'PriceInput',
    description: 'A price of a model. It has to name every meter that the model’s kind is charged by; 0 is allowed.',
    examples: [{ usd_per_million: { input_tokens: '0.15', output_tokens: '0.6' } }],
  });
export type PriceInput = z.infer<typeof PriceInput>;

/**
 * More than any model can take or give. At the highest price that can be set, nearly 1 USD a token, this many tokens in and out cost 200 million USD:
 * far within the 64 bits of nano-USD that amounts are kept in.
 */
export const MAX_MODEL_TOKENS = 100_000_000;
const TOO_MANY_TOKENS = `must be at most ${MAX_MODEL_TOKENS} tokens`;

/** Zod limits integers to 2⁵³ as well, and reports that first: only our error is reported. */
const tokens = z
  .int({ error: ({ code }) => ({ too_big: TOO_MANY_TOKENS, too_small: 'must be more than 0' })[String(code)], abort: true })
  .positive()
  .max(MAX_MODEL_TOKENS, TOO_MANY_TOKENS);

export const ModelId = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^\s*?#]+$/, 'must be a name without spaces, *, ? and #')
  .refine(isPlainText, NOT_PLAIN)
  .refine(isVisibleText, 'must not contain invisible characters, or ones that turn the direction of the text');

const words = (description: string, example: readonly string[]) =>
  z
    .array(z.string().min(1).max(60).refine(isPlainText, NOT_PLAIN))
    .max(60)
    .meta({ description, examples: [example] });

/** The fields of a definition, which files of models have as well. */
export const modelFields = {
  provider: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,39}$/, 'must be lower-case letters, digits and dashes')
    .optional()
    .meta({
      description:
        'Whose it is: the provider of that name serves it without naming it. Left out, it is served by the providers that name or find it.',
      examples: ['my-vllm'],
    }),
  advertised: z
    .boolean()
    .optional()
    .meta({
      description: 'Whether `GET /v1/models` lists it without being asked for all; `true` for models of one’s own.',
      examples: [true],
    }),
  provider_model: ModelId.optional().meta({
    description: 'The provider’s name for it, where it is not the id.',
    examples: ['meta-llama/Llama-4-Scout'],
  }),
  aliases: z
    .array(ModelId)
    .max(100)
    .optional()
    .meta({ description: 'Other names that callers may write. The provider is sent its own name.', examples: [['scout']] }),
  variants: z
    .array(z.string().min(1).max(200).regex(/^\S+$/, 'must be a name without spaces').refine(isPlainText, NOT_PLAIN))
    .max(100)
    .optional()
    .meta({
      description:
        'Names that the provider knows itself and that cost the same, such as dated ones: it is sent the name as it was asked for. `*` matches any characters: `llama3*`.',
      examples: [['llama3*']],
    }),
  kind: ModelKind.optional().meta({ examples: ['chat'] }),
  released: z.iso
    .date()
    .nullable()
    .optional()
    .meta({ examples: [null] }),
  deprecated: z.iso
    .date()
    .optional()
    .meta({ description: 'Day on which its end was announced.', examples: ['2026-11-01'] }),
  retired: z.iso
    .date()
    .optional()
    .meta({ description: 'Day (UTC) from which it is refused.', examples: ['2027-06-01'] }),
  context_window: tokens
    .nullable()
    .optional()
    .meta({ description: 'Tokens; null if unknown.', examples: [131072] }),
  max_output_tokens: tokens
    .nullable()
    .optional()
    .meta({ description: 'Tokens; null if unknown.', examples: [8192] }),
  input_modalities: words('What it takes.', ['text']).optional(),
  output_modalities: words('What it gives.', ['text']).optional(),
  capabilities: words('What it can do, such as `tools`, `json_schema`, `vision`. Left out, what nearly every model of its kind can.', [
    'streaming',
    'tools',
  ]).optional(),
  endpoints: z
    .array(
      z
        .string()
        .max(200)
        .regex(/^\/v1\//, 'must be endpoints such as /v1/chat/completions')
        .refine(isPlainText, NOT_PLAIN),
    )
    .max(60)
    .optional()
    .meta({ description: 'The endpoints that serve it. Left out, those of its kind.', examples: [['/v1/chat/completions']] }),
  unsupported_parameters: words('Request fields that it does not act on, of those of its kind and capabilities.', ['logprobs']).optional(),
  additional_parameters: words('Request fields that it acts on beside those.', ['top_k']).optional(),
  ladder: z
    .array(ModelId)
    .max(20)
    .optional()
    .meta({ description: 'Models of the same kind that may answer instead, the most similar first.', examples: [['gpt-4o-mini']] }),
  tokenizer: z
    .enum(['o200k_base', 'cl100k_base'])
    .nullable()
    .optional()
    .meta({ description: 'Where its maker publishes it.', examples: [null] }),
  thinking_tokens: tokens.optional().meta({
    description:
      'The most that it thinks beside the bound on tokens out, where its provider bills thought beside that bound, as Alibaba does. It is held with every request, and sent as `thinking_budget`.',
    examples: [38912],
  }),
  image_token_bound: tokens.optional().meta({ description: 'The most that one image can cost, tokens.', examples: [10000] }),
  embedding_dimensions: z
    .int()
    .positive()
    .optional()
    .meta({ examples: [1024] }),
  video_seconds_allowed: words('Lengths that a video may have.', ['4', '8']).min(1).optional(),
  video_extension_seconds_allowed: words('Lengths by which a video can be extended.', ['4']).min(1).optional(),
  video_sizes: words('Sizes that a video may have.', ['720x1280']).min(1).optional(),
  note: prose(1000)
    .optional()
    .meta({ examples: ['On the machine under the stairs.'] }),
};

interface Lengths {
  readonly context_window?: number | null | undefined;
  readonly max_output_tokens?: number | null | undefined;
}

const isLength = (length: number | null | undefined): length is number => tokens.safeParse(length).success;

/** An answer is part of the context. For impossible lengths, only that is reported. */
export const outputFitsContext = ({ context_window: context, max_output_tokens: output }: Lengths): boolean =>
  !isLength(context) || !isLength(output) || output <= context;

/** The error for an answer that does not fit. */
export const OUTPUT_TOO_LONG = { path: ['max_output_tokens'], error: 'must not be more than `context_window`' };

export const ModelDefinition = z
  .strictObject(modelFields)
  .refine(outputFitsContext, OUTPUT_TOO_LONG)
  .meta({
    id: 'ModelDefinition',
    description:
      'A model without its price. What is left out is as `MODELS_FILE`, the shipped list or discovery has it, or else what nearly every model of its kind has.',
    examples: [{ provider: 'my-vllm', kind: 'chat', context_window: 131072 }],
  });
export type ModelDefinition = z.infer<typeof ModelDefinition>;
