import type { GenerateContentRequest, InferenceEndpoint } from '@tallygate/contract';
import { writtenArguments } from '../../../kernel/tool-arguments.ts';
import { writtenJson } from '../../../kernel/written-json.ts';
import { chatWork } from '../chat-work.ts';
import { costCheckOf } from '../cost-fields/index.ts';
import { inputTokenBound } from '../input-bound.ts';
import type { Received } from '../operation.ts';
import type { Requirement, Work, WorkBound } from '../work.ts';
import { valuesOfFunctions } from './chat-conversation.ts';
import { chatsOf } from './chat-dialects.ts';
import { contentBoundText, contentPromptSize } from './content-size.ts';
import { googleForm } from './google-form.ts';
import { googlePassage } from './google-passage.ts';

/** What keys are narrowed to, and what usage and receipts are filed under: the model is in the path on the wire. */
export const GENERATE_CONTENT = '/v1beta/models:generateContent' satisfies InferenceEndpoint;

const checkChat = costCheckOf('/v1/chat/completions');

/**
 * A chat, told in Google's words: what can cost is bounded as that chat's is, with everything in it that a provider may be sent, and as the
 * request is that Google gets.
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
    cheaper: `lower \`generationConfig.maxOutputTokens\`${(config?.candidateCount ?? 1) > 1 ? ' or `candidateCount`' : ''}, or shorten \`contents\``,
    ...(work.promptText && { promptText: { ...work.promptText, param: 'contents' } }),
    ...largestOf(work, request, received),
    dialects: [
      { endpoint: GENERATE_CONTENT, request, form: googlePassage({ isSse }) },
      ...chats.dialects(googleForm({ model, isSse, originalName: chats.names.originalName })),
    ],
  };
}

/** The larger of what the chat can cost and what the request can that Google is sent. */
function largestOf(
  chat: Pick<Work, 'bound' | 'countedBound'>,
  request: GenerateContentRequest,
  { bytes }: Pick<Received, 'bytes'>,
): Pick<Work, 'bound' | 'countedBound'> {
  const size = contentPromptSize(request, bytes.length);
  const larger = (bound: WorkBound, inputTokens: number): WorkBound => ({
    ...bound,
    inputTokens: Math.max(bound.inputTokens, inputTokens),
  });
  return {
    bound: (model) => larger(chat.bound(model), inputTokenBound(model, size)),
    async countedBound(model, tokenizer) {
      if (size.isOpenEnded || !model.tokenizer) return undefined;
      const counted = await chat.countedBound?.(model, tokenizer);
      const textBytes = counted && (await tokenizer.count(model.tokenizer, contentBoundText(request)));
      return counted && textBytes !== undefined ? larger(counted, inputTokenBound(model, { ...size, textBytes })) : undefined;
    },
  };
}

const inGooglesWords = ({ capability, param }: Requirement): Requirement => ({
  capability,
  param: param.startsWith('messages') ? 'contents' : param === 'response_format' ? 'generationConfig.responseSchema' : param,
});
