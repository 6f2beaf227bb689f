import { createOpenAICompatible, type OpenAICompatibleProvider } from '@ai-sdk/openai-compatible';
import { type Address, baseUrlOf, credentialOf, openaiAddress } from '../address.ts';
import { type GatewayOptions, inferenceHeaders } from '../transport/call-options.ts';
import { speechModel, transcriptionModel } from './audio.ts';
import {
  type EmbeddingModel,
  type ImageModel,
  type LanguageModel,
  type SpeechModel,
  type TranscriptionModel,
  withFacts,
  withFactsOfEmbeddings,
  withFactsOfImages,
} from './models.ts';
import type { Endpoint } from './post.ts';

/** Where the gateway is, and what goes with every call of the models: an agent run, say, that all of them draw on. */
export interface TallygateProviderSettings extends Address, GatewayOptions {
  /** Default: the runtime's own. */
  readonly fetch?: typeof fetch | undefined;
  /** Further headers of every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A provider of the AI SDK: `generateText({ model: tallygate('gpt-4o-mini'), prompt })`. */
export interface TallygateProvider {
  (modelId: string): LanguageModel;
  readonly specificationVersion: 'v4';
  languageModel(modelId: string): LanguageModel;
  embeddingModel(modelId: string): EmbeddingModel;
  imageModel(modelId: string): ImageModel;
  speechModel(modelId: string): SpeechModel;
  transcriptionModel(modelId: string): TranscriptionModel;
}

/**
 * The models of a gateway for the AI SDK. `providerMetadata.tallygate` of what they answer has receipt id, cost and the rest of
 * `TallygateMetadata`; `providerOptions.tallygate` of a call takes `agentRun`, `budgetPolicy`, `fallbackPolicy`, `anchorReceipt` and any
 * further field of the request, such as `models`.
 */
export function createTallygate(settings: TallygateProviderSettings = {}): TallygateProvider {
  // Again for every model: an environment that is read from a file after the imports counts too.
  const inner = () => openaiCompatible(settings);
  const languageModel = (modelId: string) => withFacts(inner().languageModel(modelId));
  return Object.assign((modelId: string) => languageModel(modelId), {
    specificationVersion: 'v4' as const,
    languageModel,
    embeddingModel: (modelId: string) => withFactsOfEmbeddings(inner().embeddingModel(modelId)),
    imageModel: (modelId: string) => withFactsOfImages(inner().imageModel(modelId)),
    speechModel: (modelId: string) => speechModel(modelId, endpointOf(settings)),
    transcriptionModel: (modelId: string) => transcriptionModel(modelId, endpointOf(settings)),
  });
}

/** The gateway that the environment names: `TALLYGATE_API_KEY`, `TALLYGATE_BASE_URL`. */
export const tallygate: TallygateProvider = createTallygate();

function openaiCompatible(settings: TallygateProviderSettings): OpenAICompatibleProvider {
  const { fetch: _, ...endpoint } = endpointOf(settings);
  return createOpenAICompatible({
    name: 'tallygate',
    ...endpoint,
    ...(settings.fetch && { fetch: settings.fetch }),
    includeUsage: true,
    supportsStructuredOutputs: true,
  });
}

const endpointOf = (settings: TallygateProviderSettings): Endpoint => ({
  ...openaiAddress(baseUrlOf(settings.baseUrl), credentialOf(settings)),
  headers: { ...inferenceHeaders(settings), ...settings.headers },
  fetch: settings.fetch,
});
