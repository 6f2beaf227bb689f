import { setTimeout as after } from 'node:timers/promises';
import type { Fields } from '../fields.ts';
import { NO_TOKENS, type ResponseStep, type Tokens, usageOf } from './response-step.ts';

/** What a response needs of its session. */
export interface ResponseHost {
  send(event: Fields): void;
  reset(): void;
  /** Its output becomes a part of the conversation. */
  keep(item: Fields, tokens: Tokens): void;
}

export interface ResponseFacts {
  readonly id: string;
  readonly input: Tokens;
  readonly cached: Tokens;
  readonly isAudio: boolean;
  readonly bound: number;
  /** As it was asked for. */
  readonly asked: Fields;
}

const DEFAULT_TOKENS = 8;
/** 50 ms of 16-bit sound at 24 kHz. */
const SOUND = Buffer.alloc(2_400).toString('base64');

/** A response from its beginning to its end, event by event. What it has begun is billed. */
export class FakeResponse {
  readonly facts: ResponseFacts;
  readonly #step: ResponseStep;
  readonly #host: ResponseHost;
  #written = 0;
  #isOver = false;
  #hasBegun = false;
  /** The end that it was given before its beginning was said. */
  #earlyEnd: Parameters<FakeResponse['end']> | undefined;

  constructor(facts: ResponseFacts, step: ResponseStep, host: ResponseHost) {
    this.facts = facts;
    this.#step = step;
    this.#host = host;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** What the provider charges for it by now. */
  get billed(): { readonly input: Tokens; readonly output: Tokens; readonly cached: Tokens } {
    return { input: this.facts.input, cached: this.facts.cached, output: this.#output };
  }

  async run(): Promise<void> {
    const { tokens = DEFAULT_TOKENS, exceedsBound = false, pause, resetAfter, fails } = this.#step;
    const most = exceedsBound ? tokens : Math.min(tokens, this.facts.bound);
    if (this.#isOver) return;
    this.#hasBegun = true;
    this.#say('response.created', { response: this.#object('in_progress') });
    const place = { response_id: this.facts.id, item_id: this.#itemId, output_index: 0, content_index: 0 };
    this.#say('response.output_item.added', { ...place, item: this.#item('in_progress') });
    this.#say('response.content_part.added', { ...place, part: this.#part() });
    if (this.#earlyEnd) return this.end(...this.#earlyEnd);
    while (this.#written < most && !this.#isOver) {
      if (pause?.after === this.#written) await pause.until;
      if (this.#isOver) return;
      if (resetAfter === this.#written) return this.#host.reset();
      if (fails?.after === this.#written) return this.end('failed', { type: 'failed', error: { type: 'server_error', code: fails.code } });
      this.#delta(place);
      // A turn of the event loop, so that what the client says meanwhile is heard.
      await after(0);
    }
    if (!this.#isOver)
      this.end(most < tokens ? 'incomplete' : 'completed', most < tokens ? { type: 'incomplete', reason: 'max_output_tokens' } : null);
  }

  /** Says its end, once, and not before its beginning. */
  end(status: 'completed' | 'cancelled' | 'incomplete' | 'failed', details: Fields | null): void {
    if (!this.#hasBegun) this.#earlyEnd ??= [status, details];
    if (this.#isOver || !this.#hasBegun) return;
    this.#isOver = true;
    const place = { response_id: this.facts.id, item_id: this.#itemId, output_index: 0, content_index: 0 };
    if (status !== 'failed') {
      this.#say('response.content_part.done', { ...place, part: this.#part() });
      this.#say('response.output_item.done', { ...place, item: this.#item(status === 'completed' ? 'completed' : 'incomplete') });
      this.#host.keep(this.#item('completed'), this.#output);
    }
    const exact = usageOf(this.facts.input, this.#output, this.facts.cached);
    const usage = this.#step.usage ? this.#step.usage(exact) : exact;
    this.#say('response.done', { response: { ...this.#object(status), status_details: details, usage } });
  }

  /** The connection is gone. */
  stop(): void {
    this.#isOver = true;
  }

  get #output(): Tokens {
    return this.facts.isAudio ? { text: 0, audio: this.#written } : { ...NO_TOKENS, text: this.#written };
  }

  get #itemId(): string {
    return `item_of_${this.facts.id}`;
  }

  get #text(): string {
    return Array.from({ length: this.#written }, (_, index) => `tok${index}`).join(' ');
  }

  #delta(place: Fields) {
    const delta = `${this.#written === 0 ? '' : ' '}tok${this.#written}`;
    this.#written += 1;
    if (!this.facts.isAudio) return this.#say('response.output_text.delta', { ...place, delta });
    this.#say('response.output_audio.delta', { ...place, delta: SOUND });
    this.#say('response.output_audio_transcript.delta', { ...place, delta });
  }

  #part(): Fields {
    return this.facts.isAudio ? { type: 'audio', transcript: this.#text } : { type: 'text', text: this.#text };
  }

  #item(status: string): Fields {
    const content = this.facts.isAudio ? { type: 'output_audio', transcript: this.#text } : { type: 'output_text', text: this.#text };
    return { id: this.#itemId, object: 'realtime.item', type: 'message', status, role: 'assistant', content: [content] };
  }

  #object(status: string): Fields {
    const { id, bound, asked } = this.facts;
    return {
      object: 'realtime.response',
      id,
      status,
      status_details: null,
      output: status === 'in_progress' || this.#written === 0 ? [] : [this.#item(status === 'completed' ? 'completed' : 'incomplete')],
      conversation_id: asked['conversation'] === 'none' ? null : 'conv_1',
      output_modalities: [this.facts.isAudio ? 'audio' : 'text'],
      max_output_tokens: Number.isFinite(bound) ? bound : 'inf',
      usage: null,
      metadata: asked['metadata'] ?? null,
    };
  }

  #say(type: string, fields: Fields): void {
    this.#host.send({ type, ...fields });
  }
}
