import { isRecord, type Json } from '../../json-value.ts';
import { eventIn } from '../../usage-search.ts';
import type { Frame } from '../event-frames.ts';
import { errorEvent } from '../exceptions.ts';
import { eventOf, type FrameReader } from '../framed-stream.ts';
import type { AnswerContext } from './answer.ts';
import { stopReasonOf } from './stop-reason.ts';
import { messageUsage } from './usage.ts';

/** The events of ConverseStream as those of Anthropic's Messages. Usage comes behind the end of the answer, in one event of its own. */
export class ConverseEvents implements FrameReader {
  readonly #context: AnswerContext;
  /** The places of calls that are not passed on. */
  readonly #declined = new Set<unknown>();
  #hasCalled = false;
  #hasCounted = false;

  constructor(context: AnswerContext) {
    this.#context = context;
  }

  read(frame: Frame): string {
    if (frame.kind !== 'event') return errorEvent(frame);
    const event = eventIn(frame.payload);
    // It may have the usage in it all the same.
    if (!isRecord(event)) return eventOf(frame.payload.replaceAll(/[\r\n]/g, ' '));
    const said = this.#said(frame.name, event);
    return said ? eventOf(JSON.stringify(said)) : '';
  }

  /** AWS announces no end: it closes the stream behind the usage. */
  end(): string {
    return this.#hasCounted ? eventOf('{"type":"message_stop"}') : '';
  }

  #said(name: string, event: Json): Json | undefined {
    const { contentBlockIndex: index } = event;
    switch (name) {
      case 'messageStart':
        return { type: 'message_start', message: { id: this.#context.id, model: this.#context.model } };
      case 'contentBlockStart':
        return this.#start(index, isRecord(event['start']) ? event['start'] : {});
      case 'contentBlockDelta':
        return this.#declined.has(index) ? undefined : deltaOf(index, isRecord(event['delta']) ? event['delta'] : {});
      case 'contentBlockStop':
        return this.#declined.has(index) ? undefined : { type: 'content_block_stop', index };
      case 'messageStop':
        return { type: 'message_delta', delta: { stop_reason: stopReasonOf(event['stopReason']) } };
      case 'metadata':
        this.#hasCounted = true;
        return { type: 'message_delta', delta: {}, usage: messageUsage(event['usage']) };
      default:
        return undefined;
    }
  }

  #start(index: unknown, { toolUse }: Json): Json | undefined {
    if (!isRecord(toolUse)) return undefined;
    if (toolUse['type'] !== undefined || (this.#hasCalled && this.#context.oneCallOnly)) {
      this.#declined.add(index);
      return undefined;
    }
    this.#hasCalled = true;
    const { toolUseId: id, name } = toolUse;
    return { type: 'content_block_start', index, content_block: { type: 'tool_use', id, name, input: {} } };
  }
}

function deltaOf(index: unknown, { text, toolUse, reasoningContent }: Json): Json | undefined {
  const delta = (said: Json): Json => ({ type: 'content_block_delta', index, delta: said });
  if (typeof text === 'string') return delta({ type: 'text_delta', text });
  if (isRecord(toolUse)) return delta({ type: 'input_json_delta', partial_json: toolUse['input'] });
  if (!isRecord(reasoningContent)) return undefined;
  const { text: thinking, signature, redactedContent: data } = reasoningContent;
  if (typeof data === 'string') return { type: 'content_block_start', index, content_block: { type: 'redacted_thinking', data } };
  return delta(typeof signature === 'string' ? { type: 'signature_delta', signature } : { type: 'thinking_delta', thinking });
}
