import { newId } from '../../../kernel/ids.ts';
import { joined } from '../../../kernel/joined.ts';
import { andThen, type Soon } from '../../../kernel/soon.ts';
import { roomBehind, writtenJson } from '../../../kernel/written-json.ts';
import type { AnswerForm, PlainAnswer, ShownCost, StreamError } from '../answer-form.ts';
import { choicesOf, textOfChunk, usageOfChunk } from '../chat-chunk.ts';
import { DerivedStream } from '../derived-stream.ts';
import type { Json } from '../event-data.ts';
import { END_OF_EVENT } from '../event-frames.ts';
import { jsonObjectOf } from '../json-answer.ts';
import { tierSaid } from '../service-tier.ts';
import { SseFilter } from '../sse-filter.ts';
import { isRecord, leastUsage, readUsage, usageOfAnswer, usedUsage } from '../usage.ts';
import { Candidate } from './candidate.ts';
import { streamedError } from './google-errors.ts';
import { shownUsage } from './google-usage.ts';

/** What of the request its answer needs. */
interface Asked {
  readonly model: string;
  /** As server-sent events; otherwise as one list of JSON that grows, which Google sends where nothing else is asked. */
  readonly isSse: boolean;
  /** The caller's name of a function, by the one that it has in the chat. */
  readonly originalName: (name: string) => string;
}

/** Google's answers, made of a provider's chat completions. */
export const googleForm = (asked: Asked): AnswerForm => ({
  read: (bytes) => readCompletion(bytes, asked),
  openStream: () => new GoogleStream(asked),
  usageIn: (usage) => usedUsage(leastUsage(usage)),
});

const EMPTY = Buffer.alloc(0);
const newResponseId = (): string => newId().replaceAll('-', '');

async function readCompletion(bytes: Buffer, { model, originalName }: Asked): Promise<PlainAnswer | undefined> {
  const completion = await jsonObjectOf(bytes);
  const choices = choicesOf(completion);
  if (!completion || choices.length === 0 || !choices.every(({ message }) => isRecord(message))) return undefined;
  const candidates: Json[] = [];
  let isTooLarge = false;
  for (const [at, { index = at, message, finish_reason: reason }] of choices.entries()) {
    const candidate = new Candidate(originalName);
    const said = isRecord(message) ? candidate.add(message) : [];
    candidate.finish(reason);
    isTooLarge ||= candidate.isTooLarge;
    candidates.push(await candidate.end(Number(index), said));
  }
  const text = textOfChunk(completion);
  const stated = usageOfChunk(completion);
  const answer = { candidates, modelVersion: nameOf(completion['model'], model), responseId: newResponseId() };
  return {
    contentType: 'application/json',
    ...usageOfAnswer(readUsage(stated), () => text !== '', leastUsage(stated)),
    delivered: { text, scale: 1 },
    serviceTier: tierSaid(completion),
    value: answer,
    ...(isTooLarge && { isTooLarge: true as const }),
    toBytes: (cost) => writtenJson({ ...answer, usageMetadata: shownUsage(cost) }),
  };
}

const nameOf = (model: unknown, asked: string): string => (typeof model === 'string' ? model : asked);

/** What is kept of calls until they are whole. */
const MOST_CHARACTERS = 12 * 1024 * 1024;

/** Chunks of a chat become Google's answers, each with what is new in it; the last has the calls, why it ended, and the usage. */
class GoogleStream extends DerivedStream<SseFilter> {
  readonly contentType: string;
  readonly value = undefined;
  readonly #asked: Asked;
  readonly #id = newResponseId();
  readonly #candidates = new Map<number, Candidate>();
  #model: string;
  #room = MOST_CHARACTERS;
  #hasSpoken = false;

  constructor(asked: Asked) {
    super(new SseFilter());
    this.#asked = asked;
    this.#model = asked.model;
    this.contentType = asked.isSse ? 'text/event-stream' : 'application/json';
  }

  get usage() {
    return readUsage(this.source.usage);
  }

  async lastBytes(cost: ShownCost): Promise<Buffer> {
    const candidates: Json[] = [];
    for (const [index, candidate] of this.#candidates) candidates.push(await candidate.end(index));
    const last = await this.#written({ ...this.#answer(candidates), usageMetadata: shownUsage(cost) });
    return this.#asked.isSse ? last : Buffer.concat([last, Buffer.from(']')]);
  }

  errorBytes(error: StreamError): Buffer {
    const json = JSON.stringify(streamedError(error));
    return Buffer.from(this.#asked.isSse ? `data: ${json}\n\n` : `${this.#hasSpoken ? ',' : '['}${json}]`);
  }

  protected said(chunk: Json | undefined): Soon<Buffer> {
    const candidates: Json[] = [];
    for (const { index = 0, delta, finish_reason: reason } of choicesOf(chunk)) {
      const candidate = this.#candidateAt(Number(index));
      if (isRecord(delta)) {
        this.#room = roomBehind(delta['tool_calls'], this.#room);
        const parts = candidate.add(delta);
        if (parts.length > 0) candidates.push({ content: { role: 'model', parts }, index: Number(index) });
      }
      candidate.finish(reason);
      if (candidate.isTooLarge || this.#room < 0) {
        this.leaveOut();
        return EMPTY;
      }
    }
    this.#model = nameOf(chunk?.['model'], this.#model);
    return candidates.length === 0 ? EMPTY : this.#written(this.#answer(candidates));
  }

  #candidateAt(index: number): Candidate {
    const candidate = this.#candidates.get(index) ?? new Candidate(this.#asked.originalName);
    this.#candidates.set(index, candidate);
    return candidate;
  }

  #answer(candidates: readonly Json[]): Json {
    return { candidates, modelVersion: this.#model, responseId: this.#id };
  }

  #written(answer: Json): Soon<Buffer> {
    const { isSse } = this.#asked;
    const before = isSse ? 'data: ' : this.#hasSpoken ? ',\n' : '[';
    this.#hasSpoken = true;
    return andThen(writtenJson(answer), (json) => joined([Buffer.from(before), json, ...(isSse ? [END_OF_EVENT] : [])]));
  }
}
