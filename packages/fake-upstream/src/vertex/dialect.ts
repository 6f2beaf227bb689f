import { messageEvents } from '../anthropic/events.ts';
import { messageOf, plainMessage } from '../anthropic/message.ts';
import { whatIsWrongWith as whatIsWrongWithMessage } from '../anthropic/request.ts';
import { invalid as invalidMessage } from '../anthropic/steps.ts';
import type { Answer, Dialect, Question } from '../dialect.ts';
import { type Fields, isFields } from '../fields.ts';
import { generatedAnswer } from '../google/answer.ts';
import { answerEvents, plainAnswer } from '../google/events.ts';
import { whatIsWrongWith } from '../google/request.ts';
import { invalid, refused } from '../google/steps.ts';
import type { Step } from '../step.ts';
import { embeddingTokens, vectors, whatIsWrongWithEmbedding } from './embeddings.ts';

const PATH = /^\/v1(?:beta1)?\/(?:projects\/[^/]+\/locations\/[^/]+\/)?publishers\/(google|anthropic)\/models\/([^/:?]+):(\w+)(?:\?(.*))?$/;
const VERSION = 'vertex-2023-10-16';
const METHODS: Readonly<Record<string, readonly string[]>> = {
  google: ['generateContent', 'streamGenerateContent', 'predict', 'embedContent'],
  anthropic: ['rawPredict', 'streamRawPredict'],
};

/** Google Vertex AI below `/v1` and `/v1beta1`. It wants a token or a key, any. */
export const vertex: Dialect = {
  takes: ({ path }) => PATH.test(path),
  refusal: ({ method, path, headers, body }) => {
    const [, publisher = '', model = '', action = '', query] = PATH.exec(path) ?? [];
    if (!headers.authorization?.startsWith('Bearer ') && headers['x-goog-api-key'] === undefined)
      return refused(401, 'UNAUTHENTICATED', 'Request is missing required authentication credential.');
    if (method !== 'POST' || !METHODS[publisher]?.includes(action)) return refused(404, 'NOT_FOUND', `${path} was not found.`);
    if (!isFields(body)) return invalid('Invalid JSON payload received. Unexpected token.');
    if (publisher === 'anthropic') return refusedMessage(body, headers['anthropic-beta']);
    if (action === 'streamGenerateContent' && query !== 'alt=sse') return invalid('This fake streams server-sent events only.');
    const isEmbedding = action === 'predict' || action === 'embedContent';
    const wrong = isEmbedding ? whatIsWrongWithEmbedding(body, action, model) : whatIsWrongWith(body, model);
    return wrong === undefined ? undefined : invalid(wrong);
  },
  answer: (question) => {
    const [, publisher, , action = ''] = PATH.exec(question.path) ?? [];
    return publisher === 'anthropic' ? claude(question) : gemini(question, action);
  },
};

function refusedMessage({ anthropic_version: version, ...message }: Fields, betas: unknown): Step | undefined {
  if (version !== VERSION) return invalidMessage('anthropic_version: Field required');
  if ('model' in message) return invalidMessage('model: Extra inputs are not permitted');
  if (/claude-code|prompt-caching/.test(String(betas))) return invalidMessage(`Unexpected value(s) \`${String(betas)}\` for the header`);
  const wrong = whatIsWrongWithMessage({ model: 'claude', ...message });
  return wrong === undefined ? undefined : invalidMessage(wrong);
}

function claude(question: Question): Answer {
  const message = () => messageOf({ ...question, request: { ...question.request, model: 'claude-of-vertex' } });
  return {
    isStream: question.request['stream'] === true,
    plain: () => plainMessage(message()),
    exactUsage: () => message().exact,
    leadingEvents: 2,
    events: () => messageEvents(message(), question.step),
  };
}

function gemini(question: Question, action: string): Answer {
  const generated = () => generatedAnswer(question);
  const isEmbedding = action === 'predict' || action === 'embedContent';
  return {
    isStream: action === 'streamGenerateContent',
    plain: () => (isEmbedding ? vectors(question.request, question.step) : plainAnswer(generated())),
    exactUsage: () => (isEmbedding ? { input_tokens: embeddingTokens(question.request, question.step) } : generated().exact),
    events: () => answerEvents(generated(), question.step),
  };
}
