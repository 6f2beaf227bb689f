import type { UpstreamCall, UpstreamEndpoint } from '../port.ts';
import { composeSpeech } from './audio/compose-speech.ts';
import { composeTranscription } from './audio/compose-transcription.ts';
import { composeChat } from './chat/compose.ts';
import { composeCompletion } from './completions/compose.ts';
import type { Circumstances, Composition } from './composition.ts';
import { composeEmbeddings } from './embeddings/compose.ts';
import { composeImages } from './images/compose.ts';
import { composeModeration } from './moderations/compose.ts';
import type { Rejection } from './rejection.ts';
import { composeResponse } from './responses/compose.ts';

const ENDPOINTS: ReadonlySet<UpstreamEndpoint> = new Set([
  '/v1/chat/completions',
  '/v1/completions',
  '/v1/embeddings',
  '/v1/moderations',
  '/v1/images/generations',
  '/v1/images/edits',
  '/v1/images/variations',
  '/v1/responses',
  '/v1/audio/speech',
  '/v1/audio/transcriptions',
  '/v1/audio/translations',
] as const);

export const isAnswered = (endpoint: UpstreamEndpoint): boolean => ENDPOINTS.has(endpoint);

/** The answer of the call's endpoint; undefined where the sandbox does not know it. */
export function compose(
  call: UpstreamCall,
  circumstances: Circumstances,
): Composition | Rejection | Promise<Composition | Rejection> | undefined {
  switch (call.endpoint) {
    case '/v1/chat/completions':
      return composeChat(call, circumstances);
    case '/v1/completions':
      return composeCompletion(call, circumstances);
    case '/v1/embeddings':
      return composeEmbeddings(call, circumstances);
    case '/v1/moderations':
      return composeModeration(call, circumstances);
    case '/v1/images/generations':
    case '/v1/images/edits':
    case '/v1/images/variations':
      return composeImages(call, circumstances);
    case '/v1/responses':
      return composeResponse(call, circumstances);
    case '/v1/audio/speech':
      return composeSpeech(call, circumstances);
    case '/v1/audio/transcriptions':
    case '/v1/audio/translations':
      return composeTranscription(call, circumstances);
    default:
      return undefined;
  }
}
