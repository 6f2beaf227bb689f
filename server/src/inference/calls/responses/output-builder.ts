import { roomBehind } from '../../../kernel/written-json.ts';
import { isRecord } from '../usage.ts';

export type Json = Readonly<Record<string, unknown>>;
export type OutputEvent = Json & { readonly type: string };

/** More than any model writes. All are repeated in the last event. */
const MOST_ITEMS = 10_000;
/**
 * Of all items, with their names and the probabilities of their tokens. Each is said in pieces, and four times whole: together the 64 MiB that
 * an answer may have.
 */
const MOST_CHARACTERS = 12 * 1024 * 1024;

interface OpenItem {
  readonly index: number;
  readonly item: Record<string, unknown>;
  readonly logprobs: unknown[];
  text: string;
}

/**
 * The output items of a response, from what a chat says piece by piece, and the events that tell of them in OpenAI's order:
 * item added, part added, deltas, part done, item done. Reasoning comes first, then the message, then the calls; an item is closed when the
 * next begins.
 */
export class OutputBuilder {
  readonly output: Json[] = [];
  readonly #idStem: string;
  #open: OpenItem | undefined;
  /** The chat's index of the call that is open. */
  #callIndex: number | undefined;
  #finishReason: string | undefined;
  #closing: OutputEvent[] | undefined;
  /** How many characters more there may be. */
  #room = MOST_CHARACTERS;

  constructor(responseId: string) {
    this.#idStem = responseId.replace(/^resp_/, '');
  }

  /** A whole message, or a delta of one, with the probabilities of its tokens where they were asked for. */
  add(message: Json, logprobs: readonly unknown[] = []): OutputEvent[] {
    const reasoning = message['reasoning_content'] ?? message['reasoning'];
    return [
      ...(typeof reasoning === 'string' && reasoning !== '' ? this.#addReasoning(reasoning) : []),
      ...(typeof message['content'] === 'string' && message['content'] !== ''
        ? this.#addText('output_text', message['content'], logprobs)
        : []),
      ...(typeof message['refusal'] === 'string' && message['refusal'] !== '' ? this.#addText('refusal', message['refusal']) : []),
      ...(Array.isArray(message['tool_calls'])
        ? message['tool_calls'].filter(isRecord).flatMap((call, at) => (this.isTooLarge ? [] : this.#addCall(call, at)))
        : []),
    ];
  }

  /** There is more than is kept of an answer. */
  get isTooLarge(): boolean {
    return this.output.length >= MOST_ITEMS || this.#room < 0;
  }

  finish(reason: unknown): void {
    if (typeof reason === 'string') this.#finishReason = reason;
    if (this.#closing === undefined && this.#open) this.#closing = this.#closeOpen(this.incompleteReason ? 'incomplete' : 'completed');
  }

  /** The events of what was still open at the end. */
  close(): OutputEvent[] {
    const closing = this.#closing ?? this.#closeOpen();
    this.#closing = [];
    return closing;
  }

  /** Why there is not all of it. */
  get incompleteReason(): string | undefined {
    if (this.#finishReason === 'length') return 'max_output_tokens';
    return this.#finishReason === 'content_filter' ? 'content_filter' : undefined;
  }

  #addReasoning(delta: string): OutputEvent[] {
    const isNew = this.#open?.item['type'] !== 'reasoning';
    const begun = isNew ? this.#begin({ type: 'reasoning', id: this.#id('rs'), summary: [], content: [] }) : [];
    const open = this.#extended(delta);
    const place = { item_id: open.item['id'], output_index: open.index, content_index: 0 };
    const part = isNew ? [{ type: 'response.content_part.added', ...place, part: { type: 'reasoning_text', text: '' } }] : [];
    return [...begun, ...part, { type: 'response.reasoning_text.delta', ...place, delta }];
  }

  #addText(kind: 'output_text' | 'refusal', delta: string, logprobs: readonly unknown[] = []): OutputEvent[] {
    const isNew = this.#open?.item['type'] !== 'message' || this.#open.item['kind'] !== kind;
    const begun = isNew
      ? this.#begin({ type: 'message', id: this.#id('msg'), status: 'in_progress', role: 'assistant', content: [] }, { kind })
      : [];
    const open = this.#extended(delta);
    if (logprobs.length > 0) this.#room = roomBehind(logprobs, this.#room);
    for (const one of logprobs) open.logprobs.push(one);
    const place = { item_id: open.item['id'], output_index: open.index, content_index: 0 };
    const part = isNew ? [{ type: 'response.content_part.added', ...place, part: textPart(kind, '') }] : [];
    const said =
      kind === 'refusal'
        ? { type: 'response.refusal.delta', ...place, delta }
        : { type: 'response.output_text.delta', ...place, delta, logprobs };
    return [...begun, ...part, said];
  }

  #addCall(call: Json, at: number): OutputEvent[] {
    const index = typeof call['index'] === 'number' ? call['index'] : at;
    const custom = isRecord(call['custom']) ? call['custom'] : undefined;
    const named = custom ?? (isRecord(call['function']) ? call['function'] : {});
    // Some providers number no calls: there the id tells one from the next.
    const isOther = typeof call['id'] === 'string' && call['id'] !== '' && call['id'] !== this.#open?.item['call_id'];
    const isNew = !this.#isCall() || this.#callIndex !== index || isOther;
    const begun = isNew ? this.#begin(callItem(this.#id(custom ? 'ctc' : 'fc'), call['id'], named['name'], custom !== undefined)) : [];
    this.#callIndex = index;
    const delta = custom ? custom['input'] : named['arguments'];
    if (typeof delta !== 'string' || delta === '') return begun;
    const open = this.#extended(delta);
    const type = custom ? 'response.custom_tool_call_input.delta' : 'response.function_call_arguments.delta';
    return [...begun, { type, item_id: open.item['id'], output_index: open.index, delta }];
  }

  #isCall(): boolean {
    return this.#open?.item['type'] === 'function_call' || this.#open?.item['type'] === 'custom_tool_call';
  }

  #begin(item: Record<string, unknown>, inner: Record<string, unknown> = {}): OutputEvent[] {
    const closed = this.#open ? this.#closeOpen() : [];
    this.#room = roomBehind(item, this.#room);
    this.#open = { index: this.output.length, item: { ...item, ...inner }, text: '', logprobs: [] };
    return [...closed, { type: 'response.output_item.added', output_index: this.output.length, item }];
  }

  #extended(delta: string): OpenItem {
    const open = this.#open;
    if (!open) throw new Error('An item is open where a piece of it is added');
    open.text += delta;
    this.#room -= delta.length;
    return open;
  }

