import type { OpenAICompatibleProvider } from '@ai-sdk/openai-compatible';
import { ConnectionError, errorFromProblem } from '../errors.ts';
import { type GatewayOptions, inferenceHeaders } from '../transport/call-options.ts';
import { errorIn } from '../transport/event-stream.ts';
import { metadata } from './metadata.ts';

// Named through the package that makes them, so that a project needs no further one for the types.
export type LanguageModel = ReturnType<OpenAICompatibleProvider['languageModel']>;
export type EmbeddingModel = ReturnType<OpenAICompatibleProvider['embeddingModel']>;
export type ImageModel = ReturnType<OpenAICompatibleProvider['imageModel']>;
export type SpeechModel = ReturnType<NonNullable<OpenAICompatibleProvider['speechModel']>>;
export type TranscriptionModel = ReturnType<NonNullable<OpenAICompatibleProvider['transcriptionModel']>>;
export type JSONObject = NonNullable<Parameters<SpeechModel['doGenerate']>[0]['providerOptions']>[string];
type CallOptions = Parameters<LanguageModel['doGenerate']>[0];
type Streamed = Awaited<ReturnType<LanguageModel['doStream']>>;
type StreamPart = Streamed['stream'] extends ReadableStream<infer Part> ? Part : never;

/** A language model whose answers carry what the gateway says beside them. */
export function withFacts(model: LanguageModel): LanguageModel {
  return {
    specificationVersion: model.specificationVersion,
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    async doGenerate(options) {
      const result = await model.doGenerate(gatewayCall(options));
      const tallygate = { ...result.providerMetadata?.['tallygate'], ...metadata(result.response?.headers, result.usage.raw) };
      return { ...result, providerMetadata: { ...result.providerMetadata, tallygate } };
    },
    async doStream(options) {
      const result = await model.doStream(gatewayCall(options));
      return { ...result, stream: result.stream.pipeThrough(factsAtTheEnd(result.response?.headers)) };
    },
  };
}

export function withFactsOfEmbeddings(model: EmbeddingModel): EmbeddingModel {
  return {
    specificationVersion: model.specificationVersion,
    provider: model.provider,
    modelId: model.modelId,
    maxEmbeddingsPerCall: model.maxEmbeddingsPerCall,
    supportsParallelCalls: model.supportsParallelCalls,
    async doEmbed(options) {
      const result = await model.doEmbed(gatewayCall(options));
      return { ...result, providerMetadata: { ...result.providerMetadata, tallygate: metadata(result.response?.headers) } };
    },
  };
}

/** Metadata of images is stored by image: each has that of its request. */
export function withFactsOfImages(model: ImageModel): ImageModel {
  return {
    specificationVersion: model.specificationVersion,
    provider: model.provider,
    modelId: model.modelId,
    maxImagesPerCall: model.maxImagesPerCall,
    async doGenerate(options) {
      const result = await model.doGenerate(gatewayCall(options));
      const images = Array.from({ length: result.images.length }, () => metadata(result.response.headers));
      return { ...result, providerMetadata: { tallygate: { images } } };
    },
  };
}

/** What the options say to the gateway goes into headers; what they say to the model stays. */
export function gatewayCall<Options extends Pick<CallOptions, 'headers' | 'providerOptions'>>(options: Options): Options {
  const { agentRun, budgetPolicy, fallbackPolicy, anchorReceipt, ...ofTheModel } = options.providerOptions?.['tallygate'] ?? {};
  const said = inferenceHeaders({ agentRun, budgetPolicy, fallbackPolicy, anchorReceipt } as GatewayOptions);
  return {
    ...options,
    headers: { ...said, ...options.headers },
    ...(options.providerOptions && { providerOptions: { ...options.providerOptions, tallygate: ofTheModel } }),
  };
}

/** Errors in the stream become those that `Tallygate` throws, and the end gets the facts. */
function factsAtTheEnd(headers: Record<string, string> | undefined): TransformStream<StreamPart, StreamPart> {
  return new TransformStream({
    transform(part, controller) {
      if (part.type === 'error') controller.enqueue({ type: 'error', error: typedError(part.error, headers) });
      else if (part.type !== 'finish') controller.enqueue(part);
      else {
        const tallygate = { ...part.providerMetadata?.['tallygate'], ...metadata(headers, part.usage.raw) };
        controller.enqueue({ ...part, providerMetadata: { ...part.providerMetadata, tallygate } });
      }
    },
  });
}

function typedError(error: unknown, headers: Record<string, string> | undefined): unknown {
  // The name that the AI SDK has for a stream which ends before the model has.
  if (error instanceof Error)
    return error.name === 'AI_InvalidResponseDataError'
      ? new ConnectionError('The stream broke off before its end.', error, 'stream_cut')
      : error;
  const found = errorIn({ error });
  return found ? errorFromProblem(found.message, { code: found.code, headers: new Headers({ ...headers }) }) : error;
}
