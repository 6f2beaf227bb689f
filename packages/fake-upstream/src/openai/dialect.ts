import type { Answer, Dialect, Question } from '../dialect.ts';
import { isFields } from '../fields.ts';
import { refused } from '../steps.ts';
import { characterAnswer, imageAnswer, speechAnswer, transcriptionAnswer, videoAnswer } from './media.ts';
import { rankingAnswer } from './rankings.ts';
import { responseAnswer } from './responses.ts';
import { completionAnswer, embeddingAnswer, moderationAnswer } from './texts.ts';

const ENDPOINTS: ReadonlyMap<string, (question: Question) => Answer> = new Map([
  ['/v1/completions', completionAnswer],
  ['/v1/embeddings', embeddingAnswer],
  ['/compatibility/v1/embeddings', embeddingAnswer],
  ['/v1/rerank', rankingAnswer],
  ['/v2/rerank', rankingAnswer],
  ['/v1/moderations', moderationAnswer],
  ['/v1/responses', responseAnswer],
  ['/v1/images/generations', imageAnswer],
  ['/v1/images/edits', imageAnswer],
  ['/v1/images/variations', imageAnswer],
  ['/v1/audio/speech', speechAnswer],
  ['/v1/audio/transcriptions', transcriptionAnswer],
  ['/v1/audio/translations', transcriptionAnswer],
  ['/v1/videos', videoAnswer],
  ['/v1/videos/edits', videoAnswer],
  ['/v1/videos/extensions', videoAnswer],
  ['/v1/videos/characters', characterAnswer],
]);
const REMIX = /^\/v1\/videos\/[^/?]+\/remix$/;
const VIDEO = /^\/v1\/videos\/[^/?]+(\/content(\?.*)?)?$/;

/** What else OpenAI's API has beside chat: fixed answers of the right shape, from JSON or from forms. */
export const openAiEndpoints: Dialect = {
  takes: ({ method, path }) => (method === 'POST' ? ENDPOINTS.has(path) || REMIX.test(path) : VIDEO.test(path)),
  refusal: ({ method, path, body, form }) => {
    if (method === 'DELETE') return { body: { id: path.slice('/v1/videos/'.length), object: 'video.deleted', deleted: true } };
    return method !== 'POST' || isFields(body) || form ? undefined : refused(400, 'We could not parse the body of your request.');
  },
  answer: (question) => (ENDPOINTS.get(question.path) ?? videoAnswer)(question),
};
