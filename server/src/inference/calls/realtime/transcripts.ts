import { Problem } from '../../../kernel/problem.ts';
import type { Target } from '../deployments.ts';
import type { InferenceDeps } from '../deps.ts';
import { transcriptUsage } from '../transcription-work.ts';
import { isRecord, NO_USAGE } from '../usage.ts';
import type { Work } from '../work.ts';
import { invalid, type RealtimeEvent } from './events.ts';
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
  readonly settings: { readonly transcription: TranscriptSettings | undefined };
  readonly facts: { readonly requestId: string; readonly target: Target };
  readonly deps: Pick<InferenceDeps, 'log'>;
  /** Holds what the provider may do of itself on the connection. @throws Problem as `admit` */
  hold(workOf: () => Work): Promise<RunningResponse>;
}

/** What is held first of a turn; twice as much each time that it is longer. */
const FIRST_SECONDS = 60;
/** Sound that may be in a turn although it was sent before the one before it had ended. */
const SLACK_SECONDS = 5;

/** What makes transcripts impossible, and the session not. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ...['model_not_found', 'no_provider_configured', 'model_not_allowed', 'unpriced_feature', 'validation_failed'],
]);

interface Held {
  readonly response: RunningResponse;
  readonly seconds: number;
}

/**
 * Transcripts of what a session hears, which its provider makes by itself of every turn, with another model. Each is held by the length of the
 * turn before the provider has heard it, and settled by its own usage.
 */
export class Transcripts {
  readonly #session: TranscribedSession;
  /** Sound that was sent and is in no turn yet, seconds. */
  #waiting = 0;
  /** For the turn that is being heard. */
  #held: Held | undefined;
  /** By the item that a turn has become: the provider is at work. */
  readonly #pending = new Map<string, Held>();

  constructor(session: TranscribedSession) {
    this.#session = session;
  }

  /** Turns whose transcripts have not come. */
  get size(): number {
    return this.#pending.size;
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
    this.#waiting += seconds;
    try {
      await this.cover();
    } catch (thrown) {
      this.#waiting -= seconds;
      throw thrown;
    }
  }

  /** Holds as much as the turn that is being heard has come to. @throws Problem as `admit` */
  async cover(): Promise<void> {
    const { transcription } = this.#session.settings;
    const needed = this.#waiting + SLACK_SECONDS;
    if (!transcription || this.#waiting === 0 || (this.#held?.seconds ?? 0) >= needed) return;
    const seconds = Math.max(FIRST_SECONDS, 2 ** Math.ceil(Math.log2(needed)));
    const response = await this.#hold(transcription, seconds);
    const before = this.#held;
    this.#held = { response, seconds };
    await before?.response.release();
  }

  /** What was heard has become an item, of which the provider makes a transcript. */
  committed(item: unknown): void {
    if (this.#held && this.#session.settings.transcription) {
      this.#pending.set(String(item), this.#held);
      this.#held = undefined;
    }
    this.#waiting = 0;
  }

  async cleared(): Promise<void> {
    this.#waiting = 0;
    await this.forget();
  }

  /** Nothing more is heard. */
  async forget(): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    await held?.response.release();
  }

  /** Whether it is held for a turn that has not ended: the provider is not at work for it, and it comes to nothing with the session. */
  isHearing(response: RunningResponse): boolean {
    return this.#held?.response === response;
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
    const { response, seconds } = held;
    const [target] = response.admission.targets;
    const usage = target && transcriptUsage(event['usage'], target.model, seconds);
    const told = withReceipt(frame, response);
    response.begins();
    const hasFailed = event.type.endsWith('.failed');
    await response.settle({ outcome: hasFailed ? 'failed' : 'completed', usage: hasFailed ? (usage ?? NO_USAGE) : usage, told });
    return told;
  }

  /** All that the provider is at work for, which are forgotten here. */
  takeAll(): RunningResponse[] {
    const all = [...this.#pending.values()].map(({ response }) => response);
    this.#pending.clear();
    return all;
  }

  #hold({ model, promptBytes }: Pick<TranscriptAsk, 'model' | 'promptBytes'>, seconds: number): Promise<RunningResponse> {
    const { provider } = this.#session.facts.target.deployment;
    return this.#session.hold(() => transcriptWork({ model, promptBytes, seconds, provider }));
  }
}
