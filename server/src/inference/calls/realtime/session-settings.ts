import { requireRealtimeFields } from '../cost-fields/index.ts';
import { isCount, isRecord } from '../usage.ts';
import { invalid, newEventId, type RealtimeEvent } from './events.ts';
import type { TranscriptSettings } from './transcripts.ts';

type Fields = Readonly<Record<string, unknown>>;
/** Undefined where nothing is said of it, null for none. */
type Transcription = TranscriptSettings | null | undefined;

/** What the client wishes and the provider must not do by itself. */
interface Wish {
  /** Whether a response is to follow when the provider hears the end of what was said. */
  readonly answersTurns: boolean;
  /** Of one response; undefined for as many as the model gives. */
  readonly maxOutputTokens: number | undefined;
  /** Undefined: what is heard is not written down. */
  readonly transcription?: TranscriptSettings | undefined;
}

/** What a `session.update` changes. */
interface Change {
  readonly wish: Partial<Wish>;
  /** The client's name of the event. */
  readonly askedBy: string | undefined;
}

/**
 * What a session is set to. A provider begins no response by itself: of the turn that it hears it tells, and the gateway asks for the
 * response once that is held. The client is shown what it has set.
 */
export class SessionSettings {
  /** As the client calls it. */
  readonly #model: string;
  readonly #upstreamModel: string;
  /** What the provider has agreed to. */
  #agreed: Wish = { answersTurns: false, maxOutputTokens: undefined };
  /** What it was asked for and has not answered, in order. */
  readonly #changes = new Map<string, Change>();

  constructor(model: string, upstreamModel: string) {
    this.#model = model;
    this.#upstreamModel = upstreamModel;
  }

  get answersTurns(): boolean {
    return this.#wish.answersTurns;
  }

  /** What becomes of a turn that the provider says now that it has heard the end of. */
  get transcription(): TranscriptSettings | undefined {
    return this.#agreed.transcription;
  }

