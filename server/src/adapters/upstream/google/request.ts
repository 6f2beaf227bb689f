import { NONE_READ } from '../../../kernel/tool-arguments.ts';
import { Untranslatable } from '../fault.ts';
import type { ChatCall } from '../port.ts';
import { conversationOf } from './contents.ts';
import type { GenerateContentRequest } from './gemini-api.ts';
import { generationConfigOf } from './generation-config.ts';
import { askedTier } from './service-tier.ts';
import { signed } from './thought-signature.ts';
import { toolsOf } from './tools.ts';

/**
 * A chat completion request as `generateContent` takes it. Fields that only hint (`user`, `metadata`, `store`, `prediction`, `verbosity`) and
 * fields that nobody knows are left out, since Google refuses what it does not know.
 *
 * @param read arguments of tools that are large
 * @throws Untranslatable where leaving a field out would change what the request means
 */
export function generateContentRequest(call: ChatCall, read = NONE_READ): GenerateContentRequest {
  const { request, model } = call;
  if (Object.keys(request.logit_bias ?? {}).length > 0)
    throw new Untranslatable('logit_bias', "This model's provider cannot bias tokens: remove `logit_bias`.");
  if (Array.isArray(request['functions']) && request['functions'].length > 0)
    throw new Untranslatable('functions', 'Give this model its functions as `tools`.');
  const { contents, systemInstruction } = conversationOf(request.messages, read);
  return {
    contents: signed(contents, model),
    ...(systemInstruction && { systemInstruction }),
    ...toolsOf(request),
    ...askedTier(request.service_tier),
    generationConfig: generationConfigOf(call),
  };
}
