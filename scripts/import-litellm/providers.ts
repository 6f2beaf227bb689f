import { perMillion } from '../refresh-models/decimal.ts';
import { isNothing, quoted } from './words.ts';

/** An entry of `model_list` in the `config.yaml` of LiteLLM's proxy, as far as it is read. */
export interface LitellmEntry {
  readonly model_name?: unknown;
  readonly litellm_params?: Readonly<Record<string, unknown>>;
}

export interface ImportedProviders {
  /** For `PROVIDERS_FILE`. */
  readonly providers: readonly Record<string, unknown>[];
  /** Commands of the operator, which give models the prices that LiteLLM was told. */
  readonly prices: readonly string[];
  /** What has no counterpart, in words. */
  readonly leftOut: readonly string[];
}

/** By the prefix of `litellm_params.model`: the kind of provider, and its address where none is given. */
const MAKERS: Readonly<Record<string, { readonly kind: string; readonly home?: string; readonly key?: string }>> = {
  openai: { kind: 'openai', home: 'https://api.openai.com/v1', key: 'OPENAI_API_KEY' },
  azure: { kind: 'azure_openai', key: 'AZURE_API_KEY' },
  anthropic: { kind: 'anthropic', key: 'ANTHROPIC_API_KEY' },
  gemini: { kind: 'google', key: 'GEMINI_API_KEY' },
  groq: { kind: 'openai', home: 'https://api.groq.com/openai/v1', key: 'GROQ_API_KEY' },
  mistral: { kind: 'openai', home: 'https://api.mistral.ai/v1', key: 'MISTRAL_API_KEY' },
  deepseek: { kind: 'openai', home: 'https://api.deepseek.com/v1', key: 'DEEPSEEK_API_KEY' },
  xai: { kind: 'openai', home: 'https://api.x.ai/v1', key: 'XAI_API_KEY' },
  openrouter: { kind: 'openai', home: 'https://openrouter.ai/api/v1', key: 'OPENROUTER_API_KEY' },
  together_ai: { kind: 'openai', home: 'https://api.together.xyz/v1', key: 'TOGETHERAI_API_KEY' },
  fireworks_ai: { kind: 'openai', home: 'https://api.fireworks.ai/inference/v1', key: 'FIREWORKS_AI_API_KEY' },
  ollama: { kind: 'openai', home: 'http://127.0.0.1:11434/v1' },
  ollama_chat: { kind: 'openai', home: 'http://127.0.0.1:11434/v1' },
  hosted_vllm: { kind: 'openai' },
  custom_openai: { kind: 'openai' },
};
const ENVIRONMENT = 'os.environ/';
/** What is read of `litellm_params`. */
const READ = new Set([
  ...['model', 'api_base', 'base_url', 'api_key', 'weight', 'rpm', 'tpm', 'max_parallel_requests'],
  ...['input_cost_per_token', 'output_cost_per_token'],
]);
const LIMITS = [
  ['rpm', 'requests_per_minute'],
  ['tpm', 'tokens_per_minute'],
  ['max_parallel_requests', 'concurrency'],
] as const;

interface Draft {
  readonly fields: Record<string, unknown>;
  readonly models: Record<string, string>;
}

