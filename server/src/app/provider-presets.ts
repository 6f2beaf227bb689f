import type { OpenAiQuirks } from '../adapters/upstream/openai-quirks.ts';

/** An endpoint with OpenAI's API that needs nothing but a key, or its address where it is a server of one's own. */
export interface Preset {
  /** Also what its models are called by: `groq/llama-…`. */
  readonly name: string;
  readonly title: string;
  readonly home: string;
  /** Variables that hold the key; the first that is set wins. Absent: `NAME_API_KEY`. None: it is opened by its address. */
  readonly keys?: readonly string[];
  readonly urls?: readonly string[];
  /** It is a server of the operator's, opened by its address. */
  readonly isLocal?: true;
  /** What differs from OpenAI, as its document says. */
  readonly quirks?: OpenAiQuirks;
  readonly note?: string;
  /** The documents that say the address, and what differs. */
  readonly sources: readonly [string, ...string[]];
}

/** Read in November 2026. */
export const PRESETS: readonly Preset[] = [
  {
    ...{ name: 'openai', title: 'OpenAI', home: 'https://api.openai.com/v1' },
    quirks: { maxTokensField: 'max_completion_tokens', hasResponses: true, hasProjectTier: true },
    sources: ['https://platform.openai.com/docs/api-reference'],
  },
  {
    ...{ name: 'xai', title: 'xAI', home: 'https://api.x.ai/v1' },
    quirks: { hasResponses: true },
    sources: ['https://docs.x.ai/docs/api-reference'],
  },
  {
    ...{ name: 'deepseek', title: 'DeepSeek', home: 'https://api.deepseek.com/v1' },
    quirks: { lacks: ['logit_bias', 'n'] },
    sources: ['https://api-docs.deepseek.com/', 'https://api-docs.deepseek.com/api/create-chat-completion'],
  },
  {
    ...{ name: 'mistral', title: 'Mistral', home: 'https://api.mistral.ai/v1' },
    // It refuses what it does not know, and tells the usage of a stream without being asked for it.
    quirks: {
      ...{ takesOneBound: true, renames: { seed: 'random_seed' }, lacks: ['logit_bias', 'logprobs', 'top_logprobs'] },
      omits: ['stream_options', 'user', 'store', 'safety_identifier', 'prompt_cache_key'],
    },
    sources: ['https://docs.mistral.ai/api/', 'https://github.com/avante-corp/avante.nvim/issues/2347'],
  },
  {
    ...{ name: 'groq', title: 'Groq', home: 'https://api.groq.com/openai/v1' },
    quirks: { lacks: ['logit_bias', 'logprobs', 'top_logprobs', 'n'] },
    sources: ['https://console.groq.com/docs/openai'],
  },
  {
    ...{ name: 'together', title: 'Together AI', home: 'https://api.together.xyz/v1' },
    sources: ['https://docs.together.ai/docs/openai-api-compatibility'],
  },
  {
    ...{ name: 'fireworks', title: 'Fireworks AI', home: 'https://api.fireworks.ai/inference/v1' },
    sources: ['https://docs.fireworks.ai/tools-sdks/openai-compatibility'],
  },
  {
    ...{ name: 'openrouter', title: 'OpenRouter', home: 'https://openrouter.ai/api/v1' },
    quirks: { hasResponses: true },
    sources: ['https://openrouter.ai/docs/quickstart', 'https://openrouter.ai/docs/api-reference/responses/overview'],
  },
  {
    ...{ name: 'jina', title: 'Jina AI', home: 'https://api.jina.ai/v1' },
    sources: ['https://api.jina.ai/redoc'],
  },
  {
    ...{ name: 'cerebras', title: 'Cerebras', home: 'https://api.cerebras.ai/v1' },
    quirks: { lacks: ['frequency_penalty', 'logit_bias', 'presence_penalty'] },
    sources: ['https://inference-docs.cerebras.ai/resources/openai'],
  },
  {
    ...{ name: 'perplexity', title: 'Perplexity', home: 'https://api.perplexity.ai', keys: ['PERPLEXITY_API_KEY', 'PPLX_API_KEY'] },
    note: 'It charges a fee for each request beside the tokens, which a price by tokens does not hold.',
    sources: ['https://docs.perplexity.ai/guides/chat-completions-guide', 'https://docs.perplexity.ai/getting-started/pricing'],
  },
  {
    ...{
      name: 'deepinfra',
      title: 'DeepInfra',
      home: 'https://api.deepinfra.com/v1/openai',
      keys: ['DEEPINFRA_API_KEY', 'DEEPINFRA_TOKEN'],
    },
    sources: ['https://deepinfra.com/docs/openai_api'],
  },
  {
    ...{ name: 'sambanova', title: 'SambaNova', home: 'https://api.sambanova.ai/v1' },
    sources: ['https://docs.sambanova.ai/docs/en/features/openai-compatibility'],
  },
  {
    ...{ name: 'huggingface', title: 'Hugging Face', home: 'https://router.huggingface.co/v1', keys: ['HUGGINGFACE_API_KEY', 'HF_TOKEN'] },
    sources: ['https://huggingface.co/docs/inference-providers/index'],
  },
  {
    ...{ name: 'nebius', title: 'Nebius', home: 'https://api.tokenfactory.nebius.com/v1' },
    sources: ['https://docs.tokenfactory.nebius.com/api-reference/introduction'],
  },
  {
    ...{ name: 'novita', title: 'Novita AI', home: 'https://api.novita.ai/openai/v1' },
    sources: ['https://novita.ai/docs/guides/llm-api'],
  },
  {
    ...{ name: 'hyperbolic', title: 'Hyperbolic', home: 'https://api.hyperbolic.xyz/v1' },
    sources: ['https://docs.hyperbolic.xyz/docs/rest-api'],
  },
  {
    ...{ name: 'nvidia', title: 'NVIDIA NIM', home: 'https://integrate.api.nvidia.com/v1', keys: ['NVIDIA_API_KEY', 'NVIDIA_NIM_API_KEY'] },
    sources: ['https://docs.api.nvidia.com/nim/reference/llm-apis'],
  },
  {
    ...{ name: 'moonshot', title: 'Moonshot AI', home: 'https://api.moonshot.ai/v1' },
    sources: ['https://platform.moonshot.ai/docs/api/chat'],
  },
  {
    ...{ name: 'zai', title: 'Z.AI', home: 'https://api.z.ai/api/paas/v4', keys: ['ZAI_API_KEY', 'ZHIPUAI_API_KEY'] },
    sources: ['https://docs.z.ai/guides/develop/openai/python'],
  },
  {
    ...{ name: 'dashscope', title: 'Alibaba Model Studio (Qwen)', home: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1' },
    sources: ['https://www.alibabacloud.com/help/en/model-studio/compatibility-of-openai-with-dashscope'],
  },
  {
    ...{ name: 'minimax', title: 'MiniMax', home: 'https://api.minimax.io/v1' },
    sources: ['https://platform.minimax.io/docs/api-reference/text-openai-api'],
  },
  {
    ...{ name: 'siliconflow', title: 'SiliconFlow', home: 'https://api.siliconflow.com/v1' },
    sources: ['https://docs.siliconflow.com/en/api-reference/chat-completions/chat-completions'],
  },
  {
    ...{ name: 'baseten', title: 'Baseten', home: 'https://inference.baseten.co/v1' },
    sources: ['https://docs.baseten.co/development/model-apis/overview'],
  },
  {
    ...{ name: 'featherless', title: 'Featherless', home: 'https://api.featherless.ai/v1' },
    keys: ['FEATHERLESS_API_KEY', 'FEATHERLESS_AI_API_KEY'],
    sources: ['https://featherless.ai/docs/api-overview-and-common-options'],
  },
  {
    ...{ name: 'friendli', title: 'Friendli', home: 'https://api.friendli.ai/serverless/v1', keys: ['FRIENDLI_TOKEN', 'FRIENDLI_API_KEY'] },
    sources: ['https://friendli.ai/docs/guides/openai-compatibility'],
  },
  {
    ...{ name: 'parasail', title: 'Parasail', home: 'https://api.parasail.io/v1' },
    sources: ['https://docs.parasail.io/parasail-docs/serverless/serverless'],
  },
  {
    ...{ name: 'scaleway', title: 'Scaleway', home: 'https://api.scaleway.ai/v1', keys: ['SCALEWAY_API_KEY', 'SCW_SECRET_KEY'] },
    quirks: { lacks: ['frequency_penalty', 'n', 'top_logprobs'] },
    sources: [
      'https://www.scaleway.com/en/docs/generative-apis/api-cli/using-chat-api/',
      'https://github.com/scaleway/docs-content/pull/3719',
    ],
  },
  {
    ...{ name: 'ovhcloud', title: 'OVHcloud AI Endpoints', home: 'https://oai.endpoints.kepler.ai.cloud.ovh.net/v1' },
    keys: ['OVHCLOUD_API_KEY', 'OVH_AI_ENDPOINTS_ACCESS_TOKEN'],
    sources: ['https://help.ovhcloud.com/csm/en-public-cloud-ai-endpoints-getting-started'],
  },
  {
    ...{ name: 'chutes', title: 'Chutes', home: 'https://llm.chutes.ai/v1' },
    quirks: { takesOneBound: true },
    sources: ['https://chutes.ai/docs'],
  },
  {
    ...{ name: 'venice', title: 'Venice AI', home: 'https://api.venice.ai/api/v1', keys: ['VENICE_API_KEY', 'VENICE_AI_API_KEY'] },
    sources: ['https://docs.venice.ai/api-reference/api-spec'],
  },
  {
    ...{ name: 'ollama', title: 'Ollama', home: 'http://127.0.0.1:11434/v1', isLocal: true },
    quirks: { lacks: ['logit_bias', 'n'] },
    note: 'Ollama’s cloud is `https://ollama.com/v1`.',
    sources: ['https://docs.ollama.com/api/openai-compatibility'],
  },
  {
    ...{ name: 'vllm', title: 'vLLM', home: 'http://127.0.0.1:8000/v1', isLocal: true },
    sources: ['https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html'],
  },
  {
    ...{ name: 'lmstudio', title: 'LM Studio', home: 'http://127.0.0.1:1234/v1', isLocal: true },
    sources: ['https://lmstudio.ai/docs/developer/openai-compat'],
  },
  {
    ...{ name: 'llamacpp', title: 'llama.cpp', home: 'http://127.0.0.1:8080/v1', isLocal: true },
    sources: ['https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md'],
  },
  {
    ...{ name: 'sglang', title: 'SGLang', home: 'http://127.0.0.1:30000/v1', isLocal: true },
    sources: ['https://docs.sglang.ai/basic_usage/openai_api_completions.html'],
  },
];

const stemOf = ({ name }: Preset): string => name.toUpperCase();
export const keysOf = (preset: Preset): readonly string[] => preset.keys ?? [`${stemOf(preset)}_API_KEY`];
export const urlsOf = (preset: Preset): readonly string[] => preset.urls ?? [`${stemOf(preset)}_BASE_URL`];

/** What differs at an address, whichever way it was configured; at one of one's own, under the name of the preset. */
export function quirksAt({ name, baseUrl }: { readonly name: string; readonly baseUrl: string }): OpenAiQuirks | undefined {
  const { host } = new URL(baseUrl);
  const hosted = PRESETS.find(({ home, isLocal }) => !isLocal && new URL(home).host === host);
  return (hosted ?? PRESETS.find((preset) => preset.isLocal && preset.name === name))?.quirks;
}
