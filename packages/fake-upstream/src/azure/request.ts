import type { Fields } from '../fields.ts';
import type { Step } from '../step.ts';
import { refused } from '../steps.ts';

/** What the model behind Azure's gateway refuses, in OpenAI's words; undefined where it would answer. */
export function invalidBody(body: Fields, needsModel: boolean): Step | undefined {
  const { messages, model, stream, stream_options: options, max_tokens: old, max_completion_tokens: bound } = body;
  if (needsModel && typeof model !== 'string') return refused(400, "Missing required parameter: 'model'.", { param: 'model' });
  if (!Array.isArray(messages) || messages.length === 0)
    return refused(400, "Missing required parameter: 'messages'.", { param: 'messages' });
  if (options !== undefined && stream !== true)
    return refused(400, "The 'stream_options' parameter is only allowed when 'stream' is enabled.", { param: 'stream_options' });
  if (old === undefined && bound === undefined)
    return refused(400, 'A bound on tokens is expected of the gateway.', { param: 'max_tokens' });
  return undefined;
}
