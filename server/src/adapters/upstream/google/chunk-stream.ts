import { jsonSoFar } from '../../../kernel/json-so-far.ts';
import { plainUsage, statedUsage } from '../../../kernel/stated-usage.ts';
import { atOnce } from '../../../kernel/turn.ts';
import type { Words } from '../fault.ts';
import { isRecord, type Json } from '../json-value.ts';
import { UpstreamCut } from '../port.ts';
import { type ServerSentEvent, ServerSentEvents } from '../server-sent-events.ts';
import { type Translation, UNREADABLE_EVENT } from '../translated-answer.ts';
import { eventIn } from '../usage-search.ts';
import { type CandidatePiece, callId, candidatePieces, toolCall } from './candidate.ts';
import { type AnswerContext, blockedBecause, headOf } from './completion.ts';
import { googleWords } from './error-words.ts';
import { finishReasonOf, withheld } from './finish-reason.ts';
import { withSignature } from './thought-signature.ts';
import { type ChatUsage, isDecrease, largerUsage, laterUsage, usageOf } from './usage.ts';

const TELLS_USAGE = /"(?:finishReason|error|parts)"|usage|billed/i;
const BEGINS_JSON = /^\s*[[{]/;

/** How far a choice has come. */
interface Choice {
  calls: number;
  hasSpoken: boolean;
  isFinished: boolean;
}

/**
 * `streamGenerateContent` as OpenAI's chunks. Every event of Google's is an answer of its own with what is new in it; calls come whole, and
 * each event tells the usage so far, the last one all of it. Google marks no end: a stream is complete when every choice has its reason.
 */
export class ChunkStream implements Translation {
  readonly contentType = 'text/event-stream';
  readonly #context: AnswerContext;
  readonly #events = new ServerSentEvents();
  readonly #choices = new Map<number, Choice>();
  #head: { id: string; model: string } | undefined;
  #usage: ChatUsage | undefined;
  #hasDecreased = false;
  /** Text came behind the last usage: it was none of the whole. */
  #hasGoneOn = false;
  #hasFailed = false;
  /** Its body is through: an event that cannot be read was cut short. */
  #isEnding = false;
  /** An event could not be read: of those behind it only the usage is wanted, and how each choice ends. */
  #isUnreadable = false;

  constructor(context: AnswerContext) {
    this.#context = context;
  }

  push(chunk: Buffer): Buffer {
    return this.#say(this.#events.push(chunk));
  }

  end(): Buffer {
    this.#isEnding = true;
    const last = this.#say(this.#events.end());
    if (this.#hasFailed) return last;
    if (!this.#isComplete()) throw new UpstreamCut('reset');
    const known = this.finalUsage();
    const usage = known ? this.#frame({ choices: [], usage: known }) : '';
    return Buffer.concat([last, Buffer.from(`${usage}data: [DONE]\n\n`)]);
  }

  usageSoFar(): unknown {
    return this.#usageWith(this.#events.begun);
  }

  /** With an event that breaks off, or cannot be read to its end. */
  #usageWith(data: string): ChatUsage | undefined {
    const event = /usage|billed/i.test(data) ? jsonSoFar(data) : undefined;
    const [response] = Array.isArray(event) ? event : [event];
    const stated = plainUsage(statedUsage(response));
    return laterUsage(this.#usage, stated && usageOf({ ...stated, is_partial: true }));
  }

  finalUsage(): ChatUsage | undefined {
    return this.#isComplete() && !this.#hasGoneOn ? this.#usage : undefined;
  }

  get hasUsageDecreased(): boolean {
    return this.#hasDecreased;
  }

  get isTooLarge(): boolean {
    return this.#events.isTooLarge;
  }

  #isComplete(): boolean {
    return this.#choices.size > 0 && [...this.#choices.values()].every(({ isFinished }) => isFinished);
  }

  #say(events: readonly ServerSentEvent[]): Buffer {
    return Buffer.from(events.map(({ data }) => (this.#hasFailed ? '' : this.#sayEvent(data))).join(''));
  }

  #sayEvent(data: string): string {
    if (this.#isUnreadable && !TELLS_USAGE.test(data)) return '';
    // What is no JSON costs an error with its stack.
    const document = BEGINS_JSON.test(data) ? eventIn(data) : undefined;
    const response: unknown = Array.isArray(document) ? document[0] : document;
    if (!isRecord(response)) {
      this.#usage = this.#usageWith(data);
      this.#hasGoneOn = true;
      return this.#refuse();
    }
    if ('error' in response) {
      return this.#fail(googleWords(data));
    }
    this.#head ??= headOf(response, this.#context);
    const usage = usageOf(statedUsage(response));
    if (usage) {
      this.#hasDecreased ||= !usage.is_partial && isDecrease(this.#usage, usage);
      this.#usage = largerUsage(this.#usage, usage);
    }
    const block = blockedBecause(response);
    const pieces = atOnce(candidatePieces(response));
    const hasSpoken = pieces.some(({ text, thoughts, calls }) => text !== '' || thoughts !== '' || calls.length > 0);
    this.#hasGoneOn = usage === undefined && (this.#hasGoneOn || hasSpoken);
    if (pieces.length > 0) return pieces.map((piece) => this.#sayPiece(piece)).join('');
    return block === undefined || this.#choices.size > 0 ? '' : this.#sayBlock(block);
  }

  #refuse(): string {
    if (this.#choices.size === 0 && this.#isEnding) throw new UpstreamCut('reset');
    if (this.#choices.size === 0) return this.#fail({ message: 'The provider sent an event that is no JSON object.', code: null });
    if (this.#isUnreadable) return '';
    this.#isUnreadable = true;
    return UNREADABLE_EVENT;
  }

  #sayPiece(piece: CandidatePiece): string {
    const { index, text, thoughts, signature, logprobs, finishReason, finishMessage } = piece;
    const choice = this.#choices.get(index) ?? { calls: 0, hasSpoken: false, isFinished: false };
    const isNew = !this.#choices.has(index);
    this.#choices.set(index, choice);
    const said: string[] = [];
    const say = (delta: Json, finish: string | null = null): void => {
      said.push(this.#frame({ choices: [{ index, delta, logprobs: 'content' in delta ? logprobs : null, finish_reason: finish }] }));
    };
    if (isNew) say({ role: 'assistant', content: '' });
    if (thoughts !== '') say({ reasoning_content: thoughts });
    if (text !== '') say({ content: text });
    if (signature !== undefined) say(withSignature(signature));
    for (const call of piece.calls) {
      const at = choice.calls++;
      if (at > 0 && this.#context.oneCallOnly) continue;
      const id = call.id ?? callId(this.#head?.id ?? this.#context.id, index, at);
      say({ tool_calls: [{ index: at, ...toolCall(call, id) }] });
    }
    choice.hasSpoken ||= text !== '' || choice.calls > 0;
    if (finishReason !== undefined && !choice.isFinished) {
      choice.isFinished = true;
      const reason = finishReasonOf(finishReason, choice.calls > 0);
      if (reason === 'content_filter' && !choice.hasSpoken) say({ refusal: withheld(finishReason, finishMessage) });
      say({}, reason);
    }
    return said.join('');
  }

  #sayBlock(refusal: string): string {
    this.#choices.set(0, { calls: 0, hasSpoken: true, isFinished: true });
    const chunk = (delta: Json, finish: string | null): string =>
      this.#frame({ choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] });
    return chunk({ role: 'assistant', content: '' }, null) + chunk({ refusal }, null) + chunk({}, 'content_filter');
  }

  #fail({ message, code, usage }: Pick<Words, 'message' | 'code' | 'usage'>): string {
    this.#hasFailed = true;
    return `data: ${JSON.stringify({ error: { message, type: 'server_error', param: null, code }, usage })}\n\n`;
  }

  #frame(members: Json): string {
    const { id, model } = this.#head ?? this.#context;
    const { created, serviceTier: service_tier } = this.#context;
    return `data: ${JSON.stringify({ id: `chatcmpl-${id}`, object: 'chat.completion.chunk', created, model, service_tier, ...members })}\n\n`;
  }
}