  #closeOpen(status: 'completed' | 'incomplete' = 'completed'): OutputEvent[] {
    const open = this.#open;
    if (!open) return [];
    this.#open = undefined;
    const { index, text, logprobs } = open;
    const { kind, ...item } = open.item;
    const place = { item_id: item['id'], output_index: index };
    const { done, events } = closed(item, { text, logprobs, kind: kind === 'refusal' ? 'refusal' : 'output_text', place, status });
    this.output.push(done);
    return [...events, { type: 'response.output_item.done', output_index: index, item: done }];
  }

  #id(prefix: string): string {
    const index = this.output.length + (this.#open ? 1 : 0);
    return `${prefix}_${this.#idStem}${index.toString(16).padStart(4, '0')}`;
  }
}

const textPart = (kind: 'output_text' | 'refusal', text: string, logprobs: readonly unknown[] = []): Json =>
  kind === 'refusal' ? { type: 'refusal', refusal: text } : { type: 'output_text', text, annotations: [], logprobs };

function callItem(id: string, callId: unknown, name: unknown, isCustom: boolean): Record<string, unknown> {
  const called = { id, status: 'in_progress', call_id: callId, name };
  return isCustom ? { type: 'custom_tool_call', ...called, input: '' } : { type: 'function_call', ...called, arguments: '' };
}

interface Closing {
  readonly text: string;
  readonly logprobs: readonly unknown[];
  /** `incomplete`: the answer was cut in this very item. */
  readonly status: 'completed' | 'incomplete';
  readonly kind: 'output_text' | 'refusal';
  readonly place: Json;
}

function closed(item: Json, { text, logprobs, kind, place, status }: Closing): { done: Json; events: OutputEvent[] } {
  switch (item['type']) {
    case 'reasoning': {
      const part = { type: 'reasoning_text', text };
      const inside = { ...place, content_index: 0 };
      return {
        done: { ...item, content: [part] },
        events: [
          { type: 'response.reasoning_text.done', ...inside, text },
          { type: 'response.content_part.done', ...inside, part },
        ],
      };
    }
    case 'function_call': {
      const said = { type: 'response.function_call_arguments.done', ...place, name: item['name'], arguments: text };
      return { done: { ...item, status, arguments: text }, events: [said] };
    }
    case 'custom_tool_call':
      return {
        done: { ...item, status, input: text },
        events: [{ type: 'response.custom_tool_call_input.done', ...place, input: text }],
      };
    default: {
      const inside = { ...place, content_index: 0 };
      const said =
        kind === 'refusal'
          ? { type: 'response.refusal.done', ...inside, refusal: text }
          : { type: 'response.output_text.done', ...inside, text, logprobs };
      const part = textPart(kind, text, logprobs);
      return {
        done: { ...item, status, content: [part] },
        events: [said, { type: 'response.content_part.done', ...inside, part }],
      };
    }
  }
}
