import { Problem } from '../../../kernel/problem.ts';
import type { Target } from '../deployments.ts';
import type { InferenceDeps } from '../deps.ts';
import { transcriptUsage } from '../transcription-work.ts';
import { isRecord, NO_USAGE } from '../usage.ts';
import type { Work } from '../work.ts';
import { invalid, newEventId, type RealtimeEvent } from './events.ts';
import { withReceipt } from './receipt-of-event.ts';
import type { RunningResponse } from './running-response.ts';
import { type TranscriptAsk, transcriptWork } from './transcript-work.ts';

/** How what is heard is to be written down. */
export interface TranscriptSettings {
  /** As the client calls it. */
  readonly model: string;
  readonly upstreamModel: string;
  readonly promptBytes: number;
}

/** What it needs of its session. */
export interface TranscribedSession {
  readonly settings: { readonly transcription: TranscriptSettings | undefined; readonly transcriptions: readonly TranscriptSettings[] };
  readonly facts: { readonly requestId: string; readonly target: Target };
  readonly deps: Pick<InferenceDeps, 'log'>;
  /** Holds what the provider may do of itself on the connection. @throws Problem as `admit` */
  hold(workOf: () => Work): Promise<RunningResponse>;
}

/** What is held first of a turn; twice as much each time that it is longer. */
const FIRST_SECONDS = 60;
/** Sound that may be in a turn although the one before it has ended behind it. */
const SLACK_SECONDS = 5;

/** Less is none: sums are not exact. */
const LEAST_SECONDS = 0.001;

/** What makes transcripts impossible, and the session not. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ...['model_not_found', 'no_provider_configured', 'model_not_allowed', 'unpriced_feature', 'validation_failed'],
]);

interface Held {
  readonly response: RunningResponse;
  readonly seconds: number;
  readonly promptBytes: number;
  /** The provider goes on with sound that nothing else could be held for. */
  isAllThereIs: boolean;
}

/** An event of the client that ends what is heard, on its way to the provider. */
interface Mark {
  readonly kind: 'commit' | 'clear';
  readonly eventId: string;
  /** The client's name of the event. */
  readonly askedBy: string | undefined;
  /** How much sound was sent before it. */
  readonly at: number;
}

/**
 * Transcripts of what a session hears, which its provider makes by itself of every turn, with another model. Each is held by the length of the
 * turn before the provider has heard it, and settled by its own usage. What the provider has heard by the time that it says something is known
 * by the order of events alone: sound, ends of turns and changes of the model that are sent meanwhile come after it.
 */
export class Transcripts {
  readonly #session: TranscribedSession;
  /** Sound that was sent, and how much of it is certainly in a turn or cleared: seconds since the session began. */
  #sent = 0;
  #reached = 0;
  readonly #marks: Mark[] = [];
  /** For the turn that is being heard, by the model that may write it down. */
  readonly #held = new Map<string, Held>();
  /** By the item that a turn has become: the provider is at work. */
  readonly #pending = new Map<string, Held>();
  /** The provider was told to forget what it has heard. */
  #isStopping = false;

  constructor(session: TranscribedSession) {
    this.#session = session;
  }

  /** Turns whose transcripts have not come; while it stops, those too that the provider may have heard the end of. */
  get size(): number {
    return this.#pending.size + (this.#isStopping ? this.#held.size : 0);
  }

  /**
   * What a session asks for, if it can be held; null where it asks for none, or for what cannot be: it is left out then.
   * @returns undefined where it says nothing of it @throws Problem as `admit`, where money is at its end
   */
  async prepare(session: Readonly<Record<string, unknown>>): Promise<TranscriptSettings | null | undefined> {
    const input = isRecord(session['audio']) ? session['audio']['input'] : undefined;
    const asked = isRecord(input) ? input['transcription'] : undefined;
    if (asked === undefined || asked === null) return asked;
    if (!isRecord(asked) || typeof asked['model'] !== 'string')
      throw invalid('`transcription` names its `model`.', 'session.audio.input.transcription');
    const { model } = asked;
    const promptBytes = Buffer.byteLength(JSON.stringify(asked));
    try {
      const response = await this.#hold({ model, promptBytes }, FIRST_SECONDS);
      await response.release();
      const upstreamModel = response.admission.targets[0]?.deployment.upstreamModel ?? model;
      return { model, promptBytes, upstreamModel };
    } catch (thrown) {
      if (thrown instanceof Problem && LEFT_OUT.has(thrown.code)) return null;
      throw thrown;
    }
  }

  /** Before sound is sent. @throws Problem as `admit`: then it must not be */
  async hear(seconds: number): Promise<void> {
    this.#sent += seconds;
    try {
      await this.cover();
    } catch (thrown) {
      this.#sent -= seconds;
      throw thrown;
    }
  }

  /** What was sent and is in no turn yet may last so many times as long as it was taken for. */
  stretch(times: number): void {
    this.#sent += this.#waiting * (times - 1);
  }