  /** All that may write down what is heard from now on: which one does is the provider's to say. */
  get transcriptions(): readonly TranscriptSettings[] {
    const changed = [...this.#changes.values()].map(({ wish }) => wish.transcription);
    return [this.#agreed.transcription, ...changed].filter((one) => one !== undefined);
  }

  get maxOutputTokens(): number | undefined {
    return this.#wish.maxOutputTokens;
  }

  /** As it is once the provider has agreed to everything. */
  get #wish(): Wish {
    return Object.assign({}, this.#agreed, ...[...this.#changes.values()].map(({ wish }) => wish));
  }

  /**
   * What the provider is asked first, for it may answer turns by itself unless it is told not to; undefined where nothing is to be changed.
   * @param given of the client secret
   */
  first(created: Fields, given: Fields = {}, transcription?: Transcription): RealtimeEvent | undefined {
    const detection = detectionIn(created);
    const isSilent = !isRecord(detection) || detection['create_response'] === false;
    this.#agreed = { answersTurns: isRecord(detection) && detection['create_response'] !== false, maxOutputTokens: tokensIn(created) };
    const quiet = detectionIn(given) === undefined && !isSilent ? withDetection(given, detection, true) : given;
    const own = isRecord(transcriptionIn(created)) && transcriptionIn(given) === undefined ? withoutTranscripts(quiet) : quiet;
    if (Object.keys(own).length === 0) return undefined;
    const event = { type: 'session.update', session: { type: 'realtime', ...own } };
    return this.change(event, this.check(event), transcription);
  }

  /** The session that a `session.update` asks for. @throws Problem `validation_failed`, `unpriced_feature` */
  check({ session }: RealtimeEvent): Fields {
    if (!isRecord(session)) throw invalid('`session.update` needs a `session`.', 'session');
    if (session['type'] !== 'realtime')
      throw invalid('A session here has the `type` "realtime": transcripts are made by POST /v1/audio/transcriptions.', 'session.type');
    requireRealtimeFields(session, 'session');
    if (session['model'] !== undefined && session['model'] !== this.#model && session['model'] !== this.#upstreamModel)
      throw invalid('The model is that of the connection: open another one for another model.', 'session.model');
    return session;
  }

  /**
   * A `session.update` as the provider gets it.
   * @param session of the event, checked
   * @param transcription what can be held of that it asks for
   * @throws Problem `validation_failed`
   */
  change(event: RealtimeEvent, session: Fields, transcription?: Transcription): RealtimeEvent {
    // Not the client's: it may have given the same to an event that is refused.
    const eventId = newEventId();
    const detection = detectionIn(session);
    const wish: Partial<Wish> = {
      ...(detection !== undefined && { answersTurns: isRecord(detection) && detection['create_response'] !== false }),
      ...(session['max_output_tokens'] !== undefined && { maxOutputTokens: tokensIn(session) }),
      ...(transcription !== undefined && { transcription: transcription ?? undefined }),
    };
    this.#changes.set(eventId, { wish, askedBy: event.event_id });
    const { model: _, ...others } = withTranscription(session, transcription?.upstreamModel);
    return { ...event, event_id: eventId, session: isRecord(detection) ? withDetection(others, detection) : others };
  }

  /** The provider has refused a change. @returns who asked for it */
  refused(eventId: string): Pick<Change, 'askedBy'> | undefined {
    const change = this.#changes.get(eventId);
    this.#changes.delete(eventId);
    return change;
  }

  /** The provider has agreed to a change: as it says nothing of which, to the oldest. */
  agreed(): void {
    const [oldest] = this.#changes;
    if (!oldest) return;
    const [eventId, { wish }] = oldest;
    this.#agreed = { ...this.#agreed, ...wish };
    this.#changes.delete(eventId);
  }

  /** The session as its client has set it. */
  shown(session: Fields): Fields {
    const detection = detectionIn(session);
    const named = { ...withTranscription(session, this.transcription?.model), model: this.#model };
    return isRecord(detection) ? withDetection(named, detection, this.answersTurns) : named;
  }
}

const inputOf = (session: Fields): unknown => (isRecord(session['audio']) ? session['audio']['input'] : undefined);

const inInput = (session: Fields, name: 'turn_detection' | 'transcription'): unknown => {
  const input = inputOf(session);
  return isRecord(input) ? input[name] : undefined;
};
const detectionIn = (session: Fields): unknown => inInput(session, 'turn_detection');
const transcriptionIn = (session: Fields): unknown => inInput(session, 'transcription');

/** Of a session that its provider begins with them: nobody has asked for them. */
const withoutTranscripts = (session: Fields): Fields => ({
  ...session,
  audio: { ...Object(session['audio']), input: { ...Object(inputOf(session)), transcription: null } },
});

function withDetection(session: Fields, detection: object, answers = false): Fields {
  const input = Object(inputOf(session));
  return {
    ...session,
    audio: { ...Object(session['audio']), input: { ...input, turn_detection: { ...detection, create_response: answers } } },
  };
}

/** With the model that it names called so; undefined: none is, so that there are no transcripts. */
function withTranscription(session: Fields, model: string | undefined): Fields {
  const input = inputOf(session);
  if (!isRecord(input) || input['transcription'] === undefined) return session;
  const asked = input['transcription'];
  const transcription = isRecord(asked) && model !== undefined ? { ...asked, model } : null;
  return { ...session, audio: { ...Object(session['audio']), input: { ...input, transcription } } };
}

/** `inf` and what is left out: as many as the model gives. @throws Problem `validation_failed` */
export function tokensIn({ max_output_tokens: tokens }: Fields): number | undefined {
  if (tokens === undefined || tokens === null || tokens === 'inf') return undefined;
  if (isCount(tokens) && tokens > 0) return tokens;
  throw invalid('`max_output_tokens` is a whole number above 0, or "inf".', 'max_output_tokens');
}
