import { randomUUID } from 'node:crypto';
import { readArguments } from '../../../../kernel/tool-arguments.ts';
import { completionOfMessage } from '../../anthropic/answer.ts';
import { argumentsIn } from '../../anthropic/conversation.ts';
import { ChunkTranslation } from '../../anthropic/stream.ts';
import type { ChatCall, UpstreamAnswer, UpstreamFault } from '../../port.ts';
import { TranslatedAnswer, TranslatedDocument } from '../../translated-answer.ts';
import { documentIn } from '../../usage-search.ts';
import type { BedrockApi } from '../api.ts';
import { FramedStream } from '../framed-stream.ts';
import { messageOf } from './answer.ts';
import { ConverseEvents } from './events.ts';
import { converseRequest } from './request.ts';
import { chatUsage } from './usage.ts';

/** A chat in the words that all models of Bedrock have. */
export async function converse(api: BedrockApi, call: ChatCall): Promise<UpstreamAnswer | UpstreamFault> {
  const { model, request, stream } = call;
  const body = async () => converseRequest(call, await readArguments(argumentsIn(request.messages)));
  const answer = await api.send(call, stream ? 'converse-stream' : 'converse', body);
  if (!answer.ok) return answer.usage === undefined ? answer : { ...answer, usage: chatUsage(answer.usage) };
  const created = Math.floor(api.clock.now() / 1000);
  const id = `chatcmpl-${randomUUID().replaceAll('-', '')}`;
  const context = { id, model, oneCallOnly: request.parallel_tool_calls === false };
  if (stream)
    return new TranslatedAnswer(answer, new FramedStream(await api.frames(), new ConverseEvents(context), new ChunkTranslation(created)));
  return new TranslatedDocument(answer, {
    contentType: 'application/json',
    translate: async (document) => {
      const message = await messageOf(await documentIn(document), context);
      return message ? completionOfMessage(message, created) : document;
    },
    usageIn: ({ usage }) => chatUsage(usage),
  });
}
