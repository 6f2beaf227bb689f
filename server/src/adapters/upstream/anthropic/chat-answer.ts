import type { UpstreamAnswer, UpstreamFault } from '../port.ts';
import { TranslatedAnswer, TranslatedDocument, type Translation } from '../translated-answer.ts';
import { completionBody } from './answer.ts';
import { ChunkTranslation } from './stream.ts';
import { usageOf } from './usage.ts';

export interface ChatAnswerOptions {
  readonly stream: boolean;
  /** Unix seconds; Anthropic tells no time. */
  readonly created: number;
  /** How the events of a stream come, where they are no server-sent events. */
  readonly framing?: ((events: Translation) => Translation) | undefined;
}

/** What Anthropic's words came to for a chat completion that was put into them. */
export function chatAnswer(
  outcome: UpstreamAnswer | UpstreamFault,
  { stream, created, framing = (events) => events }: ChatAnswerOptions,
): UpstreamAnswer | UpstreamFault {
  if (!outcome.ok) return outcome.usage === undefined ? outcome : { ...outcome, usage: usageOf(outcome.usage) };
  if (stream) return new TranslatedAnswer(outcome, framing(new ChunkTranslation(created)));
  return new TranslatedDocument(outcome, {
    contentType: 'application/json',
    translate: (body) => completionBody(body, created),
    usageIn: ({ usage }) => usageOf(usage),
  });
}
