import { validateHeaderName, validateHeaderValue } from 'node:http';
import * as z from 'zod';
import { bedrockAddress, isRegion, REGION, regionIn } from './aws-region.ts';
import { ConfigError } from './config-error.ts';
import { httpUrl } from './http-url.ts';
import { readJsonFile } from './json-file.ts';
import {
  AZURE_VERSIONS,
  type Environment,
  isAzureVersion,
  isMakersOwn,
  isSendableKey,
  ON_CANCEL,
  type ProviderConfig,
  SENDABLE_KEY,
} from './provider-config.ts';
import type { ProviderLimits } from './provider-limits.ts';
import { isLocation, LOCATION, PROJECT, placeOf, vertexAddress } from './vertex-place.ts';

function areHeaders(headers: Readonly<Record<string, string>>): boolean {
  try {
    for (const [name, value] of Object.entries(headers)) {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    }
    return true;
  } catch {
    return false;
  }
}

/**
 * The catalogue's models that it serves: a list, in which `llama3*` matches all of that form, or a map to the provider's own names. All models
 * of the provider's name when left out, and without such what it says that it serves.
 */
const models = z.union([z.array(z.string()), z.record(z.string(), z.string())]);

const limit = z.number().int().positive().max(1_000_000_000);

const everyKind = {
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/, 'Expected lower-case letters, digits and dashes'),
  /** The key itself, or the variable that holds it. */
  api_key: z.string().refine(isSendableKey, SENDABLE_KEY).optional(),
  api_key_env: z.string().min(1).optional(),
  headers: z.record(z.string(), z.string()).refine(areHeaders, 'Expected names and values that HTTP allows').optional(),
  /** The endpoint is the maker's own, or counts tokens with the maker's tokenizer. */
  counts_like_maker: z.boolean().optional(),
  /** Whether the provider stops billing when its call is cancelled. */
  on_cancel: z.enum(['stops_billing', 'keeps_billing']).optional(),
  http2: z.boolean().default(false),
  weight: z.number().positive().max(1_000_000).default(1),
  /** What this gateway may ask of it with this key. */
  limits: z
    .strictObject({
      requests_per_minute: limit.optional(),
      tokens_per_minute: limit.optional(),
      concurrency: limit.optional(),
    })
    .optional(),
  /** Keep it free for requests that come to `ENTERPRISE_BASE_URL`. */
  dedicated: z.boolean().default(false),
};
const maxTokensField = z.enum(['max_tokens', 'max_completion_tokens']).optional();

const Provider = z.discriminatedUnion(
  'kind',
  [
    z.strictObject({
      kind: z.literal('openai'),
      ...everyKind,
      base_url: httpUrl,
      models: models.optional(),
      /** Ask it for `GET /v1/models`. */
      discover: z.boolean().optional(),
      max_tokens_field: maxTokensField,
      /** Whether it has `/v1/responses`. */
      responses: z.boolean().optional(),
    }),
    z.strictObject({
      kind: z.literal('azure_openai'),
      ...everyKind,
      /** The resource's name, or its whole address. */
      resource: z
        .string()
        .regex(/^[A-Za-z0-9-]{2,64}$/, 'Expected the name of an Azure resource; an address goes into `base_url`')
        .optional(),
      base_url: httpUrl.optional(),
      api_version: z.string().refine(isAzureVersion, AZURE_VERSIONS).optional(),
      auth: z.enum(['api-key', 'bearer']).optional(),
      /** The catalogue's model → the deployment that serves it. */
      deployments: z.record(z.string(), z.string().min(1)).refine((map) => Object.keys(map).length > 0, 'Expected a deployment by model'),
      max_tokens_field: maxTokensField,
    }),
    z.strictObject({ kind: z.literal('anthropic'), ...everyKind, base_url: httpUrl.optional(), models: models.optional() }),
    z.strictObject({ kind: z.literal('google'), ...everyKind, base_url: httpUrl.optional(), models: models.optional() }),
    z.strictObject({ kind: z.literal('cohere'), ...everyKind, base_url: httpUrl.optional(), models: models.optional() }),
    z.strictObject({
      kind: z.literal('bedrock'),
      ...everyKind,
      base_url: httpUrl.optional(),
      models: models.optional(),
      region: z.string().refine(isRegion, REGION).optional(),
      /** Of AWS's shared files; without `api_key` requests are signed with the credentials of AWS's own chain. */
      profile: z.string().min(1).optional(),
    }),
    z.strictObject({
      kind: z.literal('vertex'),
      ...everyKind,
      base_url: httpUrl.optional(),
      models: models.optional(),
      project: z
        .string()
        .regex(/^[a-z0-9:.-]{4,63}$/, PROJECT)
        .optional(),
      location: z.string().refine(isLocation, LOCATION).optional(),
      /** Of a service account; without it and `api_key` Google's application default credentials are used. */
      key_file: z.string().min(1).optional(),
    }),
  ],
  'Expected `kind` to be openai, azure_openai, anthropic, google, cohere, bedrock or vertex',
);
type Provider = z.infer<typeof Provider>;

const withKind = (entry: unknown): unknown =>
  typeof entry === 'object' && entry !== null && !('kind' in entry) ? { kind: 'openai', ...entry } : entry;