/** Entries with one account and address become one provider; several that serve one name are deployments of it, as at LiteLLM. */
export function importProviders(list: readonly LitellmEntry[]): ImportedProviders {
  const drafts = new Map<string, Draft>();
  const prices = new Set<string>();
  const leftOut: string[] = [];
  for (const { model_name: name, litellm_params: params = {} } of list) {
    const model = textOf(params['model']);
    if (typeof name !== 'string' || model === undefined) {
      leftOut.push('an entry of model_list without model_name or litellm_params.model');
      continue;
    }
    const [prefix, upstreamModel] = splitModel(model);
    const maker = MAKERS[prefix];
    const address = addressOf(params, maker);
    if (!maker || (address === undefined && maker.kind !== 'anthropic' && maker.kind !== 'google')) {
      leftOut.push(`${name}: ${model} is of a provider that has no kind here, or has no api_base`);
      continue;
    }
    const key = keyOf(params, maker, name, leftOut);
    // By name: a value may be a secret.
    for (const [param, value] of Object.entries(params))
      if (!READ.has(param) && !isNothing(value)) leftOut.push(`${name}: litellm_params.${param}`);
    const limits = limitsOf(params);
    // A second deployment of a name needs a provider of its own, and so does one with limits: here a provider has them.
    const account = [prefix, address, key, ...(limits ? [name, model] : [])].join(' ');
    const place = [account, `${account} 2`, `${account} 3`, `${account} 4`].find((at) => drafts.get(at)?.models[name] === undefined);
    if (place === undefined) {
      leftOut.push(`${name}: more than four entries with one account`);
      continue;
    }
    const draft = drafts.get(place) ?? newDraft(maker.kind, nameFor(prefix, drafts.size), address, key);
    draft.models[name] = upstreamModel;
    if (limits) draft.fields['limits'] = limits;
    if (typeof params['weight'] === 'number') draft.fields['weight'] = params['weight'];
    drafts.set(place, draft);
    // A model of one's own servers is in no list: it is defined, not only priced.
    const price = priceOf(name, params, maker.key === undefined ? `${draft.fields['name']}` : undefined);
    if (price !== undefined) prices.add(price);
  }
  const providers = [...drafts.values()].map(({ fields, models }) => ({
    ...fields,
    ...(fields['kind'] === 'azure_openai' ? { deployments: models } : { models }),
  }));
  return { providers, prices: [...prices], leftOut };
}

/** What may be sent to a deployment; undefined where nothing is said. */
function limitsOf(params: Readonly<Record<string, unknown>>): Record<string, number> | undefined {
  const given = LIMITS.flatMap(([theirs, ours]) => {
    const limit = Number(params[theirs]);
    return Number.isSafeInteger(limit) && limit > 0 ? [[ours, limit] as const] : [];
  });
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

function newDraft(kind: string, name: string, address: string | undefined, key: string | undefined): Draft {
  return {
    fields: { name, kind, ...(address !== undefined && { base_url: address }), ...(key !== undefined && { api_key_env: key }) },
    models: {},
  };
}

const nameFor = (prefix: string, count: number): string => `${prefix.replaceAll('_', '-')}-${count + 1}`;

/** `azure/my-deployment`; without a known prefix it is OpenAI's. */
function splitModel(model: string): [prefix: string, rest: string] {
  const slash = model.indexOf('/');
  return slash === -1 ? ['openai', model] : [model.slice(0, slash), model.slice(slash + 1)];
}

function addressOf(params: Readonly<Record<string, unknown>>, maker: (typeof MAKERS)[string] | undefined): string | undefined {
  const given = textOf(params['api_base']) ?? textOf(params['base_url']);
  return given?.startsWith(ENVIRONMENT) ? undefined : (given?.replace(/\/$/, '') ?? maker?.home);
}

/** The variable that holds the key. One that stands in the file in clear is not copied. */
function keyOf(
  params: Readonly<Record<string, unknown>>,
  maker: (typeof MAKERS)[string],
  name: string,
  leftOut: string[],
): string | undefined {
  const given = textOf(params['api_key']);
  if (given?.startsWith(ENVIRONMENT)) return given.slice(ENVIRONMENT.length);
  if (given !== undefined)
    leftOut.push(`${name}: the key stands in config.yaml in clear: put it into the variable ${maker.key ?? 'that you name'}`);
  return maker.key;
}

function priceOf(name: string, params: Readonly<Record<string, unknown>>, ownProvider: string | undefined): string | undefined {
  const [input, output] = [params['input_cost_per_token'], params['output_cost_per_token']].map((cost) =>
    typeof cost === 'number' ? perMillion(cost) : undefined,
  );
  if (input === undefined && output === undefined) return undefined;
  const what = ownProvider === undefined ? `price ${quoted(name)}` : `model ${quoted(name)} --provider ${ownProvider}`;
  return `tallygate-server admin ${what} --input ${input ?? '0'} --output ${output ?? '0'}`;
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
