import {
  anthropicSteps,
  azureSteps,
  bedrockSteps,
  cohereSteps,
  type FakeUpstream,
  googleSteps,
  type Step,
  steps,
} from '@tallygate/fake-upstream';
import type { Gateway } from './gateway.ts';

/** Tokens by their price. */
export interface Tokens {
  readonly fresh?: bigint;
  readonly cached?: bigint;
  readonly written?: bigint;
  readonly output?: bigint;
}

export interface Dialect {
  readonly provider: string;
  readonly model: string;
  /** At the same price: one that sees pictures, and one that thinks, where the model does not. */
  readonly seeing?: string;
  readonly thinking?: string;
  /** Nano-USD a token, from the provider's price page. */
  readonly price: Required<Tokens>;
  readonly cached: { readonly step: Step; readonly tokens: Tokens };
  readonly refusal: { readonly step: Step; readonly tokens: Tokens };
  readonly limited: Step;
  readonly failing: Step;
}

const openAiCache: Dialect['cached'] = {
  step: steps.usage({ prompt_tokens_details: { cached_tokens: 6 } }),
  tokens: { fresh: 4n, cached: 6n, output: 8n },
};
const filtered: Dialect['refusal'] = { step: { finishReason: 'content_filter' }, tokens: { fresh: 10n, output: 8n } };

const THROTTLED = bedrockSteps.throttled();

export const DIALECTS: readonly Dialect[] = [
  {
    provider: 'openai',
    model: 'gpt-4.1',
    price: { fresh: 2_000n, cached: 500n, written: 0n, output: 8_000n },
    cached: openAiCache,
    refusal: filtered,
    limited: steps.rateLimited({ seconds: 33 }),
    failing: steps.serverError(),
  },
  {
    provider: 'azure',
    model: 'gpt-4o-mini',
    price: { fresh: 150n, cached: 75n, written: 0n, output: 600n },
    cached: openAiCache,
    refusal: filtered,
    limited: azureSteps.rateLimited(33),
    failing: azureSteps.refused(500, 'InternalServerError', 'The model failed.'),
  },
  {
    provider: 'anthropic',
    model: 'claude-sonnet-4-6',
    price: { fresh: 3_000n, cached: 300n, written: 3_750n, output: 15_000n },
    // Anthropic counts cache reads and writes beside the prompt.
    cached: { step: anthropicSteps.cached({ read: 6, write5m: 4 }), tokens: { fresh: 10n, cached: 6n, written: 4n, output: 8n } },
    refusal: { step: anthropicSteps.refusal('This is not something to help with.'), tokens: { fresh: 10n, output: 8n } },
    limited: anthropicSteps.rateLimited(33),
    failing: anthropicSteps.overloaded(),
  },
  {
    provider: 'google',
    model: 'gemini-3.5-flash',
    price: { fresh: 1_500n, cached: 150n, written: 0n, output: 9_000n },
    cached: { step: googleSteps.usage({ cachedContentTokenCount: 6 }), tokens: { fresh: 4n, cached: 6n, output: 8n } },
    refusal: { step: googleSteps.saying({ finishReason: 'SAFETY' }), tokens: { fresh: 10n, output: 8n } },
    limited: googleSteps.exhausted('33s'),
    failing: googleSteps.overloaded(),
  },
  {
    provider: 'bedrock',
    model: 'bedrock/amazon.nova-2-lite-v1:0',
    price: { fresh: 300n, cached: 75n, written: 0n, output: 2_500n },
    // Bedrock counts cache reads and writes beside the prompt, as Anthropic does.
    cached: { step: bedrockSteps.cached({ read: 6 }), tokens: { fresh: 10n, cached: 6n, output: 8n } },
    refusal: { step: bedrockSteps.saying({ stopReason: 'guardrail_intervened' }), tokens: { fresh: 10n, output: 8n } },
    limited: { ...THROTTLED, headers: { ...THROTTLED.headers, 'retry-after': '33' } },
    failing: bedrockSteps.unavailable(),
  },
  {
    provider: 'bedrock-claude',
    model: 'bedrock/anthropic.claude-sonnet-4-6',
    price: { fresh: 3_000n, cached: 300n, written: 3_750n, output: 15_000n },
    cached: { step: anthropicSteps.cached({ read: 6, write5m: 4 }), tokens: { fresh: 10n, cached: 6n, written: 4n, output: 8n } },
    refusal: { step: anthropicSteps.refusal('This is not something to help with.'), tokens: { fresh: 10n, output: 8n } },
    limited: { ...THROTTLED, headers: { ...THROTTLED.headers, 'retry-after': '33' } },
    failing: bedrockSteps.unavailable(),
  },
  {
    provider: 'vertex',
    model: 'vertex/gemini-2.5-pro',
    price: { fresh: 1_250n, cached: 125n, written: 0n, output: 10_000n },
    cached: { step: googleSteps.usage({ cachedContentTokenCount: 6 }), tokens: { fresh: 4n, cached: 6n, output: 8n } },
    refusal: { step: googleSteps.saying({ finishReason: 'SAFETY' }), tokens: { fresh: 10n, output: 8n } },
    limited: googleSteps.exhausted('33s'),
    failing: googleSteps.overloaded(),
  },
  {
    provider: 'cohere',
    ...{ model: 'command-a-03-2025', seeing: 'command-a-vision-07-2025', thinking: 'command-a-reasoning-08-2025' },
    price: { fresh: 2_500n, cached: 2_500n, written: 0n, output: 10_000n },
    cached: openAiCache,
    refusal: { step: cohereSteps.saying({ finishReason: 'ERROR_TOXIC' }), tokens: { fresh: 10n, output: 8n } },
    limited: cohereSteps.rateLimited(33),
    failing: cohereSteps.refused(500, 'internal server error'),
  },
];

