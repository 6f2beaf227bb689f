import type { GenerateContentRequest, InferenceEndpoint } from '@tallygate/contract';
import { writtenArguments } from '../../../kernel/tool-arguments.ts';
import { writtenJson } from '../../../kernel/written-json.ts';
import { chatWork } from '../chat-work.ts';
import { costCheckOf } from '../cost-fields/index.ts';
import type { Received } from '../operation.ts';
import type { Requirement, Work } from '../work.ts';
import { valuesOfFunctions } from './chat-conversation.ts';
import { chatsOf } from './chat-dialects.ts';
import { googleForm } from './google-form.ts';

/** What keys are narrowed to, and what usage and receipts are filed under: the model is in the path on the wire. */
export const GENERATE_CONTENT: InferenceEndpoint = '/v1beta/models:generateContent';

const checkChat = costCheckOf('/v1/chat/completions');

/**
 * A chat, told in Google's words: what can cost is bounded as that chat's is, with everything in it that a provider may be sent.
 *
 * @throws Problem `unpriced_feature`, `validation_failed`
 */
export async function generateContentWork(request: GenerateContentRequest, received: Received, isStream: boolean): Promise<Work> {
  const model = received.params?.['model'] ?? '';
  const written = await writtenArguments(valuesOfFunctions(request));
  const chats = chatsOf({ request, model, isStream, written });
  checkChat(chats.google);
  const { generationConfig: config } = request;
  const bounded = { ...chats.google, ...(config?.maxOutputTokens && { max_tokens: config.maxOutputTokens }) };
  const work = chatWork(bounded, { bytes: await writtenJson(chats.google), sha256: received.sha256 });
  const isSse = (received.query?.get('alt') ?? received.query?.get('$alt')) === 'sse';
  return {
    ...work,
    endpoint: GENERATE_CONTENT,
    needs: work.needs.map(inGooglesWords),
    output: work.output && { ...work.output, param: 'generationConfig.maxOutputTokens', mayBeLowered: true },
    cheaper: `lower \`generationConfig.maxOutputTokens\`${(config?.candidateCount ?? 1) > 1 ? ' or `candidateCount`' : ''}, or shorten \`contents\``,
    ...(work.promptText && { promptText: { ...work.promptText, param: 'contents' } }),
    dialects: chats.dialects(googleForm({ model, isSse, originalName: chats.names.originalName })),
  };
}

const inGooglesWords = ({ capability, param }: Requirement): Requirement => ({
  capability,
  param: param.startsWith('messages') ? 'contents' : param === 'response_format' ? 'generationConfig.responseSchema' : param,
});
