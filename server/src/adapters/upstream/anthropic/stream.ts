import { jsonSoFar } from '../../../kernel/json-so-far.ts';
import { statedUsage } from '../../../kernel/stated-usage.ts';
import { MAX_MESSAGE_CHARACTERS, printable } from '../fault.ts';
import { countIn, isRecord, type Json, textIn } from '../json-value.ts';
import { UpstreamCut } from '../port.ts';
import { ServerSentEvents } from '../server-sent-events.ts';
import { type Translation, UNREADABLE_EVENT } from '../translated-answer.ts';
import { eventIn } from '../usage-search.ts';
import { refusalOf } from './answer.ts';
import { hiddenThought, type ReasoningDetail, thought } from './reasoning-details.ts';
import { finishReasonOf } from './stop-reason.ts';
import { ANSWER_TOOL } from './structured-output.ts';
import { isDecrease, laterUsage, promptUsageOf, type Usage, usageOf } from './usage.ts';

/** The events that say what was used, and those that end the stream. */
const TELLS_USAGE = /"(?:usage|message_stop|error)"|usage|billed/i;
const DONE = 'data: [DONE]\n\n';

/** A tool call, or the answer given through one, while its input arrives. */
interface OpenCall {
  /** The call's place among the calls; undefined for the answer. */
  readonly index: number | undefined;
  readonly input: unknown;
  hasInput: boolean;
}

/**
 * Anthropic's events as OpenAI's chunks. The first chunk waits for the first content: until then, an overloaded provider can be left for
 * another without the client knowing.
 */
export class ChunkTranslation implements Translation {
  readonly contentType = 'text/event-stream; charset=utf-8';
  readonly #events = new ServerSentEvents();
  readonly #created: number;
  #message: Json | undefined;
  #usage: Json = {};
  /** By the place of their block. */
  readonly #open = new Map<unknown, OpenCall>();
  #calls = 0;
  /** The thoughts so far, by the place of their block; see {@link ReasoningDetail}. */
  readonly #thoughts = new Map<unknown, ReasoningDetail>();
  #hasBegun = false;
  #hasCounted = false;
  #hasDecreased = false;
  #isFinished = false;
  /** An event could not be read: only the usage is wanted of those behind it. */
  #isUnreadable = false;
  /** The stream announced its end, or an error in place of it. */
  #isOver = false;

  /** @param created unix seconds; Anthropic tells no time */
  constructor(created: number) {
    this.#created = created;
  }

  push(chunk: Buffer): Buffer {
    return this.#translate(this.#events.push(chunk));
  }

