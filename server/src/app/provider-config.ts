import { ConfigError } from './config-error.ts';
import { httpUrl } from './http-url.ts';

/** Which API a provider is asked by: OpenAI's as it is, or another by translation. */
export type ProviderKind = 'openai' | 'azure_openai' | 'anthropic' | 'google';

export interface ProviderConfig {
  readonly name: string;
  readonly kind: ProviderKind;
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens' | undefined;
  /** Whether an endpoint of kind `openai` has Responses; undefined where nobody said, and the host decides. */
  readonly hasResponses?: boolean | undefined;
  /** Azure: a date, `preview` or `v1`. */
  readonly apiVersion: string | undefined;
  /** Azure: how the key is sent. */
  readonly auth: 'api-key' | 'bearer' | undefined;
  /** Whether it counts tokens as the models' makers do, so that a counted prompt bounds what it bills. */
  readonly countsLikeMaker: boolean;
  readonly http2: boolean;
  readonly weight: number;
  /** The catalogue's model → the provider's name for it; undefined for all models that the catalogue files under this provider. */
  readonly models: Readonly<Record<string, string>> | undefined;
}

/** Empty variables are left out. */
export type Environment = Readonly<Record<string, string | undefined>>;

interface WellKnown {
  readonly name: string;
  readonly kind: ProviderKind;
  readonly home: string;
  /** Variables that hold the key; the first that is set wins. */
  readonly keys: readonly string[];
  readonly urls: readonly string[];
}

const openAi = (name: string, home: string): WellKnown => {
  const prefix = name.toUpperCase();
  return { name, kind: 'openai', home, keys: [`${prefix}_API_KEY`], urls: [`${prefix}_BASE_URL`] };
};

/** Providers that need nothing but a key. */
const WELL_KNOWN: readonly WellKnown[] = [
  openAi('openai', 'https://api.openai.com/v1'),
  openAi('xai', 'https://api.x.ai/v1'),
  openAi('deepseek', 'https://api.deepseek.com/v1'),
  openAi('mistral', 'https://api.mistral.ai/v1'),
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
 * The providers that variables alone open.
 * @throws ConfigError naming every wrong variable
 */
export function providersOfVariables(env: Environment): ProviderConfig[] {
  const faults: string[] = [];
  const opened = WELL_KNOWN.flatMap(({ name, kind, home, keys, urls }) => {
    const apiKey = keys.map((key) => env[key]).find((key) => key !== undefined);
    // The quickstart's own variables: who starts a gateway where they are set does not mean it to be its own provider.
    if (apiKey === undefined || apiKey.startsWith('tg_')) return [];
    const variable = urls.find((one) => env[one] !== undefined);
    const given = httpUrl.safeParse(variable === undefined ? home : env[variable]);
    if (!given.success) {
      faults.push(`${variable}: Expected an http(s) URL without credentials`);
      return [];
    }
    return [plainProvider({ name, kind, baseUrl: withPathOf(home, given.data, kind), apiKey })];
  });
  const azure = azureOfVariables(env, faults);
  if (faults.length > 0) throw new ConfigError(faults);
  return [...opened, ...azure];
}

/** Anthropic's and Google's own libraries want the address without a version in this variable: then it is added. */
function withPathOf(home: string, baseUrl: string, kind: ProviderKind): string {
  return kind === 'openai' || new URL(baseUrl).pathname !== '/' ? baseUrl : `${baseUrl}${new URL(home).pathname}`;
}

type Given = Pick<ProviderConfig, 'name' | 'kind' | 'baseUrl' | 'apiKey'>;

const plainProvider = (given: Given): ProviderConfig => ({
  ...given,
  headers: {},
  maxTokensField: undefined,
  apiVersion: undefined,
  auth: undefined,
  countsLikeMaker: isMakersOwn(given.baseUrl),
  http2: false,
  weight: 1,
  models: undefined,
});

/** Only OpenAI publishes its tokenizers. */
export const isMakersOwn = (baseUrl: string): boolean => new URL(baseUrl).host === 'api.openai.com';

/** Azure's deployments have names of the operator's choice, so that nothing can be opened without being told them. */
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
  if (OPENAI_API_VERSION !== undefined && !isAzureVersion(OPENAI_API_VERSION)) faults.push(`OPENAI_API_VERSION: ${AZURE_VERSIONS}`);
  if (!baseUrl.success || apiKey === undefined) return [];
  const given = plainProvider({ name: 'azure', kind: 'azure_openai', baseUrl: baseUrl.data, apiKey });
  return [{ ...given, apiVersion: OPENAI_API_VERSION, models }];
}

/** The first version that takes `max_completion_tokens` and tells a stream's usage: without both, no bound and no price would hold. */
const FIRST_AZURE_VERSION = '2024-10-21';
export const AZURE_VERSIONS = `Expected \`v1\`, \`preview\`, or a version of ${FIRST_AZURE_VERSION} or later`;

export const isAzureVersion = (text: string): boolean =>
  text === 'v1' || text === 'preview' || (/^\d{4}-\d{2}-\d{2}(-preview)?$/.test(text) && text >= FIRST_AZURE_VERSION);
