import { hash } from 'node:crypto';
import { newReceiptId, newRequestId } from '../../../kernel/ids.ts';
import { Problem } from '../../../kernel/problem.ts';
import { problemOf } from '../../../kernel/problem-of.ts';
import type { EventSocket, SocketEnd } from '../../../kernel/web-socket/event-socket.ts';
import { writtenJson } from '../../../kernel/written-json.ts';
import { requireRealtimeFields } from '../cost-fields/index.ts';
import type { InferenceDeps } from '../deps.ts';
import { isRecord } from '../usage.ts';
import type { Work } from '../work.ts';
import { takeClientEvent } from './client-events.ts';
import { ConversationBound } from './conversation-bound.ts';
import { errorEvent, newEventId, type RealtimeEvent, readClientEvent } from './events.ts';
import { ProviderEvents } from './provider-events.ts';
import { realtimeWork } from './realtime-work.ts';
import { SessionResponses } from './responses.ts';
import { beginResponse, type RunningResponse } from './running-response.ts';
import type { Ending, SessionFacts, SessionHost } from './session-host.ts';
import { SessionSettings, tokensIn } from './session-settings.ts';
import { Silence } from './silence.ts';
import { Transcripts } from './transcripts.ts';

/** OpenAI's limit, which is held here for every provider. */
const LONGEST_SESSION_MS = 60 * 60_000;
const LONGEST_IDLE_MS = 30 * 60_000;

/**
 * A connection of a client to a realtime model. Everything that a provider bills in it is a response, and each is held before the provider is
 * asked for it and settled before its end is told.
 */
export class RealtimeSession implements SessionHost {
  readonly settings: SessionSettings;
  readonly conversation: ConversationBound;
  readonly responses = new SessionResponses();
  readonly transcripts = new Transcripts(this);
  readonly facts: SessionFacts;
  readonly deps: InferenceDeps;
  readonly provider: EventSocket;
  readonly #hangUp = new AbortController();
  readonly #client = Promise.withResolvers<EventSocket>();
  readonly #events: ProviderEvents;
  readonly #ended: Promise<void>;
  readonly #timer: NodeJS.Timeout;
  #idle: NodeJS.Timeout | undefined;
  #attached: EventSocket | undefined;
  #ending: Ending | undefined;
  #hasProviderLeft = false;
  /** The provider has begun what it was asked for last, or does not. */
  #answered: Promise<void> = Promise.resolve();
  /** The response that is being held is asked for, or is not. */
  #sent: Promise<void> = Promise.resolve();
  readonly #silence: Silence;

