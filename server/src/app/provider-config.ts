import type { OpenAiQuirks } from '../adapters/upstream/openai-quirks.ts';
import type { OnCancel } from '../inference/calls/index.ts';
import { bedrockAddress, isRegion, REGION, regionIn } from './aws-region.ts';
import { ConfigError } from './config-error.ts';
import { httpUrl } from './http-url.ts';
import type { ProviderLimits } from './provider-limits.ts';
import { keysOf, PRESETS, urlsOf } from './provider-presets.ts';
import { isLocation, LOCATION, PROJECT, placeOf, type VertexPlace, vertexAddress } from './vertex-place.ts';

/** Which API a provider is asked by: OpenAI's as it is, or another by translation. */
export type ProviderKind = 'openai' | 'azure_openai' | 'anthropic' | 'google' | 'cohere' | 'bedrock' | 'vertex';

export interface ProviderConfig {
  readonly name: string;
  readonly kind: ProviderKind;
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens' | undefined;
  /** Whether an endpoint of kind `openai` has Responses; undefined if not configured: the host decides. */
  readonly hasResponses?: boolean | undefined;
  /** In what an endpoint of kind `openai` differs from OpenAI. Default: what is known of its address. */
  readonly quirks?: OpenAiQuirks | undefined;
  /** Azure: a date, `preview` or `v1`. */
  readonly apiVersion: string | undefined;
  /** Azure: how the key is sent. */
  readonly auth: 'api-key' | 'bearer' | undefined;
  /** Amazon Bedrock: that requests are signed for. */
  readonly region?: string | undefined;
  /** Amazon Bedrock: of AWS's shared files, where the credentials are. */
  readonly profile?: string | undefined;
  /** Google Vertex: where it is asked. */
  readonly vertex?: VertexPlace | undefined;
  /** Whether it counts tokens as the models' makers do, so that a counted prompt bounds what it bills. */
  readonly countsLikeMaker: boolean;
  /** Whether it stops billing when its call is cancelled. */
  readonly onCancel: OnCancel;
  readonly http2: boolean;
  readonly weight: number;
  /** What one gateway may ask of it. */
  readonly limits?: ProviderLimits | undefined;
  /** Kept free for dedicated traffic. */
  readonly isReserved?: boolean;
  /**
   * The catalogue's model → the provider's name for it; a name with a `*` matches all models of that form. Undefined for all that the
   * catalogue files under this provider.
   */
  readonly models: Readonly<Record<string, string>> | undefined;
  /** Whether it is asked which models it serves; undefined if not configured: it is asked if the catalogue has no models under its name. */
  readonly discover?: boolean | undefined;
}

/**
 * What is promised about the bill of a call whose connection is closed, looked up in November 2026. If the provider's own
 * documentation does not promise that billing stops, it counts as continuing.
 *
 * - Google documents that it continues: "Using it to cancel an operation will not cancel the request in the service. You will still be charged
 *   usage for any applicable operations." (`abortSignal` of its library, googleapis.github.io/js-genai/release_docs)
 *   Vertex serves the same models by the same library.
 * - OpenAI, Azure OpenAI, Anthropic and Cohere: no statement of theirs was found, for plain answers or for streams. OpenRouter, which resells all
 *   of them, says of streams alone that closing one stops their bill, and of plain answers that the whole is billed; of Google, Bedrock, Groq
 *   and Mistral that billing continues (openrouter.ai/docs/api-reference/streaming, "Stream Cancellation"). That is a third party's statement:
 *   who has it from their provider sets `on_cancel`.
 * - Amazon Bedrock: no statement of AWS's was found, in the references of ConverseStream and InvokeModelWithResponseStream or in its prices.
 */
export const ON_CANCEL: Readonly<Record<ProviderKind, OnCancel>> = {
  openai: 'keeps_billing',
  azure_openai: 'keeps_billing',
  anthropic: 'keeps_billing',
  google: 'keeps_billing',
  cohere: 'keeps_billing',
  bedrock: 'keeps_billing',
  vertex: 'keeps_billing',
};

/** Empty variables are left out. */
export type Environment = Readonly<Record<string, string | undefined>>;

interface WellKnown {
  readonly name: string;
  readonly kind: ProviderKind;
  readonly home: string;
  /** Variables that hold the key; the first that is set wins. */
  readonly keys: readonly string[];
  readonly urls: readonly string[];
  /** It is a server of the operator's, opened by its address; a key is sent where there is one. */
  readonly isLocal?: true | undefined;
}

