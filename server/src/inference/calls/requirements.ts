import type { ChatCompletionRequest } from '@tallygate/contract';
import type { Requirement } from './work.ts';

/** Part types by the capability they need. */
const PART_NEEDS: Readonly<Record<string, string>> = {
  image_url: 'vision',
  input_audio: 'audio_input',
  video_url: 'video_input',
  file: 'pdf',
};

/** What a model must be able to do to serve the request. */
export function requirementsOf(request: ChatCompletionRequest): Requirement[] {
  const needs: Requirement[] = [];
  const { functions } = request;
  if (request.tools && request.tools.length > 0) needs.push({ capability: 'tools', param: 'tools' });
  else if (Array.isArray(functions) && functions.length > 0) needs.push({ capability: 'tools', param: 'functions' });
  if (request.response_format?.type === 'json_schema') needs.push({ capability: 'json_schema', param: 'response_format' });
  for (const [index, { content }] of request.messages.entries()) {
    if (!Array.isArray(content)) continue;
    for (const [at, part] of content.entries()) {
      const capability = PART_NEEDS[part.type];
      if (capability && !needs.some((need) => need.capability === capability))
        needs.push({ capability, param: `messages[${index}].content[${at}]` });
    }
  }
  return needs;
}
