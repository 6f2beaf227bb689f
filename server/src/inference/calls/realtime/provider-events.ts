import { Problem } from '../../../kernel/problem.ts';
import { problemOf } from '../../../kernel/problem-of.ts';
import { writtenJson } from '../../../kernel/written-json.ts';
import type { Served } from '../served.ts';
import { isUsed, NO_USAGE, reportedUsage } from '../usage.ts';
import { EndedTurns } from './ended-turns.ts';
import { newEventId, type RealtimeEvent, readProviderEvent } from './events.ts';
import { withReceipt } from './receipt-of-event.ts';
import type { ResponseEnd, RunningResponse } from './running-response.ts';
import type { SessionHost } from './session-host.ts';
import { realtimeUsage } from './usage.ts';

/** What a response is, as far as its events say it. */
type Said = Readonly<Record<string, unknown>>;

/** What a provider says on its way to the client: as it came, but for what the session is set to and for the receipt at the end of a response. */
export class ProviderEvents {
  readonly #session: SessionHost;
  readonly #opened = Promise.withResolvers<void>();
  #state: 'opening' | 'setting' | 'open' = 'opening';
  /** The event that has set the session, while the provider has not agreed to it. */
  #first: string | undefined;
  #created: RealtimeEvent | undefined;
  readonly #turns = new EndedTurns();

  constructor(session: SessionHost) {
    this.#session = session;
    this.#opened.promise.catch(() => {});
  }

  get opened(): Promise<void> {
    return this.#opened.promise;
  }

