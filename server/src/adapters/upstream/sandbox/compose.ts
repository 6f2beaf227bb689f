import type { UpstreamCall } from '../port.ts';
import { composeSpeech } from './audio/compose-speech.ts';
import { composeTranscription } from './audio/compose-transcription.ts';
import { composeChat } from './chat/compose.ts';
import { composeCompletion } from './completions/compose.ts';
import type { Circumstances, Composition } from './composition.ts';
import { composeEmbeddings } from './embeddings/compose.ts';
import { composeImages } from './images/compose.ts';
import { composeModeration } from './moderations/compose.ts';
import { type Rejection, rejection } from './rejection.ts';
import { composeRanking } from './rerank/compose.ts';
import { composeResponse } from './responses/compose.ts';
import { composeCharacter } from './videos/characters.ts';
import { composeVideo } from './videos/compose.ts';

/** The answer of the call's endpoint. */
export function compose(call: UpstreamCall, circumstances: Circumstances): Composition | Rejection | Promise<Composition | Rejection> {
  switch (call.endpoint) {
    case '/v1/chat/completions':
      return composeChat(call, circumstances);
    case '/v1/completions':
      return composeCompletion(call, circumstances);
    case '/v1/embeddings':
      return composeEmbeddings(call, circumstances);
    case '/v1/rerank':
      return composeRanking(call, circumstances);
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
    case '/v1/videos':
      return composeVideo(call, circumstances);
    case '/v1/videos/characters':
      return composeCharacter(call, circumstances);
    case '/v1/messages':
    case '/v1beta/models:generateContent':
    case '/v1beta/models:embedContent':
    case '/v1beta/models:batchEmbedContents':
      return rejection('The sandbox is asked in the words of OpenAI alone.', { param: null, code: 'invalid_value' });
    default:
      return call satisfies never;
  }
}
