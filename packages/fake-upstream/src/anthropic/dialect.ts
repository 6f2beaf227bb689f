import type { Dialect } from '../dialect.ts';
import { isFields } from '../fields.ts';
import { messageEvents } from './events.ts';
import { messageOf, plainMessage } from './message.ts';
import { whatIsWrongWith } from './request.ts';
import { invalid } from './steps.ts';

/** Anthropic's Messages API. It asks for no key, but for the version, as the real one does. */
export const anthropic: Dialect = {
  takes: ({ method, path }) => method === 'POST' && path === '/v1/messages',
  refusal: ({ headers, body }) => {
    if (headers['anthropic-version'] !== '2023-06-01') return invalid('anthropic-version: header is required');
    if (!isFields(body)) return invalid('The request body is not valid JSON');
    const wrong = whatIsWrongWith(body);
    return wrong === undefined ? undefined : invalid(wrong);
  },
  answer: (question) => {
    const message = () => messageOf(question);
    return {
      isStream: question.request['stream'] === true,
      plain: () => plainMessage(message()),
      exactUsage: () => message().exact,
      leadingEvents: 2,
      events: () => messageEvents(message(), question.step),
    };
  },
};
