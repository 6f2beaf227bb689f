import { type ChatRequest, plainBody, planAnswer } from './completion.ts';
import type { Dialect } from './dialect.ts';
import { eventStream } from './event-stream.ts';
import { isFields } from './fields.ts';
import { refused } from './steps.ts';

export const CHAT = '/v1/chat/completions';

/** OpenAI's API: chat completions, and a 404 for everything else. */
export const openAi: Dialect = {
  takes: () => true,
  refusal: ({ method, path, body }) => {
    if (method !== 'POST' || path !== CHAT) return refused(404, `Invalid URL (${method} ${path})`);
    return isFields(body) ? undefined : refused(400, 'We could not parse the JSON body of your request.');
  },
  answer: ({ turn, request, step, promptTokens }) => {
    const plan = () => planAnswer(`chatcmpl-fake-${turn}`, request, step, promptTokens);
    return {
      isStream: request['stream'] === true,
      plain: () => plainBody(plan()),
      exactUsage: () => plan().exact,
      leadingEvents: Number(request['n'] ?? 1),
      events: () => eventStream(plan(), step, includesUsage(request)),
    };
  },
};

const includesUsage = ({ stream_options: options }: ChatRequest): boolean => isFields(options) && options['include_usage'] === true;