  constructor(provider: EventSocket, facts: SessionFacts, deps: InferenceDeps) {
    const { model, deployment } = facts.target;
    this.provider = provider;
    this.facts = facts;
    this.deps = deps;
    this.settings = new SessionSettings(facts.model, deployment.upstreamModel);
    this.conversation = new ConversationBound(model);
    this.#events = new ProviderEvents(this);
    const mostMs = Math.max(deps.timeouts.streamFirstByteMs, deps.timeouts.idleMs);
    this.#silence = new Silence(mostMs, {
      isAtWork: () => this.responses.size + this.transcripts.size > 0,
      onSilent: () => this.#silent(),
    });
    this.#timer = setTimeout(() => this.#expire('it has lasted for 60 minutes'), LONGEST_SESSION_MS).unref();
    this.#ended = this.#readProvider();
  }

  /** The provider has opened the session and answers no turn by itself. @throws Problem */
  get opened(): Promise<void> {
    return this.#events.opened;
  }

  get isEnding(): boolean {
    return this.#ending !== undefined;
  }

  /** Serves its client until the connection has ended and everything is settled. */
  async serve(client: EventSocket): Promise<void> {
    this.#attached = client;
    this.#client.resolve(client);
    this.#stir();
    await client.pump((frame, isText) => this.#fromClient(frame, isText)).catch((error: unknown) => this.#failed(error));
    this.#clientLeft();
    await this.#ended;
    // What it said last may have been held since.
    await this.#settleAll();
  }

  /** Tells the client, once there is one. */
  async tell(frame: string | Buffer): Promise<void> {
    const client = this.#attached ?? (await this.#client.promise);
    await client.send(frame);
  }

  end(ending: Ending): void {
    this.#ending ??= ending;
    if (this.transcripts.stop()) this.#unhear();
    this.closeWhenIdle();
  }

  /** Ends it now: nobody has come for it, or the gateway cannot go on with it. */
  abandon(): void {
    clearTimeout(this.#timer);
    this.#client.resolve(NOBODY);
    this.#hangUp.abort();
    this.end({ code: 1001, reason: '' });
  }

  closeWhenIdle(): void {
    if (this.responses.size + this.transcripts.size > 0 || !this.#ending) return;
    const { code, reason } = this.#ending;
    this.provider.close(1000, '');
    this.#attached?.close(code, reason);
  }

  /**
   * Holds a response and asks the provider for it. @param event a `response.create` @param received its text
   * @throws Problem as `admit`
   */
  async ask(event: RealtimeEvent, received: Buffer | string): Promise<void> {
    const before = this.#answered;
    const { promise, resolve: onAnswered } = Promise.withResolvers<void>();
    const { promise: sent, resolve: onSent } = Promise.withResolvers<void>();
    this.#answered = promise;
    try {
      await before;
      this.#sent = sent;
      // Not the client's: it may have given the same to an event that is refused.
      const eventId = newEventId();
      const asked = isRecord(event['response']) ? event['response'] : {};
      requireRealtimeFields(asked, 'response');
      const response = await this.begin(asked, received);
      if (this.#ending || this.#hasProviderLeft || response.call.signal.aborted) {
        onAnswered();
        return await response.release();
      }
      response.askedBy = event.event_id;
      this.responses.ask(eventId, { response, onAnswered });
      this.#silence.watch();
      const bounded = { ...asked, max_output_tokens: response.maxOutputTokens };
      await this.provider.send(await writtenJson({ ...event, event_id: eventId, response: bounded }));
    } catch (thrown) {
      onAnswered();
      throw thrown;
    } finally {
      onSent();
    }
  }

  /** Holds a response. @throws Problem as `admit` */
  async begin(asked: Readonly<Record<string, unknown>>, received: Buffer | string): Promise<RunningResponse> {
    const { facts } = this;
    const response = await this.hold(() =>
      realtimeWork({
        model: facts.model,
        inputTokens: this.conversation.of(asked, this.responses.writing),
        outputTokens: asked['max_output_tokens'] === undefined ? this.settings.maxOutputTokens : tokensIn(asked),
        deployment: facts.target.deployment.name,
        requestSha256: hash('sha256', received, 'hex'),
      }),
    );
    response.isOutOfBand = asked['conversation'] === 'none';
    if (readsSession(asked)) response.mark = this.conversation.mark();
    if (response.call.signal.aborted) void this.#unwanted(response);
    else response.call.signal.addEventListener('abort', () => void this.#unwanted(response));
    return response;
  }

  /** @param workOf is asked once it is known whose it is @throws Problem as `admit` */
  async hold(workOf: () => Work): Promise<RunningResponse> {
    const { facts, deps } = this;
    const startedTick = performance.now();
    const grant = await facts.renew();
    const startedAt = deps.clock.now();
    const ids = { requestId: newRequestId(), clientRequestId: facts.requestId, receiptId: newReceiptId(startedAt) };
    const { headers } = facts;
    const call = { ...ids, startedAt, startedTick, grant, headers, clientSignature: null, signal: this.#hangUp.signal, work: workOf() };
    const response = await beginResponse(call, deps);
    response.running.signal.addEventListener('abort', () => this.#late(response));
    return response;
  }

  /** What is refused is told; where money is at its end, so is the session. */
  async refuse(thrown: unknown, causedBy?: string): Promise<void> {
    const problem = problemOf(thrown);
    const { deps, facts } = this;
    if (problem.status >= 500) deps.log.error({ err: problem, requestId: facts.requestId }, 'an event of a realtime session failed');
    await this.tell(errorEvent(problem, causedBy));
    if (ENDS_SESSION.has(problem.code)) this.end({ code: 1008, reason: problem.code });
  }

  /** The provider is told that nobody wants it, once it has an id. */
  async cancel(response: RunningResponse): Promise<void> {
    response.isUnwanted = true;
    const id = this.responses.idOf(response);
    // Not awaited: the provider may wait for what it has said to be taken, as this does.
    if (id !== undefined) void this.provider.send(JSON.stringify({ type: 'response.cancel', event_id: newEventId(), response_id: id }));
  }

  async #fromClient(frame: Buffer, isText: boolean): Promise<void> {
    // What it says after it was told that this is the end has no answer.
    if (this.#ending) return;
    this.#stir();
    let event: RealtimeEvent | undefined;
    try {
      event = await readClientEvent(frame, isText);
      await this.#untilSent();
      await takeClientEvent(this, event, frame);
    } catch (thrown) {
      await this.refuse(thrown, event?.event_id);
    }
  }

  /** What a response is held for must not grow before its provider is asked for it. */
  async #untilSent(): Promise<void> {
    let sent: Promise<void>;
    do {
      sent = this.#sent;
      await sent;
    } while (sent !== this.#sent);
  }

  /** The provider may have heard the end of a turn that it has not told of: when it has forgotten the rest, it has told of all. */
  #unhear(): void {
    this.#silence.watch();
    this.conversation.clears();
    // Not awaited: the provider may wait for what it has said to be taken, as this does.
    void this.transcripts.marks('clear', undefined).then((id) => this.provider.send(JSON.stringify({ type: CLEAR, event_id: id })));
  }

  #clientLeft(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#idle);
    this.#hangUp.abort();
    this.end({ code: 1000, reason: '' });
  }

  async #readProvider(): Promise<void> {
    let end: SocketEnd = { code: 1011, reason: 'the provider cannot be understood' };
    try {
      end = await this.provider.pump((frame, isText) => this.#silence.whileTaking(() => this.#events.take(frame, isText)));
    } catch (error) {
      this.#failed(error);
    }
    this.#hasProviderLeft = true;
    this.#silence.over();
    this.#events.left();
    await this.#settleAll();
    this.#ending ??= { code: SAYABLE.has(end.code) ? 1001 : 1011, reason: end.reason || 'the provider has closed the connection' };
    this.#attached?.close(this.#ending.code, this.#ending.reason);
  }

  /** What the provider was at work for may be billed all the same. */
  async #settleAll(): Promise<void> {
    await this.transcripts.forget().catch((error: unknown) => this.#failed(error));
    const running = [...this.responses.takeAll(), ...this.transcripts.takeAll()];
    const outcome = this.#hangUp.signal.aborted ? 'cancelled' : 'cut';
    await Promise.all(running.map((response) => this.#settleAtMost(response, outcome)));
  }

  /** The client is gone, or the run has ended. */
  async #unwanted(response: RunningResponse): Promise<void> {
    const stopped = response.call.run?.stopped;
    if (stopped && !this.#hangUp.signal.aborted) await this.refuse(stopped);
    if (stopped || this.facts.headers.onDisconnect !== 'finish') await this.cancel(response);
  }

  /** Its provider says nothing of what it was asked for. Once the connection has ended, that is settled. */
  #silent(): void {
    this.deps.log.warn({ requestId: this.facts.requestId }, 'the provider of a realtime session does not answer');
    this.#ending ??= { code: 1011, reason: 'the provider does not answer' };
    this.provider.close(1001, '');
  }

  #late(response: RunningResponse): void {
    if (!this.transcripts.isHearing(response)) void this.#cut(response);
    // Whether the provider is at work for it is not known, and comes to an end with the connection.
    else if (this.#ending) this.provider.close(1001, '');
  }

  /** Its provider took too long after nobody waited any more, or the gateway stops. */
  async #cut(response: RunningResponse): Promise<void> {
    await this.#settleAtMost(response, 'abandoned');
    this.#ending ??= { code: 1001, reason: 'the gateway stops' };
    this.provider.close(1001, '');
    this.#attached?.close(this.#ending.code, this.#ending.reason);
  }

  async #settleAtMost(response: RunningResponse, outcome: 'cancelled' | 'cut' | 'abandoned'): Promise<void> {
    try {
      await response.settle({ outcome, usage: undefined, told: '' });
    } catch (error) {
      this.deps.log.warn({ err: error, requestId: this.facts.requestId }, 'a response of a realtime session cannot be settled yet');
    }
  }

  #failed(error: unknown): void {
    this.deps.log.error({ err: error, requestId: this.facts.requestId }, 'a realtime session failed');
    this.end({ code: 1011, reason: 'internal error' });
  }

  #stir(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#expire('nothing was said for 30 minutes'), LONGEST_IDLE_MS).unref();
  }

  #expire(why: string): void {
    void this.tell(errorEvent(new Problem('session_expired', `The session ends, since ${why}: open another one.`)));
    this.end({ code: 1001, reason: 'session_expired' });
  }
}

/** Nothing more can be held by this caller on this connection. */
const ENDS_SESSION: ReadonlySet<string> = new Set([
  ...['budget_exceeded', 'run_exhausted', 'run_closed', 'invalid_credentials', 'model_not_allowed', 'endpoint_not_allowed'],
  ...['model_not_found', 'no_provider_configured', 'plan_required', 'scope_required'],
]);

/** Whether it reads what every other response would: what it has read says how long the conversation is, with the session's instructions and tools. */
const readsSession = (asked: Readonly<Record<string, unknown>>): boolean =>
  asked['conversation'] !== 'none' && ['input', 'instructions', 'tools'].every((name) => asked[name] === undefined);

const CLEAR = 'input_audio_buffer.clear';

/** Statuses of a provider's close that are no failure of it. */
const SAYABLE: ReadonlySet<number> = new Set([1000, 1001]);

/** Where a client would be that never came. */
const NOBODY: EventSocket = { pump: async () => ({ code: 1006, reason: '' }), send: () => undefined, close: () => {} };
