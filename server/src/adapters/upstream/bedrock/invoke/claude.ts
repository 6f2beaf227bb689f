import { readArguments } from '../../../../kernel/tool-arguments.ts';
import { chatAnswer } from '../../anthropic/chat-answer.ts';
import { argumentsIn } from '../../anthropic/conversation.ts';
import { nativeRequest } from '../../anthropic/native-request.ts';
import { messagesRequest } from '../../anthropic/request.ts';
import { Untranslatable } from '../../fault.ts';
import { recordsIn } from '../../json-value.ts';
import type { ChatCall, UpstreamAnswer, UpstreamCall, UpstreamCallOf, UpstreamFault } from '../../port.ts';
import { TranslatedAnswer, type Translation } from '../../translated-answer.ts';
import type { BedrockApi } from '../api.ts';
import { FramedStream } from '../framed-stream.ts';
import { betasOf } from './betas.ts';
import { ModelEvents } from './chunks.ts';
import { PassedOn } from './passed-on.ts';

/**
 * Claude in Anthropic's own words, which say more than Converse does (budgets and efforts of thought, formats of an answer, tools of
 * Anthropic's). https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages.html
 */
const VERSION = 'bedrock-2023-05-31';

/** A Messages request: its answer passes as it is, a stream without AWS's framing. */
export async function claudeMessages(api: BedrockApi, call: UpstreamCallOf<'/v1/messages'>): Promise<UpstreamAnswer | UpstreamFault> {
  const answer = await api.send(call, operationOf(call), async () => invoked(call, nativeRequest(call)));
  if (!answer.ok || !call.stream) return answer;
  return new TranslatedAnswer(answer, new FramedStream(await api.frames(), new ModelEvents(), new PassedOn()));
}

export async function claudeChat(api: BedrockApi, call: ChatCall): Promise<UpstreamAnswer | UpstreamFault> {
  const body = async () => invoked(call, messagesRequest(call, await readArguments(argumentsIn(call.request.messages))));
  const outcome = await api.send(call, operationOf(call), body);
  const frames = call.stream ? await api.frames() : undefined;
  const created = Math.floor(api.clock.now() / 1000);
  const framing = frames && ((events: Translation) => new FramedStream(frames, new ModelEvents(), events));
  return chatAnswer(outcome, { stream: call.stream, created, framing });
}

const operationOf = ({ stream }: UpstreamCall) => (stream ? 'invoke-with-response-stream' : 'invoke');

/** Model and stream are in the path. There are no tiers in the body. */
function invoked({ betas, model }: UpstreamCall, request: object): object {
  const { model: _, stream: __, service_tier: ___, ...rest }: { model?: unknown; stream?: unknown; service_tier?: unknown } = request;
  refuseAddresses(rest);
  return { anthropic_version: VERSION, ...betasOf(betas, model), ...rest };
}

/** @throws Untranslatable where Bedrock would have to fetch something, which it does not */
function refuseAddresses({ messages }: { readonly messages?: unknown }): void {
  const blocks = recordsIn(messages).flatMap(({ content }) => recordsIn(content));
  const all = [...blocks, ...blocks.flatMap(({ content }) => recordsIn(content))];
  if (all.some(({ source }) => recordsIn([source]).some(({ type }) => type === 'url')))
    throw new Untranslatable('messages', 'Images and documents reach this model by their content: send data URLs, not addresses.');
}
