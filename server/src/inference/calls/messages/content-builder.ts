import { roomBehind } from '../../../kernel/written-json.ts';
import type { Json } from '../event-data.ts';
import { isRecord } from '../usage.ts';

/** More than any model writes, and than is kept of an answer. */
const MOST_BLOCKS = 10_000;
const MOST_CHARACTERS = 12 * 1024 * 1024;

export interface Block {
  readonly opening: Json;
  readonly kind: 'text' | 'thinking' | 'tool_use';
  text: string;
}

/**
 * The content of a message, from what a chat says piece by piece, and the events that tell of it: one block after the other, thoughts first,
 * then the text, then the calls.
 */
export class ContentBuilder {
  readonly blocks: Block[] = [];
  readonly #originalName: (name: string) => string;
  #isOpen = false;
  /** The places of blocks, by the chat's index of their call. */
  readonly #calls = new Map<unknown, number>();
  #finishReason: unknown;
  #hasRefused = false;
  #room = MOST_CHARACTERS;

  /** @param originalName of a tool, whose name may have been too long for a chat */
  constructor(originalName: (name: string) => string) {
    this.#originalName = originalName;
  }

  /** A whole message, or a delta of one. */
  add(message: Json): Json[] {
    this.#room = roomBehind(message, this.#room);
    if (this.isTooLarge) return [];
    const { content, refusal, tool_calls: calls } = message;
    const thought = message['reasoning_content'] ?? message['reasoning'];
    if (isText(refusal)) this.#hasRefused = true;
    return [
      ...(isText(thought) ? this.#extend('thinking', thought) : []),
      ...(isText(content) ? this.#extend('text', content) : []),
      ...(isText(refusal) ? this.#extend('text', refusal) : []),
      ...(Array.isArray(calls) ? calls.filter(isRecord).flatMap((call, at) => this.#addCall(call, at)) : []),
    ];
  }

  get isTooLarge(): boolean {
    return this.blocks.length >= MOST_BLOCKS || this.#room < 0;
  }

  finish(reason: unknown): void {
    if (typeof reason === 'string') this.#finishReason = reason;
  }

  /** The event that ends the block that is open. */
  close(): Json[] {
    if (!this.#isOpen) return [];
    this.#isOpen = false;
    return [{ type: 'content_block_stop', index: this.blocks.length - 1 }];
  }

  /** Anthropic's word for why the answer ended. */
  get stopReason(): string {
    if (this.#finishReason === 'length') return 'max_tokens';
    if (this.#finishReason === 'content_filter' || this.#hasRefused) return 'refusal';
    return this.#calls.size > 0 ? 'tool_use' : 'end_turn';
  }

  #extend(kind: 'text' | 'thinking', text: string): Json[] {
    const isNew = !this.#isOpen || this.blocks.at(-1)?.kind !== kind;
    const begun = isNew
      ? this.#begin(kind, kind === 'text' ? { type: 'text', text: '' } : { type: 'thinking', thinking: '', signature: '' })
      : [];
    const delta = kind === 'text' ? { type: 'text_delta', text } : { type: 'thinking_delta', thinking: text };
    return [...begun, ...this.#deltaAt(this.blocks.length - 1, text, delta)];
  }

  #addCall(call: Json, at: number): Json[] {
    const index = call['index'] ?? at;
    const called = isRecord(call['function']) ? call['function'] : {};
    const known = this.#calls.get(index);
    const begun = known === undefined ? this.#beginCall(index, call, called) : [];
    const { arguments: json } = called;
    const place = this.#calls.get(index) ?? 0;
    return [...begun, ...(isText(json) ? this.#deltaAt(place, json, { type: 'input_json_delta', partial_json: json }) : [])];
  }

  #beginCall(index: unknown, { id, extra_content: extra }: Json, { name }: Json): Json[] {
    const begun = this.#begin('tool_use', {
      type: 'tool_use',
      id: isText(id) ? toolUseId(id) : `toolu_${this.#calls.size}`,
      name: this.#originalName(isText(name) ? name : ''),
      input: {},
      // Google's signature of the thought behind a call, which it wants back.
      ...(extra !== undefined && { extra_content: extra }),
    });
    this.#calls.set(index, this.blocks.length - 1);
    return begun;
  }

  #begin(kind: Block['kind'], opening: Json): Json[] {
    const closed = this.close();
    this.blocks.push({ kind, opening, text: '' });
    this.#isOpen = true;
    return [...closed, { type: 'content_block_start', index: this.blocks.length - 1, content_block: opening }];
  }

  #deltaAt(index: number, text: string, delta: Json): Json[] {
    const block = this.blocks[index];
    if (block) block.text += text;
    return [{ type: 'content_block_delta', index, delta }];
  }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** Anthropic's ids have letters, digits, `_` and `-`; its clients send them back. */
const toolUseId = (id: string): string => id.replace(/[^A-Za-z0-9_-]/g, '_');
