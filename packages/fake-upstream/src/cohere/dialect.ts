import type { Dialect } from '../dialect.ts';
import { isFields } from '../fields.ts';
import { chatAnswer, chatEvents, plainChat } from './answer.ts';
import { whatIsWrongWith } from './request.ts';
import { refused } from './steps.ts';

/** Cohere's Chat API, version 2. Its rankings are OpenAI's clients' too. */
export const cohere: Dialect = {
  takes: ({ method, path }) => method === 'POST' && path === '/v2/chat',
  refusal: ({ body }) => {
    if (!isFields(body)) return refused(400, 'invalid request: the body is no JSON');
    const wrong = whatIsWrongWith(body);
    return wrong === undefined ? undefined : refused(400, wrong);
  },
  answer: (question) => {
    const said = () => chatAnswer(question);
    return {
      isStream: question.request['stream'] === true,
      plain: () => plainChat(said()),
      exactUsage: () => said().plan.exact,
      leadingEvents: 2,
      events: () => chatEvents(said(), question.step),
    };
  },
};
