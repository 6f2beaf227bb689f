import { CREATED, plainBody, planAnswer } from '../completion.ts';
import type { Dialect } from '../dialect.ts';
import { eventStream } from '../event-stream.ts';
import { type Fields, isFields } from '../fields.ts';
import { invalidBody } from './request.ts';
import { refused } from './steps.ts';

const DEPLOYMENT = /^\/openai\/deployments\/[^/?]+\/chat\/completions\?api-version=\d{4}-\d{2}-\d{2}(-preview)?$/;
const VERSIONLESS = /^\/openai\/v1\/chat\/completions(\?api-version=(preview|v1))?$/;

const SAFE = { hate: { filtered: false, severity: 'safe' }, violence: { filtered: false, severity: 'safe' } };
const PROMPT_FILTER = [{ prompt_index: 0, content_filter_results: SAFE }];

/** Azure OpenAI below `/openai`: deployments with an `api-version`, or its later surface without. It wants credentials, any. */
export const azure: Dialect = {
  takes: ({ path }) => path.startsWith('/openai/'),
  refusal: ({ method, path, headers, body }) => {
    if (headers['api-key'] === undefined && !headers.authorization?.startsWith('Bearer '))
      return refused(401, '401', 'Access denied due to invalid subscription key or wrong API endpoint.');
    if (method !== 'POST' || !(DEPLOYMENT.test(path) || VERSIONLESS.test(path))) return refused(404, '404', 'Resource not found');
    if (!isFields(body)) return refused(400, 'BadRequest', 'The body is not valid JSON.');
    return invalidBody(body, VERSIONLESS.test(path));
  },
  answer: ({ turn, request, step, promptTokens }) => {
    const plan = () => planAnswer(`chatcmpl-azure-${turn}`, request, step, promptTokens);
    const options = request['stream_options'];
    return {
      isStream: request['stream'] === true,
      plain: () => filtered(plainBody(plan())),
      exactUsage: () => plan().exact,
      leadingEvents: 1 + Number(request['n'] ?? 1),
      events: function* () {
        const lineEnd = step.lineEnd ?? '\n';
        yield `data: ${JSON.stringify(preamble())}${lineEnd}${lineEnd}`;
        yield* eventStream(plan(), step, isFields(options) && options['include_usage'] === true);
      },
    };
  },
};

/** The filter results of the prompt come first, in a chunk without choices, id and model. */
const preamble = (): Fields => ({
  id: '',
  object: '',
  created: 0,
  model: '',
  choices: [],
  prompt_filter_results: PROMPT_FILTER,
});

const filtered = (completion: object): Fields => {
  const { choices, ...rest }: Fields = Object(completion);
  const filteredChoices = Array.isArray(choices) ? choices.map((choice: object) => ({ ...choice, content_filter_results: SAFE })) : choices;
  return { ...rest, created: CREATED, choices: filteredChoices, prompt_filter_results: PROMPT_FILTER };
};
