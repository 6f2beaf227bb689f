import type { Json } from '../event-data.ts';
import { toolArguments } from '../tool-arguments.ts';
import { isRecord } from '../usage.ts';

/** A call as a chat tells it, piece by piece. */
interface Call {
  id: unknown;
  name: string;
  arguments: string;
  signature: unknown;
}

/** More than any model calls in one answer. */
const MOST_CALLS = 10_000;

/**
 * One candidate, from what a choice of a chat says piece by piece. What the model thinks and writes is told at once; a call is told whole, at
 * the end, since Google's have their arguments as an object.
 */
export class Candidate {
  /** By the chat's index of a call. */
  readonly #calls = new Map<unknown, Call>();
  readonly #originalName: (name: string) => string;
  #finishReason: unknown;
  #refusal = '';
  #signature: unknown;

  /** @param originalName of a function, which may have another name in the chat */
  constructor(originalName: (name: string) => string) {
    this.#originalName = originalName;
  }

  /** Takes a whole message, or a delta of one. @returns what can be told of it at once */
  add(message: Json): Json[] {
    const { content, refusal, tool_calls: calls } = message;
    const thought = message['reasoning_content'] ?? message['reasoning'];
    this.#signature = signatureIn(message) ?? this.#signature;
    if (isText(refusal)) this.#refusal += refusal;
    if (Array.isArray(calls)) for (const [at, call] of calls.filter(isRecord).entries()) this.#addCall(call, call['index'] ?? at);
    return [...(isText(thought) ? [{ text: thought, thought: true }] : []), ...(isText(content) ? [{ text: content }] : [])];
  }

  finish(reason: unknown): void {
    if (typeof reason === 'string') this.#finishReason = reason;
  }

  get isTooLarge(): boolean {
    return this.#calls.size >= MOST_CALLS;
  }

  /** Google's word for why the answer ended. */
  get #reason(): string {
    if (this.#finishReason === 'length') return 'MAX_TOKENS';
    return this.#finishReason === 'content_filter' || this.#refusal !== '' ? 'SAFETY' : 'STOP';
  }

  /** What is told at its end. @param said what was told before, in an answer that is told all at once */
  async end(index: number, said: readonly Json[] = []): Promise<Json> {
    const calls: Json[] = [];
    for (const call of this.#calls.values()) calls.push(await this.#partOf(call));
    return {
      content: { role: 'model', parts: [...withSignature(said, this.#signature), ...calls] },
      finishReason: this.#reason,
      ...(this.#refusal !== '' && { finishMessage: this.#refusal.slice(0, 2_000) }),
      index,
    };
  }

  #addCall(call: Json, index: unknown): void {
    const known = this.#calls.get(index) ?? { id: undefined, name: '', arguments: '', signature: undefined };
    const { name, arguments: text }: Json = isRecord(call['function']) ? call['function'] : {};
    known.id ??= call['id'];
    if (isText(name)) known.name ||= name;
    if (isText(text)) known.arguments += text;
    known.signature ??= signatureIn(call);
    this.#calls.set(index, known);
  }

  async #partOf({ id, name, arguments: text, signature }: Call): Promise<Json> {
    return {
      functionCall: { ...(isText(id) && { id }), name: this.#originalName(name), args: await toolArguments(text) },
      ...(isText(signature) && { thoughtSignature: signature }),
    };
  }
}

/** The signature of a text is on its last part; what was told by then has one of its own behind it. */
function withSignature(parts: readonly Json[], signature: unknown): Json[] {
  if (!isText(signature)) return [...parts];
  const last = parts.at(-1);
  return last ? [...parts.slice(0, -1), { ...last, thoughtSignature: signature }] : [{ text: '', thoughtSignature: signature }];
}

function signatureIn({ extra_content: extra }: Json): unknown {
  const google = isRecord(extra) ? extra['google'] : undefined;
  return isRecord(google) ? google['thought_signature'] : undefined;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
