import { randomUUID } from 'node:crypto';
import { statedUsage } from '../../../kernel/stated-usage.ts';
import { writtenJson } from '../../../kernel/written-json.ts';
import type { ChatCall, UpstreamAnswer } from '../port.ts';
import { TranslatedAnswer, TranslatedDocument } from '../translated-answer.ts';
import { documentIn } from '../usage-search.ts';
import { type AnswerContext, completionOf } from './answer.ts';
import { ChunkStream } from './chunk-stream.ts';
import { usageOf } from './usage.ts';

/** Cohere's answer as OpenAI's. @param created Unix seconds; Cohere tells no time */
export function chatAnswer(answer: UpstreamAnswer, { request, model, stream }: ChatCall, created: number): UpstreamAnswer {
  const context: AnswerContext = { model, created, id: randomUUID(), oneCallOnly: request.parallel_tool_calls === false };
  if (stream) return new TranslatedAnswer(answer, new ChunkStream(context));
  return new TranslatedDocument(answer, {
    contentType: 'application/json',
    async translate(body) {
      const completion = completionOf(await documentIn(body), context);
      return completion ? writtenJson(completion) : body;
    },
    usageIn: (found) => usageOf(statedUsage(found)),
  });
}
