import type { Dialect, Question } from '../dialect.ts';
import { isFields } from '../fields.ts';
import { converseAnswer, plainAnswer } from './answer.ts';
import { answerFrames } from './events.ts';
import { frame } from './framing.ts';
import { invokedAnswer, whatIsWrongWithInvoked } from './invoke.ts';
import { whatIsWrongWith } from './request.ts';
import { invalid, refused } from './steps.ts';

const OPERATION = /^\/model\/[^/?]+\/(converse|converse-stream|invoke|invoke-with-response-stream)$/;
const isInvoked = (path: string): boolean => /\/invoke[^/]*$/.test(path);
const isStream = (path: string): boolean => path.endsWith('stream');

function conversed(question: Question) {
  const answer = () => converseAnswer(question);
  return {
    plain: () => plainAnswer(answer()),
    exactUsage: () => answer().exact,
    leadingEvents: 1,
    events: () => answerFrames(answer(), question.step),
  };
}

/** Amazon Bedrock's runtime: Converse and InvokeModel, whole and streamed. It wants a signature or a key, any. */
export const bedrock: Dialect = {
  takes: ({ method, path }) => method === 'POST' && OPERATION.test(path),
  refusal: ({ path, headers: { authorization = '' }, body }) => {
    if (!/^(?:Bearer |AWS4-HMAC-SHA256 Credential=)/.test(authorization))
      return refused(403, 'MissingAuthenticationTokenException', 'Missing Authentication Token');
    if (!isFields(body)) return refused(400, 'SerializationException', 'The request body is no JSON.');
    const wrong = isInvoked(path) ? whatIsWrongWithInvoked(decodeURIComponent(path), body) : whatIsWrongWith(body);
    return wrong === undefined ? undefined : invalid(wrong);
  },
  answer: (question) => ({
    isStream: isStream(question.path),
    streamType: 'application/vnd.amazon.eventstream',
    ...(isInvoked(question.path) ? invokedAnswer({ ...question, path: decodeURIComponent(question.path) }) : conversed(question)),
    padding: (bytes) => frame('padding', `{"padding":"${'x'.repeat(bytes)}"}`),
  }),
};
