import { ChatCompletionRequest, CompletionRequest, contract, EmbeddingRequest, ModerationRequest } from '@tallygate/contract';
import { chatWork } from './chat-work.ts';
import { completionWork } from './completion-work.ts';
import { embeddingWork } from './embedding-work.ts';
import { moderationWork } from './moderation-work.ts';
import { type Operation, operation } from './operation.ts';

const { inference } = contract;

/** The endpoints whose answers leave nothing behind but usage and a receipt. */
export const STATELESS_OPERATIONS: readonly Operation[] = [
  operation(inference.createChatCompletion, { schema: ChatCompletionRequest, work: (request, { bytes }) => chatWork(request, bytes) }),
  operation(inference.createCompletion, { schema: CompletionRequest, work: completionWork }),
  operation(inference.createEmbedding, { schema: EmbeddingRequest, work: embeddingWork }),
  operation(inference.createModeration, { schema: ModerationRequest, work: moderationWork }),
];
