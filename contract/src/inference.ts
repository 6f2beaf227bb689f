import { initContract } from '@ts-rest/core';
import { audio } from './inference/audio.ts';
import { chat } from './inference/chat.ts';
import { completions } from './inference/completions.ts';
import { embedContent } from './inference/embed-content.ts';
import { embeddings } from './inference/embeddings.ts';
import { generateContent } from './inference/generate-content.ts';
import { images } from './inference/images.ts';
import { messages } from './inference/messages.ts';
import { moderations } from './inference/moderations.ts';
import { rerank } from './inference/rerank.ts';
import { responses } from './inference/responses.ts';
import { videoJobs } from './inference/video-jobs.ts';

export * from './inference/anthropic-error.ts';
export * from './inference/audio.ts';
export * from './inference/chat.ts';
export * from './inference/completions.ts';
export * from './inference/conversations.ts';
export * from './inference/embed-content.ts';
export * from './inference/embeddings.ts';
export * from './inference/generate-content.ts';
export type { GoogleContent, GooglePart, GoogleTool } from './inference/google-content.ts';
export { GOOGLE_HOSTED_TOOLS } from './inference/google-content.ts';
export * from './inference/google-error.ts';
export * from './inference/google-models.ts';
export * from './inference/headers.ts';
export * from './inference/images.ts';
export type { MessageContentBlock, MessageParam, MessageTool } from './inference/message-content.ts';
export * from './inference/messages.ts';
export * from './inference/moderations.ts';
export { ProviderPreference } from './inference/provider-preference.ts';
export * from './inference/realtime.ts';
export * from './inference/rerank.ts';
export * from './inference/responses.ts';
export * from './inference/stored-chats.ts';
export * from './inference/stored-responses.ts';
export { VideoCharacter, VideoCharacterReference, VideoCharacterRequest, VideoReference } from './inference/video-characters.ts';
export * from './inference/video-jobs.ts';
export * from './inference/videos.ts';

/** Everything that runs a model. */
export const inference = initContract().router({
  ...chat,
  ...completions,
  ...embeddings,
  ...rerank,
  ...moderations,
  ...images,
  ...audio,
  ...responses,
  ...messages,
  ...generateContent,
  ...embedContent,
  ...videoJobs,
});