const ProvidersFile = z.strictObject({ providers: z.array(z.preprocess(withKind, Provider)).min(1) });

const HOMES = {
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
  cohere: 'https://api.cohere.com',
} as const;

/**
 * The providers of the file that `PROVIDERS_FILE` names; none where it names none.
 * @throws ConfigError naming what is wrong, without a word of a key
 */
export function providersOfFile(env: Environment): ProviderConfig[] {
  const path = env['PROVIDERS_FILE'];
  if (path === undefined) return [];
  const parsed = ProvidersFile.safeParse(readJsonFile('PROVIDERS_FILE', path).content);
  if (!parsed.success)
    throw new ConfigError(parsed.error.issues.map(({ path: at, message }) => `PROVIDERS_FILE ${path}: ${at.join('.')}: ${message}`));
  return parsed.data.providers.map((provider, index) => {
    const fault = (field: string, message: string): ConfigError =>
      new ConfigError([`PROVIDERS_FILE ${path}: providers.${index}.${field}: ${message}`]);
    const apiKey = provider.api_key ?? (provider.api_key_env === undefined ? undefined : env[provider.api_key_env]);
    if (provider.api_key_env !== undefined && apiKey === undefined)
      throw fault('api_key_env', `The variable ${provider.api_key_env} is not set`);
    if (apiKey !== undefined && !isSendableKey(apiKey)) throw fault('api_key_env', `${provider.api_key_env}: ${SENDABLE_KEY}`);
    if (!DOES_WITHOUT_KEY.has(provider.kind) && apiKey === undefined && provider.headers === undefined)
      throw fault('api_key_env', 'Expected the variable that holds the key: this provider answers nobody without one');
    const cloud = cloudOf(provider, env);
    if ('field' in cloud) throw fault(cloud.field, cloud.fault);
    const baseUrl = baseUrlOf(provider, cloud);
    if (baseUrl === undefined) throw fault('resource', "Expected the resource's name, or its address as `base_url`");
    return { ...configOf(provider, baseUrl, apiKey), ...cloud };
  });
}

/** Some servers want no key, and credentials of AWS and Google come from elsewhere. */
const DOES_WITHOUT_KEY: ReadonlySet<Provider['kind']> = new Set(['openai', 'bedrock', 'vertex']);

type Cloud = Pick<ProviderConfig, 'region' | 'profile' | 'vertex'>;

/** Where a cloud's models are asked, or what is wrong with it. */
function cloudOf(provider: Provider, env: Environment): Cloud | { readonly field: string; readonly fault: string } {
  if (provider.kind === 'bedrock') {
    const region = provider.region ?? regionIn(env);
    return region !== undefined && isRegion(region) ? { region, profile: provider.profile } : { field: 'region', fault: REGION };
  }
  if (provider.kind !== 'vertex') return {};
  const vertex = placeOf(provider, env);
  if (!isLocation(vertex.location)) return { field: 'location', fault: LOCATION };
  const hasKey = provider.api_key !== undefined || provider.api_key_env !== undefined;
  return vertex.project === undefined && !hasKey ? { field: 'project', fault: PROJECT } : { vertex };
}

function baseUrlOf(provider: Provider, { region = '', vertex }: Cloud): string | undefined {
  switch (provider.kind) {
    case 'openai':
      return provider.base_url;
    case 'azure_openai':
      return provider.base_url ?? (provider.resource && `https://${provider.resource}.openai.azure.com`);
    case 'anthropic':
    case 'google':
    case 'cohere':
      return provider.base_url ?? HOMES[provider.kind];
    case 'bedrock':
      return provider.base_url ?? bedrockAddress(region);
    case 'vertex':
      return provider.base_url ?? vertexAddress(vertex?.location ?? '');
    default:
      return provider satisfies never;
  }
}

function configOf(provider: Provider, baseUrl: string, apiKey: string | undefined): ProviderConfig {
  const isAzure = provider.kind === 'azure_openai';
  return {
    name: provider.name,
    kind: provider.kind,
    baseUrl,
    apiKey,
    headers: provider.headers ?? {},
    maxTokensField: 'max_tokens_field' in provider ? provider.max_tokens_field : undefined,
    ...(provider.kind === 'openai' && { hasResponses: provider.responses, discover: provider.discover }),
    apiVersion: isAzure ? provider.api_version : undefined,
    auth: isAzure ? provider.auth : undefined,
    countsLikeMaker: provider.counts_like_maker ?? isMakersOwn(baseUrl),
    onCancel: provider.on_cancel ?? ON_CANCEL[provider.kind],
    http2: provider.http2,
    weight: provider.weight,
    ...(provider.limits && { limits: limitsOf(provider.limits) }),
    ...(provider.dedicated && { isReserved: true }),
    models: isAzure ? provider.deployments : namesOf(provider.models),
  };
}

const limitsOf = (limits: NonNullable<Provider['limits']>): ProviderLimits => ({
  requestsPerMinute: limits.requests_per_minute ?? null,
  tokensPerMinute: limits.tokens_per_minute ?? null,
  concurrency: limits.concurrency ?? null,
});

const namesOf = (served: z.infer<typeof models> | undefined): Readonly<Record<string, string>> | undefined =>
  Array.isArray(served) ? Object.fromEntries(served.map((model) => [model, model])) : served;
