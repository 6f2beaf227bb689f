import type { ChatCompletionRequest } from '@tallygate/contract';
import { Problem } from '../kernel/problem.ts';
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

/** Fields that make some provider search the web, by the search or by the source. */
const SEARCHES = ['web_search_options', 'search_parameters', 'plugins'];
/** Tools that the caller runs. What else there is, the provider runs, and bills by the call. */
const CALLERS_TOOLS = new Set(['function', 'custom']);
const STANDARD_TIERS = new Set(['auto', 'default', 'flex']);

/**
 * Features for which the provider charges by a measure of its own that the catalogue does not price: no cap could hold them.
 *
 * @throws Problem `unpriced_feature`
 */
export function refuseUnpriced(request: ChatCompletionRequest): void {
  const refuse = (param: string, what: string): never => {
    throw new Problem('unpriced_feature', `The catalogue has no price for ${what}, so no cap could hold it: remove \`${param}\`.`, {
      param,
    });
  };
  for (const field of SEARCHES) if (request[field] !== undefined && request[field] !== null) refuse(field, 'web search');
  const hosted = request.tools?.findIndex(({ type }) => !CALLERS_TOOLS.has(type)) ?? -1;
  if (hosted >= 0) refuse(`tools[${hosted}]`, 'tools that the provider runs');
  if (request.modalities?.some((modality) => modality !== 'text')) refuse('modalities', 'output other than text');
  if (request.service_tier && !STANDARD_TIERS.has(request.service_tier))
    refuse('service_tier', `the service tier "${request.service_tier.slice(0, 40)}"`);
}
