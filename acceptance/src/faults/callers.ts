import { setTimeout as pause } from 'node:timers/promises';
import type { FakeUpstream, RecordedRequest, Step } from '@tallygate/fake-upstream';
import { MODEL } from '../chat.ts';
import type { Gateway } from '../gateway.ts';
import { sum } from '../money.ts';
import type { Draws } from '../random.ts';

/** How a call of a round ended, as its caller saw it. */
export interface Call {
  /** The caller's own id of the request. */
  readonly id: string;
  /** Undefined where no answer came, or only a part of one, and where the caller hung up. */
  readonly status: number | undefined;
  /** Pieces of text, each one token, of an answer that was streamed. */
  readonly got: number;
}

/** Who calls: a key, in a run or not. */
export interface Caller {
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
}

const MAX_TOKENS = 64;
const GIVES_UP_MS = 100_000;
const REST_MS = 60;
const HANGS_UP = 0.15;
/** 429: a cap has no room while what is held is running, also where its gateway is dead. */
const DECISIONS: readonly number[] = [200, 402, 429];
const DECIDED_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 20;
/** In the event of a piece of text. */
const PIECE = /"content":"[^"]/g;

/** Callers that use all gateways in turn, until they are stopped. */
export class Load {
  readonly calls: Call[] = [];
  readonly #round: string;
  readonly #draws: Draws;
  readonly #gateways: readonly Gateway[];
  readonly #working: Promise<unknown>[];
  #count = 0;
  #isOver = false;

  constructor(round: string, gateways: readonly Gateway[], callers: readonly Caller[], draws: Draws) {
    this.#round = round;
    this.#gateways = gateways;
    this.#draws = draws;
    this.#working = callers.map((caller) => this.#work(caller));
  }

  /** Resolves when the gateways have decided over a further call: it was answered, or a cap refused it. @throws when none is, in a minute */
  async decided(): Promise<void> {
    const before = this.#decisions();
    for (const lateTick = performance.now() + DECIDED_WITHIN_MS; this.#decisions() === before; await pause(LOOK_EVERY_MS))
      if (performance.now() > lateTick) throw new Error('The gateways decide over no call any more');
  }

  #decisions(): number {
    return this.calls.filter(({ status }) => status !== undefined && DECISIONS.includes(status)).length;
  }

  /** Resolves when the last answer is there. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#working);
  }

  async #work(caller: Caller): Promise<void> {
    while (!this.#isOver) {
      this.#count += 1;
      const call = await this.#ask(`${this.#round}-${this.#count}`, caller, this.#count);
      this.calls.push(call);
      if (call.status !== 200) await pause(REST_MS);
    }
  }

  async #ask(id: string, { key, headers }: Caller, count: number): Promise<Call> {
    const gateway = this.#gateways[count % this.#gateways.length];
    const stream = this.#draws.happens(0.5);
    const hangUpMs = this.#draws.happens(HANGS_UP) ? this.#draws.between(1, 400) : GIVES_UP_MS;
    try {
      const answer = await fetch(`${gateway?.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-request-id': id, ...headers },
        body: JSON.stringify({ model: MODEL, max_tokens: MAX_TOKENS, stream, messages: [{ role: 'user', content: id }] }),
        signal: AbortSignal.timeout(hangUpMs),
      });
      const text = await answer.text();
      const isWhole = answer.status !== 200 || (stream ? text.includes('data: [DONE]') : text.endsWith('}'));
      const isAnswer = isWhole && !/"error"/.test(answer.status === 200 ? text : '');
      return { id, status: isAnswer ? answer.status : undefined, got: text.match(PIECE)?.length ?? 0 };
    } catch {
      return { id, status: undefined, got: 0 };
    }
  }
}

/** A provider that says up to what it is allowed, and fails now and then; slow, so that much is held, or quick. */
export function scriptProvider(upstream: FakeUpstream, draws: Draws): void {
  const isSlow = draws.happens(0.4);
  const mostMs = isSlow ? 2_500 : 120;
  upstream.script(({ body }): Step => {
    const tokens = draws.between(1, MAX_TOKENS);
    if (draws.happens(0.03)) return { status: 500, body: { error: { message: 'The scripted provider failed.' } } };
    const ms = draws.between(0, mostMs);
    return Object(body).stream === true ? { tokens, gapMs: Math.floor(ms / tokens) } : { tokens, delayMs: ms };
  });
}

/**
 * Nano-USD that have to be charged for each call of a round, by the caller's id: what the provider bills, 0.15 USD per million tokens in, and 0.60
 * out, whatever hung up or died. Of an attempt whose connection was cut, what its caller got of it: the gateway knows no more, and charges its own
 * count. What the provider bills beyond that is the margin, and at most what was held.
 *
 * @param brokenPorts of the connections that were cut
 */
export function dueOf(upstream: FakeUpstream, calls: readonly Call[], brokenPorts: ReadonlySet<number>): ReadonlyMap<string, bigint> {
  // The provider may have written all of an answer that never arrived.
  const lasts = new Set(new Map(upstream.requests.map((request) => [request.clientPort, request])).values());
  const isCut = (request: RecordedRequest): boolean => brokenPorts.has(request.clientPort) && lasts.has(request);
  const got = new Map(calls.map((call) => [call.id, call.got]));
  const requests = Map.groupBy(upstream.requests, ({ body }) => String(Object(Object(body).messages?.[0]).content));
  // One that hung up in an earlier round may be asked for in this one: another account pays it.
  const ofRound = [...requests].filter(([id]) => got.has(id));
  return new Map(
    ofRound.map(([id, attempts]) => {
      const [cut, whole] = [attempts.filter(isCut), attempts.filter((attempt) => !isCut(attempt))];
      const bill = sum(whole.map(({ billed }) => priceOf(billed)));
      const seen = cut.length > 0 && bill === 0n ? (got.get(id) ?? 0) : 0;
      return [id, bill + BigInt(seen * OUTPUT_NANO)];
    }),
  );
}

const INPUT_NANO = 150;
const OUTPUT_NANO = 600;

const priceOf = ({ inputTokens, outputTokens }: RecordedRequest['billed']): bigint =>
  BigInt(inputTokens * INPUT_NANO + outputTokens * OUTPUT_NANO);