  /** The connection has ended. */
  left(): void {
    this.#opened.reject(
      new Problem('upstream_failed', 'The provider closed the connection before the session had begun. Repeat the request.'),
    );
  }

  async take(frame: Buffer, isText: boolean): Promise<void> {
    const event = isText ? await readProviderEvent(frame) : undefined;
    if (!event) return this.#session.tell(frame);
    if (this.#state !== 'open') return this.#open(event);
    switch (event.type) {
      case 'session.created':
      case 'session.updated':
        return this.#updated(event);
      case 'response.created':
        return this.#begun(frame, event);
      case 'response.done':
        return this.#done(frame, event);
      case 'error':
        return this.#refused(frame, event);
      case 'input_audio_buffer.speech_stopped':
        this.#turns.ended(event['item_id'], event['audio_end_ms']);
        return this.#session.tell(frame);
      case 'input_audio_buffer.committed':
        return this.#committed(frame, event);
      case 'input_audio_buffer.cleared':
        this.#session.conversation.cleared();
        return this.#cleared(frame);
      case 'conversation.item.input_audio_transcription.completed':
      case 'conversation.item.input_audio_transcription.failed':
        return this.#transcribed(frame, event);
      default:
        return this.#session.tell(frame);
    }
  }

  /** Before a client is let in, the provider is told to answer no turn by itself, and what the session is set to. */
  async #open(event: RealtimeEvent): Promise<void> {
    const { settings, provider, facts, transcripts } = this.#session;
    if (event.type === 'session.created' && this.#state === 'opening') {
      this.#created = event;
      const wanted = await transcripts.prepare(facts.given ?? {}).catch((thrown: unknown) => void this.#opened.reject(thrown));
      const first = settings.first(Object(event['session']), facts.given, wanted);
      if (!first) return this.#isOpen(event);
      this.#state = 'setting';
      this.#first = first.event_id;
      await provider.send(JSON.stringify(first));
    } else if (event.type === 'session.updated' && this.#state === 'setting' && this.#created) {
      settings.agreed();
      this.#isOpen({ ...this.#created, session: event['session'] });
    } else if (event.type === 'error') this.#fail(event);
  }

  #isOpen(created: RealtimeEvent): void {
    const { conversation, settings } = this.#session;
    const session = Object(created['session']);
    this.#state = 'open';
    conversation.configure(session);
    this.#opened.resolve();
    // Not awaited: no client is there yet.
    void this.#session.tell(JSON.stringify({ ...created, session: settings.shown(session) }));
  }

  /** What it refuses of the session is the client's to mend, where a client secret has set it. */
  #fail(event: RealtimeEvent): void {
    const said = Object(event['error']);
    const { message = '', code = null, type = null, event_id: causedBy } = said;
    const isOfSettings = causedBy === this.#first && this.#session.facts.given !== undefined;
    this.#opened.reject(
      isOfSettings
        ? new Problem('upstream_rejected', String(message).slice(0, 500), { upstream: { status: 400, code, type } })
        : new Problem('upstream_failed', 'The provider refused to begin the session. Repeat the request.', { because: String(code) }),
    );
  }

  async #updated(event: RealtimeEvent): Promise<void> {
    const { settings, transcripts } = this.#session;
    settings.agreed();
    await transcripts.changed();
    await this.#session.tell(await writtenJson({ ...event, session: settings.shown(Object(event['session'])) }));
  }

  async #begun(frame: Buffer, event: RealtimeEvent): Promise<void> {
    const { responses } = this.#session;
    const said: Said = Object(event['response']);
    const id = String(said['id']);
    const response = responses.begin(id) ?? (await this.#unasked(id, said));
    response?.begins();
    await this.#session.tell(frame);
    if (response?.isUnwanted) await this.#session.cancel(response);
  }

  /** The provider has begun what it was not asked for: it goes on if it can be held. */
  async #unasked(id: string, said: Said): Promise<RunningResponse | undefined> {
    const { responses, provider, deps, facts } = this.#session;
    responses.beginUnasked(id, undefined);
    try {
      const response = await this.#session.begin({ max_output_tokens: said['max_output_tokens'] }, JSON.stringify(said));
      responses.beginUnasked(id, response);
      return response;
    } catch (thrown) {
      deps.log.warn({ err: thrown, requestId: facts.requestId }, 'a provider began a response unasked, which could not be held');
      void provider.send(JSON.stringify({ type: 'response.cancel', event_id: newEventId(), response_id: id }));
      await this.#session.refuse(thrown);
      return undefined;
    }
  }

  async #done(frame: Buffer, event: RealtimeEvent): Promise<void> {
    const session = this.#session;
    const said: Said = Object(event['response']);
    const response = session.responses.end(String(said['id']));
    if (!response) await session.tell(frame);
    else {
      const told = withReceipt(frame, response);
      const end = endOf(said);
      this.#remember(response, end);
      try {
        await response.settle({ ...end, told });
        await session.tell(told);
      } catch (thrown) {
        await session.refuse(thrown);
        // It has heard an answer whose end and receipt it is not told.
        session.end({ code: 1011, reason: 'a response could not be settled' });
      }
    }
    session.closeWhenIdle();
  }

  async #transcribed(frame: Buffer, event: RealtimeEvent): Promise<void> {
    const session = this.#session;
    try {
      await session.tell(await session.transcripts.ended(frame, event));
    } catch (thrown) {
      await session.refuse(thrown);
      // It is not told a transcript whose receipt is not written.
      session.end({ code: 1011, reason: 'a transcript could not be settled' });
    }
    session.closeWhenIdle();
  }

  /** What the conversation is known to be by now. */
  #remember({ mark, maxOutputTokens }: RunningResponse, { usage }: Pick<ResponseEnd, 'usage'>): void {
    const { conversation } = this.#session;
    if (mark && usage && usage.input_tokens > 0) conversation.known({ read: usage.input_tokens, written: usage.output_tokens }, mark);
    else conversation.wrote(usage?.output_tokens ?? maxOutputTokens);
  }

  /** Of a response that it does not begin, or of a change that it does not make. */
  async #refused(frame: Buffer, event: RealtimeEvent): Promise<void> {
    const session = this.#session;
    const error = Object(event['error']);
    const causedBy = error['event_id'];
    if (typeof causedBy !== 'string') return session.tell(frame);
    const response = session.responses.refused(causedBy);
    const asked = response ?? session.settings.refused(causedBy) ?? session.transcripts.refused(causedBy);
    await response?.release();
    await session.transcripts.changed();
    // The event has an id of the gateway's at the provider.
    const told = asked && JSON.stringify({ ...event, error: { ...error, event_id: asked.askedBy ?? null } });
    await session.tell(told ?? frame);
    session.closeWhenIdle();
  }

  async #cleared(frame: Buffer): Promise<void> {
    const session = this.#session;
    this.#turns.clear();
    await session.transcripts.cleared();
    await session.tell(frame);
    session.closeWhenIdle();
  }

  /** Of a turn that the provider has heard the end of, the response is asked for here, when it is held. */
  async #committed(frame: Buffer, event: RealtimeEvent): Promise<void> {
    const session = this.#session;
    const end = this.#turns.committed(event['item_id']);
    session.conversation.committed();
    await session.transcripts.committed(event['item_id'], end).catch((thrown: unknown) => this.#unheard(thrown));
    await session.tell(frame);
    if (end === undefined || !session.settings.answersTurns || session.isEnding) return;
    // Not awaited: what is at work has to be settled meanwhile.
    session.ask({ type: 'response.create' }, TURN_ENDED).catch((thrown: unknown) => session.refuse(thrown));
  }

  /** What the provider has heard behind a turn cannot be held. */
  async #unheard(thrown: unknown): Promise<void> {
    const session = this.#session;
    await session.refuse(thrown);
    session.end({ code: 1008, reason: problemOf(thrown).code });
  }
}

/** What asks for the response at the end of a turn. */
const TURN_ENDED = '{"type":"response.create"}';

/** What is settled of it. Where its provider says no usage of what it has written, all that was held. */
function endOf({ status, usage: stated, output }: Said): Pick<ResponseEnd, 'outcome' | 'usage'> {
  const hasContent = Array.isArray(output) && output.length > 0;
  const usage = reportedUsage(realtimeUsage(stated), () => hasContent);
  if (status === 'failed' && !isUsed(usage) && !hasContent) return { outcome: 'failed', usage: NO_USAGE };
  return { outcome: OUTCOMES[String(status)] ?? 'completed', usage };
}

const OUTCOMES: Readonly<Record<string, Served['outcome']>> = { cancelled: 'cancelled', failed: 'cut' };
