import {
  CompletionRequest,
  contract,
  EmbeddingRequest,
  ImageEditRequest,
  ImageGenerationRequest,
  ImageVariationRequest,
  MessagesRequest,
  ModerationRequest,
  RerankRequest,
  SpeechRequest,
  TranscriptionRequest,
  TranslationRequest,
} from '@tallygate/contract';
import { writtenArguments } from '../../kernel/tool-arguments.ts';
import { completionWork } from './completion-work.ts';
import { embeddingWork } from './embedding-work.ts';
import { formOf } from './form-fields.ts';
import { googleOperations } from './generate-content/operations.ts';
import { imageEditWork, imageVariationWork, imageWork } from './image-work.ts';
import { inputsOfTools } from './messages/chat-conversation.ts';
import { messageWork } from './messages/message-work.ts';
import { moderationWork } from './moderation-work.ts';
import { type Operation, operation } from './operation.ts';
import type { Recordings } from './recordings/recordings.ts';
import { rerankWork } from './rerank-work.ts';
import { speechWork } from './speech-work.ts';
import { transcriptionWork, translationWork } from './transcription-work.ts';

const { inference } = contract;
const IMAGE_FORM = { numbers: ['n', 'partial_images', 'output_compression'], booleans: ['stream'] };

/** The endpoints whose answers leave nothing behind but usage and a receipt. */
export const statelessOperations = ({ recordings }: { readonly recordings: Recordings }): Operation[] => [
  operation(inference.createCompletion, { schema: CompletionRequest, work: completionWork }),
  operation(inference.createEmbedding, { schema: EmbeddingRequest, work: embeddingWork }),
  operation(inference.createMessage, {
    schema: MessagesRequest,
    work: async (request, received) => messageWork(request, received, await writtenArguments(inputsOfTools(request))),
  }),
  ...googleOperations(),
  operation(inference.rerank, { schema: RerankRequest, work: rerankWork }),
  operation(inference.createModeration, { schema: ModerationRequest, work: moderationWork }),
  operation(inference.createImage, { schema: ImageGenerationRequest, work: imageWork }),
  operation(inference.editImage, {
    takes: 'json_or_form',
    schema: ImageEditRequest,
    formSchema: formOf(ImageEditRequest, IMAGE_FORM),
    work: imageEditWork,
  }),
  operation(inference.varyImage, {
    takes: 'form',
    schema: ImageVariationRequest,
    formSchema: formOf(ImageVariationRequest, IMAGE_FORM),
    work: imageVariationWork,
  }),
  operation(inference.createSpeech, {
    schema: SpeechRequest,
    work: (request, received) => speechWork(request, received, recordings),
  }),
  operation(inference.createTranscription, {
    takes: 'form',
    schema: TranscriptionRequest,
    work: (request, received) => transcriptionWork(request, received, recordings),
  }),
  operation(inference.createTranslation, {
    takes: 'form',
    schema: TranslationRequest,
    work: (request, received) => translationWork(request, received, recordings),
  }),
];