  /** Holds as much as the turn that is being heard has come to, for every model that may write it down. @throws Problem as `admit` */
  async cover(): Promise<void> {
    if (this.#waiting === 0) return;
    for (const asked of this.#session.settings.transcriptions) await this.#coverWith(asked);
  }

  /** Before the provider is sent it. @returns what it is to be called there @throws Problem as `admit`: then it must not be */
  async marks(kind: Mark['kind'], askedBy: string | undefined): Promise<string> {
    if (kind === 'commit') await this.cover();
    const eventId = newEventId();
    this.#marks.push({ kind, eventId, askedBy, at: this.#sent });
    return eventId;
  }

  /** The provider has refused to end a turn. @returns who asked for it */
  refused(eventId: string): Pick<Mark, 'askedBy'> | undefined {
    const at = this.#marks.findIndex((mark) => mark.eventId === eventId);
    return at < 0 ? undefined : this.#marks.splice(at, 1)[0];
  }

  /**
   * What was heard has become an item, of which the provider makes a transcript. What it has heard behind it is held anew.
   * @param end where the provider itself has heard the end of it: seconds since the session began, as far as it says them
   * @throws Problem as `admit`: the provider must hear no more
   */
  async committed(item: unknown, end?: number | 'unknown'): Promise<void> {
    this.#reach(end === undefined ? this.#answered('commit') : Number(end));
    const asked = this.#session.settings.transcription;
    const held = asked && this.#held.get(asked.model);
    if (!held) return;
    this.#held.delete(asked.model);
    this.#pending.set(String(item), held);
    try {
      await this.#settleDown();
    } catch (thrown) {
      held.isAllThereIs = true;
      throw thrown;
    }
  }

  async cleared(): Promise<void> {
    this.#reach(this.#answered('clear'));
    await this.#settleDown();
  }

  /** The provider has agreed to a change, or has refused it: other models write nothing down any more. */
  async changed(): Promise<void> {
    const models = new Set(this.#session.settings.transcriptions.map(({ model }) => model));
    for (const model of this.#held.keys()) if (!models.has(model)) await this.#releaseOf(model);
  }

  /** Nobody says anything any more. @returns whether the provider has to be told to forget what it has heard, and may be at work for it */
  stop(): boolean {
    if (this.#isStopping || this.#held.size === 0) return false;
    this.#isStopping = true;
    return true;
  }

  /** The connection has ended: what it had heard the end of as far as is known is left to be settled. */
  async forget(): Promise<void> {
    if (this.#marks.some(({ kind }) => kind === 'commit')) {
      for (const [model, held] of this.#held) this.#pending.set(`asked of ${model}`, held);
      this.#held.clear();
      this.#marks.length = 0;
    }
    for (const model of this.#held.keys()) await this.#releaseOf(model);
  }

  /** Whether it is held for a turn that has not ended: the provider is not at work for it, and it comes to nothing with the session. */
  isHearing(response: RunningResponse): boolean {
    return [...this.#held.values()].some((held) => held.response === response);
  }

  /** A transcript, or that there is none of an item. @returns the event with its receipt; as it came where nothing was held */
  async ended(frame: Buffer, event: RealtimeEvent): Promise<Buffer> {
    const id = String(event['item_id']);
    const held = this.#pending.get(id);
    this.#pending.delete(id);
    if (!held) {
      this.#session.deps.log.warn({ requestId: this.#session.facts.requestId }, 'a provider sent a transcript that nothing was held for');
      return frame;
    }
    const { response, seconds, isAllThereIs } = held;
    const [target] = response.admission.targets;
    const said = target && transcriptUsage(event['usage'], target.model, seconds);
    const told = withReceipt(frame, response);
    response.begins();
    const hasFailed = event.type.endsWith('.failed');
    const usage = hasFailed ? (said ?? NO_USAGE) : said;
    await response.settle({ outcome: hasFailed ? 'failed' : 'completed', usage: isAllThereIs ? undefined : usage, told });
    return told;
  }

  /** All that the provider is at work for, which are forgotten here. */
  takeAll(): RunningResponse[] {
    const all = [...this.#pending.values()].map(({ response }) => response);
    this.#pending.clear();
    return all;
  }

  get #waiting(): number {
    const seconds = this.#sent - this.#reached;
    return seconds < LEAST_SECONDS ? 0 : seconds;
  }

  #reach(at: number): void {
    // What is not known is still to come.
    if (at > this.#reached) this.#reached = Math.min(at, this.#sent);
  }

  /** The provider answers in order: what it has not answered before, it does not. @returns where it was sent, -1 where nobody has sent it */
  #answered(kind: Mark['kind']): number {
    const index = this.#marks.findIndex((mark) => mark.kind === kind);
    return this.#marks.splice(0, index + 1).at(-1)?.at ?? -1;
  }

  /** What is heard now is held, and nothing where nothing is. @throws Problem as `admit` */
  async #settleDown(): Promise<void> {
    if (this.#waiting > 0) return this.cover();
    for (const model of this.#held.keys()) await this.#releaseOf(model);
  }

  async #coverWith(asked: TranscriptSettings): Promise<void> {
    const needed = this.#waiting + SLACK_SECONDS;
    const { model, promptBytes } = asked;
    const before = this.#held.get(model);
    if (before && before.seconds >= needed && before.promptBytes >= promptBytes) return;
    const seconds = Math.max(FIRST_SECONDS, before?.seconds ?? 0, 2 ** Math.ceil(Math.log2(needed)));
    const response = await this.#hold({ model, promptBytes }, seconds);
    const mine: Held = { response, seconds, promptBytes, isAllThereIs: false };
    // Meanwhile the turn may have ended, with what was held before, or more may have been held for more sound.
    const now = this.#held.get(model);
    const isEnough = now !== undefined && now.seconds >= seconds && now.promptBytes >= promptBytes;
    this.#held.set(model, isEnough ? now : mine);
    await (isEnough ? mine : now)?.response.release();
  }

  async #releaseOf(model: string): Promise<void> {
    const held = this.#held.get(model);
    this.#held.delete(model);
    await held?.response.release();
  }

  #hold({ model, promptBytes }: Pick<TranscriptAsk, 'model' | 'promptBytes'>, seconds: number): Promise<RunningResponse> {
    const { provider } = this.#session.facts.target.deployment;
    return this.#session.hold(() => transcriptWork({ model, promptBytes, seconds, provider }));
  }
}
