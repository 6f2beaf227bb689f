import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../kernel/clock.ts';
import { statedUsage } from '../../../kernel/stated-usage.ts';
import { readArguments, writtenArguments } from '../../../kernel/tool-arguments.ts';
import { inTurns } from '../../../kernel/turn.ts';
import { writtenJson } from '../../../kernel/written-json.ts';
import { isRecord } from '../json-value.ts';
import type { ChatCall, UpstreamAnswer } from '../port.ts';
import { type DocumentTranslation, TranslatedAnswer, TranslatedDocument, type Translation } from '../translated-answer.ts';
import { documentIn } from '../usage-search.ts';
import { givenToTools } from './candidate.ts';
import { ChunkStream } from './chunk-stream.ts';
import { completionOf } from './completion.ts';
import { argumentsIn } from './contents.ts';
import { contentMethod } from './native-request.ts';
import { generateContentRequest } from './request.ts';
import { servedTierOf } from './service-tier.ts';
import { usageOf } from './usage.ts';

/** What is posted where; the answer passes as it is. */
export interface Passage {
  readonly path: string;
  readonly body: object;
}

/** What a call becomes that is translated: also how the answer is read. */
export interface Exchange extends Passage {
  /** @param serviceTier that the answer's head names */
  translationOf(serviceTier: string | undefined): Translation | DocumentTranslation;
}

export const JSON_CONTENT = ['content-type', 'application/json', 'accept', 'application/json, text/event-stream'];

export function translated(answer: UpstreamAnswer, { translationOf }: Exchange): UpstreamAnswer {
  const translation = translationOf(servedTierOf(answer));
  return 'push' in translation ? new TranslatedAnswer(answer, translation) : new TranslatedDocument(answer, translation);
}

/** @param resource of the model, `/models/gemini-3.5-flash` */
export async function chatExchange(call: ChatCall, resource: string, clock: Clock): Promise<Exchange> {
  const { model, stream, request } = call;
  const context = {
    model,
    created: Math.floor(clock.now() / 1000),
    id: randomUUID().replaceAll('-', ''),
    oneCallOnly: request.parallel_tool_calls === false,
  };
  return {
    path: `${resource}:${contentMethod(call)}`,
    body: generateContentRequest(call, await readArguments(argumentsIn(request.messages))),
    translationOf: (serviceTier) =>
      stream
        ? new ChunkStream({ ...context, serviceTier })
        : jsonBody(
            async (document) =>
              inTurns(
                completionOf(
                  document,
                  { ...context, serviceTier },
                  await writtenArguments(isRecord(document) ? givenToTools(document) : []),
                ),
              ),
            (found) => usageOf(statedUsage(found)),
          ),
  };
}

/** What is no answer is passed on as it is: whoever reads it says so, and nothing is made up. */
export const jsonBody = (
  translate: (document: unknown) => object | undefined | Promise<object | undefined>,
  usageIn: DocumentTranslation['usageIn'],
): DocumentTranslation => ({
  contentType: 'application/json',
  async translate(body) {
    const answer = await translate(await documentIn(body));
    return answer ? writtenJson(answer) : body;
  },
  usageIn,
});