/** Providers that need nothing but a key, or an address. */
const WELL_KNOWN: readonly WellKnown[] = [
  ...PRESETS.map((preset) => ({ ...preset, kind: 'openai' as const, keys: keysOf(preset), urls: urlsOf(preset) })),
  {
    name: 'cohere',
    kind: 'cohere',
    home: 'https://api.cohere.com',
    // The second of each is that of its own libraries.
    keys: ['COHERE_API_KEY', 'CO_API_KEY'],
    urls: ['COHERE_BASE_URL', 'CO_API_URL'],
  },
  {
    name: 'google',
    kind: 'google',
    home: 'https://generativelanguage.googleapis.com/v1beta',
    // In the order of Google's own libraries.
    keys: ['GOOGLE_API_KEY', 'GEMINI_API_KEY'],
    urls: ['GOOGLE_BASE_URL', 'GOOGLE_GEMINI_BASE_URL', 'GEMINI_BASE_URL'],
  },
  {
    name: 'anthropic',
    kind: 'anthropic',
    home: 'https://api.anthropic.com/v1',
    keys: ['ANTHROPIC_API_KEY'],
    urls: ['ANTHROPIC_BASE_URL'],
  },
];

/**
 * Without the addresses of providers that are the gateway's own: the quickstart sets `OPENAI_BASE_URL` to it for clients, and who starts the gateway
 * in that shell means the provider.
 */
export function withoutOwnAddress(
  env: Environment,
  isOwn: (address: string) => boolean,
): { readonly env: Environment; readonly ignored: readonly string[] } {
  const opened = WELL_KNOWN.filter((provider) => isOpened(provider, env));
  const ignored = opened
    .flatMap(({ urls }) => urls)
    .filter((name) => {
      const address = env[name];
      return address !== undefined && URL.canParse(address) && isOwn(address);
    });
  return { env: Object.fromEntries(Object.entries(env).filter(([name]) => !ignored.includes(name))), ignored };
}

/**
 * The providers that variables alone open.
 * @throws ConfigError naming every wrong variable
 */
export function providersOfVariables(env: Environment): ProviderConfig[] {
  const faults: string[] = [];
  const opened = WELL_KNOWN.flatMap((provider) => {
    const { name, kind, home, urls } = provider;
    if (!isOpened(provider, env)) return [];
    const { variable: keyVariable, apiKey } = keyOf(provider, env) ?? {};
    if (apiKey !== undefined && !isSendableKey(apiKey)) faults.push(`${keyVariable}: ${SENDABLE_KEY}`);
    const variable = urls.find((one) => env[one] !== undefined);
    const given = httpUrl.safeParse(variable === undefined ? home : env[variable]);
    if (!given.success) {
      faults.push(`${variable}: Expected an http(s) URL without credentials`);
      return [];
    }
    return [plainProvider({ name, kind, baseUrl: withPathOf(home, given.data, kind), apiKey })];
  });
  const resold = [...azureOfVariables(env, faults), ...bedrockOfVariables(env, faults), ...vertexOfVariables(env, faults)];
  if (faults.length > 0) throw new ConfigError(faults);
  return [...opened, ...resold];
}

const isOpened = (provider: WellKnown, env: Environment): boolean =>
  provider.isLocal ? provider.urls.some((url) => env[url] !== undefined) : keyOf(provider, env) !== undefined;

/** The quickstart's own key is none: who starts a gateway where that is set does not mean it to be its own provider. */
function keyOf({ keys }: WellKnown, env: Environment): { readonly variable: string; readonly apiKey: string } | undefined {
  const variable = keys.find((key) => env[key] !== undefined);
  const apiKey = variable === undefined ? undefined : env[variable];
  return variable === undefined || apiKey === undefined || apiKey.startsWith('tg_') ? undefined : { variable, apiKey };
}

/** Every API takes its key in a header, and no other characters can be sent there by every client. */
export const isSendableKey = (key: string): boolean => /^[\x21-\x7e]+$/.test(key);
export const SENDABLE_KEY = 'Expected the whole key: ASCII characters, without spaces, line ends and `…`';

/** Anthropic's and Google's own libraries want the address without a version in this variable: then it is added. */
function withPathOf(home: string, baseUrl: string, kind: ProviderKind): string {
  return kind === 'openai' || new URL(baseUrl).pathname !== '/' ? baseUrl : `${baseUrl}${new URL(home).pathname.replace(/\/$/, '')}`;
}

type Given = Pick<ProviderConfig, 'name' | 'kind' | 'baseUrl' | 'apiKey'>;

const plainProvider = (given: Given): ProviderConfig => ({
  ...given,
  headers: {},
  maxTokensField: undefined,
  apiVersion: undefined,
  auth: undefined,
  countsLikeMaker: isMakersOwn(given.baseUrl),
  onCancel: ON_CANCEL[given.kind],
  http2: false,
  weight: 1,
  models: undefined,
});