  end(): Buffer {
    const rest = this.#translate(this.#events.end());
    if (!this.#isOver) throw new UpstreamCut('reset');
    return rest;
  }

  usageSoFar(): unknown {
    const said = this.#usageWith(this.#events.begun);
    const usage = usageOf(said);
    return usage?.is_partial ? (promptUsageOf(said) ?? usage) : usage;
  }

  /** With an event that breaks off, or cannot be read to its end. */
  #usageWith(data: string): Json {
    const event = TELLS_USAGE.test(data) ? jsonSoFar(data) : undefined;
    if (!isRecord(event)) return this.#usage;
    return laterUsage(this.#usage, statedUsage(event));
  }

  finalUsage(): Usage | undefined {
    return this.#isFinished && this.#hasCounted ? usageOf(this.#usage) : undefined;
  }

  get hasUsageDecreased(): boolean {
    return this.#hasDecreased;
  }

  get isTooLarge(): boolean {
    return this.#events.isTooLarge;
  }

  #translate(events: readonly { readonly data: string }[]): Buffer {
    let said = '';
    for (const { data } of events) {
      if (this.#isOver) break;
      // Text behind the usage shows that this was none of the whole.
      if (!this.#isUnreadable || this.#isFinished || TELLS_USAGE.test(data)) said += this.#sayEvent(data);
    }
    return Buffer.from(said);
  }

  #sayEvent(data: string): string {
    // What is no JSON costs an error with its stack.
    const event = data.trimStart().startsWith('{') ? eventIn(data) : undefined;
    if (isRecord(event)) return this.#say(event);
    this.#usage = this.#usageWith(data);
    if (!this.#hasBegun) throw new UpstreamCut('reset', { cause: new SyntaxError('An event of the provider is no JSON object') });
    if (this.#isUnreadable) return '';
    this.#isUnreadable = true;
    return UNREADABLE_EVENT;
  }

  /** Pings, ends of text, and events of next year say nothing. */
  #say(event: Json): string {
    switch (event['type']) {
      case 'message_start':
        this.#message = isRecord(event['message']) ? event['message'] : {};
        this.#usage = laterUsage({}, statedUsage(event));
        return '';
      case 'content_block_start':
        return this.#startBlock(event['index'], isRecord(event['content_block']) ? event['content_block'] : {});
      case 'content_block_delta':
        return this.#continueBlock(event['index'], isRecord(event['delta']) ? event['delta'] : {});
      case 'content_block_stop':
        return this.#stopBlock(event['index']);
      case 'message_delta':
        return this.#changeMessage(isRecord(event['delta']) ? event['delta'] : {}, statedUsage(event));
      case 'message_stop':
        return this.#stop(statedUsage(event));
      case 'error':
        return this.#fail(event);
      default:
        return '';
    }
  }

  #stop(usage: unknown): string {
    this.#isOver = true;
    if (!this.#isFinished) return this.#changeMessage({ stop_reason: 'end_turn' }, usage) + DONE;
    return (isRecord(usage) ? this.#changeMessage({}, usage) : '') + DONE;
  }

  #fail(event: Json): string {
    this.#isOver = true;
    const stated = statedUsage(event);
    this.#usage = laterUsage(this.#usage, stated);
    return frame({ error: errorOf(event['error']), ...(isRecord(stated) && { usage: usageOf(this.#usage) }) });
  }

  #startBlock(at: unknown, block: Json): string {
    switch (block['type']) {
      case 'text':
        return this.#delta({ content: textIn(block['text']) ?? '' });
      case 'thinking':
        return this.#think(at, { text: textIn(block['thinking']) ?? '' });
      case 'redacted_thinking':
        this.#thoughts.set(at, hiddenThought(placeOf(at), textIn(block['data']) ?? ''));
        return this.#delta({});
      case 'tool_use':
        return this.#startCall(at, block);
      default:
        return '';
    }
  }

  #startCall(at: unknown, { id, name, input }: Json): string {
    const index = name === ANSWER_TOOL ? undefined : this.#calls++;
    this.#open.set(at, { index, input, hasInput: false });
    if (index === undefined) return this.#delta({});
    return this.#delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] });
  }

  #continueBlock(at: unknown, delta: Json): string {
    switch (delta['type']) {
      case 'text_delta':
        return this.#delta({ content: textIn(delta['text']) ?? '' });
      case 'thinking_delta':
        return this.#think(at, { text: textIn(delta['thinking']) ?? '' });
      case 'signature_delta':
        return this.#think(at, { signature: textIn(delta['signature']) ?? '' });
      case 'input_json_delta':
        return this.#input(this.#open.get(at), textIn(delta['partial_json']) ?? '');
      default:
        return '';
    }
  }

  #think(at: unknown, { text = '', signature = '' }: { text?: string; signature?: string }): string {
    const before = this.#thoughts.get(at);
    const all = { text: `${before?.text ?? ''}${text}`, signature: `${before?.signature ?? ''}${signature}` };
    this.#thoughts.set(at, thought(placeOf(at), all));
    return this.#delta({ reasoning_content: text });
  }

  #input(call: OpenCall | undefined, text: string): string {
    if (!call || text === '') return '';
    call.hasInput = true;
    return this.#delta(
      call.index === undefined ? { content: text } : { tool_calls: [{ index: call.index, function: { arguments: text } }] },
    );
  }

  /** Without arguments Anthropic streams none, and OpenAI's clients parse what they got. */
  #stopBlock(at: unknown): string {
    const call = this.#open.get(at);
    this.#open.delete(at);
    return !call || call.hasInput ? '' : this.#input(call, JSON.stringify(call.input ?? {}));
  }

  #changeMessage(delta: Json, usage: unknown): string {
    // What `message_start` says of the output is a placeholder.
    const { output_tokens: _, ...prompt } = this.#usage;
    this.#hasDecreased ||= isDecrease(this.#hasCounted ? this.#usage : prompt, usage);
    this.#usage = laterUsage(this.#usage, usage);
    this.#hasCounted ||= isRecord(usage) && countIn(usage['output_tokens']) !== undefined;
    const stopReason = delta['stop_reason'];
    let said = '';
    if (typeof stopReason === 'string' && !this.#isFinished) {
      const refusal = refusalOf(delta);
      if (refusal !== null) said += this.#delta({ refusal });
      // In one piece, at the end: clients that do not know the field keep the last piece, and none may be lost or changed on its way back.
      if (this.#thoughts.size > 0) said += this.#delta({ reasoning_details: [...this.#thoughts.values()] });
      said += this.#begin() + this.#chunk([{ index: 0, delta: {}, logprobs: null, finish_reason: this.#finishReason(stopReason) }]);
      this.#isFinished = true;
    }
    const known = this.finalUsage();
    return known ? said + this.#chunk([], known) : said;
  }

  #finishReason(stopReason: string): string {
    return stopReason === 'tool_use' && this.#calls === 0 ? 'stop' : finishReasonOf(stopReason);
  }

  #begin(): string {
    if (this.#hasBegun) return '';
    this.#hasBegun = true;
    return this.#chunk([{ index: 0, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }]);
  }

  /** Nothing but the beginning where there is nothing to say. */
  #delta(delta: Json): string {
    const begin = this.#begin();
    const isEmpty = Object.values(delta).every((value) => value === '');
    return isEmpty ? begin : begin + this.#chunk([{ index: 0, delta, logprobs: null, finish_reason: null }]);
  }

  #chunk(choices: readonly Json[], usage: Usage | null = null): string {
    const { id, model } = this.#message ?? {};
    return frame({ id, object: 'chat.completion.chunk', created: this.#created, model, choices, usage });
  }
}

const frame = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;

const placeOf = (at: unknown): number => (typeof at === 'number' ? at : 0);

function errorOf(error: unknown): Json {
  const { type, message } = isRecord(error) ? error : {};
  return {
    message: printable(textIn(message) ?? 'The provider broke the stream off.', MAX_MESSAGE_CHARACTERS),
    type: 'server_error',
    param: null,
    code: textIn(type) ?? null,
  };
}