export const costOf = (price: Required<Tokens>, { fresh = 0n, cached = 0n, written = 0n, output = 0n }: Tokens): bigint =>
  fresh * price.fresh + cached * price.cached + written * price.written + output * price.output;

const cloudsAt = (base_url: string) => [
  {
    ...{ name: 'bedrock', kind: 'bedrock' as const, base_url, region: 'eu-central-1', api_key: 'bedrock-secret-key' },
    models: { 'bedrock/amazon.nova-2-lite-v1:0': 'eu.amazon.nova-2-lite-v1:0' },
  },
  {
    ...{ name: 'bedrock-claude', kind: 'bedrock' as const, base_url, region: 'eu-central-1', api_key: 'bedrock-secret-key' },
    models: { 'bedrock/anthropic.claude-sonnet-4-6': 'eu.anthropic.claude-sonnet-4-6' },
  },
  {
    ...{ name: 'vertex', kind: 'vertex' as const, base_url, project: 'my-project', location: 'europe-west4', api_key: 'vertex-secret-key' },
    models: { 'vertex/gemini-2.5-pro': 'gemini-2.5-pro' },
  },
];

/** A gateway whose providers are each another dialect, all of them the same scripted one. */
export const allDialects = (upstream: Pick<FakeUpstream, 'url'>): Parameters<typeof Gateway.start>[0] => ({
  process: 'shared',
  providers: [{ name: 'openai', base_url: upstream.url, models: ['gpt-4.1'] }, ...cloudsAt(new URL(upstream.url).origin)],
  env: {
    ANTHROPIC_API_KEY: 'anthropic-secret-key',
    ANTHROPIC_BASE_URL: upstream.url,
    GEMINI_API_KEY: 'google-secret-key',
    GOOGLE_BASE_URL: new URL('/v1beta', upstream.url).href,
    AZURE_OPENAI_API_KEY: 'azure-secret-key',
    AZURE_OPENAI_ENDPOINT: new URL(upstream.url).origin,
    AZURE_OPENAI_DEPLOYMENTS: 'gpt-4o-mini=mini-sweden',
    OPENAI_API_VERSION: '2024-10-21',
    COHERE_API_KEY: 'cohere-secret-key',
    COHERE_BASE_URL: new URL(upstream.url).origin,
  },
});
