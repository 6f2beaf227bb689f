import type { Dialect } from '../dialect.ts';
import { type Fields, isFields } from '../fields.ts';
import { generatedAnswer } from './answer.ts';
import { embeddingAnswer, whatIsWrongWithEmbedding } from './embeddings.ts';
import { answerEvents, plainAnswer } from './events.ts';
import { whatIsWrongWith } from './request.ts';
import { invalid, refused } from './steps.ts';

const METHOD = /^\/v1beta\/models\/([^/:?]+):(generateContent|streamGenerateContent|embedContent|batchEmbedContents)(?:\?(.*))?$/;

const isEmbedding = (action = ''): boolean => /embedContents?$/i.test(action);

/** Google's Gemini API below `/v1beta`. It requires no key, but refuses one in the URL. */
export const google: Dialect = {
  takes: ({ path }) => path.startsWith('/v1beta/'),
  refusal: ({ method, path, body }) => {
    const [, model, action, query = ''] = METHOD.exec(path) ?? [];
    if (method !== 'POST' || model === undefined) return refused(404, 'NOT_FOUND', `${path} is not found for API version v1beta.`);
    if (query.includes('key=')) return refused(403, 'PERMISSION_DENIED', 'Keys belong in a header.');
    if (!isFields(body)) return invalid('Invalid JSON payload received. Unexpected token.');
    if (action === 'streamGenerateContent' && query !== 'alt=sse') return invalid('This fake streams server-sent events only.');
    const wrong = isEmbedding(action) ? whatIsWrongWithEmbedding(body, model) : whatIsWrongWith(body, model);
    return wrong === undefined ? undefined : invalid(wrong);
  },
  answer: (question) => {
    const [, , action] = METHOD.exec(question.path) ?? [];
    const generated = () => generatedAnswer(question);
    return {
      isStream: action === 'streamGenerateContent',
      headers: { 'x-gemini-service-tier': question.step.google?.serviceTier ?? String(question.request['serviceTier'] ?? 'standard') },
      plain: (): Fields => (isEmbedding(action) ? embeddingAnswer(question.request) : plainAnswer(generated())),
      exactUsage: () => (isEmbedding(action) ? undefined : generated().exact),
      events: () => answerEvents(generated(), question.step),
    };
  },
};
