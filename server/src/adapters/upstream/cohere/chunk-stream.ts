import { jsonSoFar } from '../../../kernel/json-so-far.ts';
import { plainUsage, statedUsage } from '../../../kernel/stated-usage.ts';
import { isRecord, type Json, textIn } from '../json-value.ts';
import { UpstreamCut } from '../port.ts';
import { ServerSentEvents } from '../server-sent-events.ts';
import { type Translation, UNREADABLE_EVENT } from '../translated-answer.ts';
import { eventIn } from '../usage-search.ts';
import type { AnswerContext } from './answer.ts';
import { finishReasonOf, hasFailed } from './finish-reason.ts';
import { type ChatUsage, usageOf } from './usage.ts';

const BEGINS_JSON = /^\s*\{/;
const FAILED = 'The provider broke the stream off.';
const EMPTY: Json = {};

const inside = (holder: unknown, name: string): Json => {
  const value = isRecord(holder) ? holder[name] : undefined;
  return isRecord(value) ? value : EMPTY;
};

/** The events of `/v2/chat` as OpenAI's chunks. Its `message-end` says why the answer ended, and all of the usage. */
export class ChunkStream implements Translation {
  readonly contentType = 'text/event-stream';
  readonly #context: AnswerContext;
  readonly #events = new ServerSentEvents();
  #id: string;
  #calls = 0;
  #hasBegun = false;
  #hasFailed = false;
  #isEnding = false;
  #isUnreadable = false;
  #finish: string | undefined;
  #usage: ChatUsage | undefined;

  constructor(context: AnswerContext) {
    this.#context = context;
    this.#id = context.id;
  }

  push(chunk: Buffer): Buffer {
    return this.#say(this.#events.push(chunk));
  }

  end(): Buffer {
    this.#isEnding = true;
    const last = this.#say(this.#events.end());
    if (this.#hasFailed) return last;
    if (this.#finish === undefined) throw new UpstreamCut('reset');
    const usage = this.#usage ? this.#frame({ choices: [], usage: this.#usage }) : '';
    return Buffer.concat([last, Buffer.from(`${usage}data: [DONE]\n\n`)]);
  }

  usageSoFar(): unknown {
    return this.#usage ?? this.#leastIn(this.#events.begun);
  }

  finalUsage(): ChatUsage | undefined {
    return this.#finish === undefined ? undefined : this.#usage;
  }

  get isTooLarge(): boolean {
    return this.#events.isTooLarge;
  }

  /** Of an event that breaks off, or cannot be read to its end. */
  #leastIn(data: string): ChatUsage | undefined {
    const stated = /usage|billed/i.test(data) ? plainUsage(statedUsage(jsonSoFar(data))) : undefined;
    return stated && usageOf({ ...stated, is_partial: true });
  }

  #say(events: readonly { readonly data: string }[]): Buffer {
    return Buffer.from(events.map(({ data }) => (this.#hasFailed ? '' : this.#sayData(data))).join(''));
  }

  #sayData(data: string): string {
    if (data === '[DONE]') return '';
    const event = BEGINS_JSON.test(data) ? eventIn(data) : undefined;
    if (!isRecord(event)) return this.#refuse(data);
    if (this.#isUnreadable && event['type'] !== 'message-end') return '';
    return this.#sayEvent(event);
  }

  #refuse(data: string): string {
    this.#usage ??= this.#leastIn(data);
    if (!this.#hasBegun && this.#isEnding) throw new UpstreamCut('reset');
    if (!this.#hasBegun) return this.#fail('The provider sent an event that is no JSON object.');
    if (this.#isUnreadable) return '';
    this.#isUnreadable = true;
    return UNREADABLE_EVENT;
  }

  #sayEvent(event: Json): string {
    const message = inside(event['delta'], 'message');
    switch (event['type']) {
      case 'message-start':
        this.#id = textIn(event['id']) ?? this.#id;
        return '';
      case 'content-start':
      case 'content-delta':
        return this.#sayContent(inside(message, 'content'));
      case 'tool-plan-delta':
        return this.#sayThought(textIn(message['tool_plan']));
      case 'tool-call-start':
        return this.#sayCall(inside(message, 'tool_calls'));
      case 'tool-call-delta':
        return this.#sayArguments(textIn(inside(inside(message, 'tool_calls'), 'function')['arguments']));
      case 'message-end':
        return this.#sayEnd(inside(event, 'delta'));
      default:
        // Without a type it is an error: `{ "message": … }`.
        return event['type'] === undefined ? this.#fail(textIn(event['message']) ?? FAILED, statedUsage(event)) : '';
    }
  }

  #sayContent({ text, thinking }: Json): string {
    const said = textIn(text);
    return this.#sayThought(textIn(thinking)) + (said === undefined ? '' : this.#delta({ content: said }));
  }

  #sayThought(thought: string | undefined): string {
    return thought === undefined ? '' : this.#delta({ reasoning_content: thought });
  }

  #sayCall({ id, function: called }: Json): string {
    const index = this.#calls++;
    if (!this.#isShown(index)) return '';
    const { name, arguments: text }: Json = isRecord(called) ? called : EMPTY;
    const said = { name: textIn(name) ?? '', arguments: textIn(text) ?? '' };
    return this.#delta({ tool_calls: [{ index, id: textIn(id) ?? `call_${this.#id}_${index}`, type: 'function', function: said }] });
  }

  #sayArguments(text: string | undefined): string {
    const index = this.#calls - 1;
    if (text === undefined || index < 0 || !this.#isShown(index)) return '';
    return this.#delta({ tool_calls: [{ index, function: { arguments: text } }] });
  }

  #isShown(index: number): boolean {
    return index === 0 || !this.#context.oneCallOnly;
  }

  #sayEnd({ finish_reason: reason, error, usage: stated }: Json): string {
    this.#usage = usageOf(stated) ?? this.#usage;
    if (hasFailed(reason) || error) return this.#fail(textIn(error) ?? FAILED, this.#usage);
    this.#finish = finishReasonOf(reason, this.#calls > 0);
    return this.#delta({}, this.#finish);
  }

  #fail(message: string, usage?: unknown): string {
    this.#hasFailed = true;
    return `data: ${JSON.stringify({ error: { message, type: 'server_error', param: null, code: null }, usage })}\n\n`;
  }

  #delta(delta: Json, finish: string | null = null): string {
    const choice = (said: Json, finish_reason: string | null) =>
      this.#frame({ choices: [{ index: 0, delta: said, logprobs: null, finish_reason }] });
    const opening = this.#hasBegun ? '' : choice({ role: 'assistant', content: '' }, null);
    this.#hasBegun = true;
    return opening + choice(delta, finish);
  }

  #frame(members: Json): string {
    const { created, model } = this.#context;
    return `data: ${JSON.stringify({ id: `chatcmpl-${this.#id}`, object: 'chat.completion.chunk', created, model, ...members })}\n\n`;
  }
}