/** Only OpenAI publishes its tokenizers. */
export const isMakersOwn = (baseUrl: string): boolean => new URL(baseUrl).host === 'api.openai.com';

/** Azure's deployments have names of the operator's choice, so they must be configured. */
function azureOfVariables(env: Environment, faults: string[]): ProviderConfig[] {
  const { AZURE_OPENAI_DEPLOYMENTS: listed, AZURE_OPENAI_ENDPOINT: endpoint, AZURE_OPENAI_API_KEY: apiKey, OPENAI_API_VERSION } = env;
  if (listed === undefined) return [];
  const baseUrl = httpUrl.safeParse(endpoint);
  const pairs = listed.split(',').map((pair) => /^\s*([^=\s]+)\s*(?:=\s*([^=\s]+)\s*)?$/.exec(pair));
  const models = Object.fromEntries(pairs.flatMap((pair) => (pair?.[1] ? [[pair[1], pair[2] ?? pair[1]]] : [])));
  if (pairs.includes(null)) faults.push('AZURE_OPENAI_DEPLOYMENTS: Expected model=deployment pairs, separated by commas');
  if (!baseUrl.success)
    faults.push('AZURE_OPENAI_ENDPOINT: Expected the address of the resource, such as https://my-resource.openai.azure.com');
  if (apiKey === undefined) faults.push('AZURE_OPENAI_API_KEY: Expected a key of the resource, since AZURE_OPENAI_DEPLOYMENTS is set');
  else if (!isSendableKey(apiKey)) faults.push(`AZURE_OPENAI_API_KEY: ${SENDABLE_KEY}`);
  if (OPENAI_API_VERSION !== undefined && !isAzureVersion(OPENAI_API_VERSION)) faults.push(`OPENAI_API_VERSION: ${AZURE_VERSIONS}`);
  if (!baseUrl.success || apiKey === undefined) return [];
  const given = plainProvider({ name: 'azure', kind: 'azure_openai', baseUrl: baseUrl.data, apiKey });
  return [{ ...given, apiVersion: OPENAI_API_VERSION, models }];
}

/** An API key of Bedrock's opens it. AWS's credentials do not: most machines that have some have them for something else. */
function bedrockOfVariables(env: Environment, faults: string[]): ProviderConfig[] {
  const { AWS_BEARER_TOKEN_BEDROCK: apiKey, AWS_ENDPOINT_URL_BEDROCK_RUNTIME: endpoint } = env;
  if (apiKey === undefined) return [];
  const region = regionIn(env);
  const baseUrl = httpUrl.safeParse(endpoint ?? (region === undefined ? undefined : bedrockAddress(region)));
  if (!isSendableKey(apiKey)) faults.push(`AWS_BEARER_TOKEN_BEDROCK: ${SENDABLE_KEY}`);
  if (region === undefined || !isRegion(region)) faults.push(`AWS_REGION: ${REGION}, since AWS_BEARER_TOKEN_BEDROCK is set`);
  else if (!baseUrl.success) faults.push('AWS_ENDPOINT_URL_BEDROCK_RUNTIME: Expected an http(s) URL without credentials');
  return baseUrl.success ? [{ ...plainProvider({ name: 'bedrock', kind: 'bedrock', baseUrl: baseUrl.data, apiKey }), region }] : [];
}

/** By the variables of Google's own libraries. */
function vertexOfVariables(env: Environment, faults: string[]): ProviderConfig[] {
  if (!/^(?:true|1)$/i.test(env['GOOGLE_GENAI_USE_VERTEXAI'] ?? '')) return [];
  const place = placeOf({}, env);
  if (place.project === undefined) faults.push(`GOOGLE_CLOUD_PROJECT: ${PROJECT}, since GOOGLE_GENAI_USE_VERTEXAI is set`);
  if (!isLocation(place.location)) faults.push(`GOOGLE_CLOUD_LOCATION: ${LOCATION}`);
  const baseUrl = vertexAddress(place.location);
  return [{ ...plainProvider({ name: 'vertex', kind: 'vertex', baseUrl, apiKey: undefined }), vertex: place }];
}

/** The first version with `max_completion_tokens` and usage in streams: without both, neither bound nor price would be reliable. */
const FIRST_AZURE_VERSION = '2024-10-21';
export const AZURE_VERSIONS = `Expected \`v1\`, \`preview\`, or a version of ${FIRST_AZURE_VERSION} or later`;

export const isAzureVersion = (text: string): boolean =>
  text === 'v1' || text === 'preview' || (/^\d{4}-\d{2}-\d{2}(-preview)?$/.test(text) && text >= FIRST_AZURE_VERSION);
