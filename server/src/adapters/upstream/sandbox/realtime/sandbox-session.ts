import { roomBehind } from '../../../../kernel/written-json.ts';
import { countTokens } from '../tokens.ts';
import { Answer, NO_TOKENS, plus, type Tokens } from './answer-events.ts';

export type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

const PCM = { type: 'audio/pcm', rate: 24_000 };
/** 16-bit sound at 24 kHz. */
const BYTES_PER_MS = 48;
const BYTES_PER_TOKEN = 100 * BYTES_PER_MS;
const SILENCE_MS = 500;
/** A sample beyond it is speech. */
const LOUD = 500;
const LONGEST_TOKENS = 4_096;
/** Of what a session is set to, characters: it is kept for an hour. */
const MOST_SETTINGS = 1_000_000;
/** Of what was said last. */
const MOST_SAID = 65_536;

interface Running {
  readonly answer: Answer;
  readonly events: Generator<Fields, void, undefined>;
  readonly isOfConversation: boolean;
}

/**
 * A realtime session of the sandbox, with OpenAI's events. It hears speech where sound is loud and its end where it is silent, and answers in
 * words and soft tones: the same conversation always the same.
 */
export class SandboxSession {
  readonly #id: string;
  readonly #waiting: Fields[] = [];
  #session: Fields;
  #running: Running[] = [];
  #context: Tokens = NO_TOKENS;
  #read: Tokens = NO_TOKENS;
  #said = '';
  #buffered = 0;
  #heard = 0;
  #silentMs = 0;
  #isSpeaking = false;
  /** The item that what is said becomes. */
  #turn = '';
  #count = 0;

  constructor(model: string, id: string) {
    this.#id = id;
    this.#session = defaultsOf(model, id);
    this.#say({ type: 'session.created', session: this.#session });
  }

  /** What it says next; undefined while it has nothing to say. */
  next(): Fields | undefined {
    const waiting = this.#waiting.shift();
    if (waiting) return waiting;
    const [running] = this.#running;
    if (!running) return undefined;
    const { value, done } = running.events.next();
    if (!done) return this.#numbered(value);
    this.#over(running);
    return this.next();
  }

  /** How many events wait to be said. */
  get waiting(): number {
    return this.#waiting.length;
  }

  hear(event: Fields) {
    switch (event['type']) {
      case 'session.update':
        return this.#set(event);
      case 'conversation.item.create':
        return this.#add(Object(event['item']));
      case 'conversation.item.delete':
        return this.#say({ type: 'conversation.item.deleted', item_id: event['item_id'] });
      case 'conversation.item.truncate':
        return this.#say({ ...event, type: 'conversation.item.truncated' });
      case 'input_audio_buffer.append':
        return this.#listen(Buffer.from(String(event['audio']), 'base64'));
      case 'input_audio_buffer.commit':
        return this.#buffered === 0 ? this.#refuse('input_audio_buffer_commit_empty', 'The buffer is empty.', event) : this.#commit();
      case 'input_audio_buffer.clear':
        this.#buffered = 0;
        return this.#say({ type: 'input_audio_buffer.cleared' });
      case 'response.create':
        return this.#respond(isFields(event['response']) ? event['response'] : {}, event);
      case 'response.cancel':
        return this.#cancel(event);
      default:
        return this.#refuse('invalid_value', 'The sandbox does not have this event.', event);
    }
  }

  #set(event: Fields) {
    const changed = merged(this.#session, Object(event['session']));
    if (roomBehind(changed, MOST_SETTINGS) < 0) return this.#refuse('invalid_value', 'The session is too large for the sandbox.', event);
    this.#session = changed;
    this.#say({ type: 'session.updated', session: changed });
  }

  #add(given: Fields): void {
    const item: Fields = { id: this.#name('item'), object: 'realtime.item', status: 'completed', ...given };
    const content: unknown[] = Array.isArray(item['content']) ? item['content'] : [];
    const texts = content.map((part) => String(Object(part)['text'] ?? Object(part)['transcript'] ?? ''));
    const text = [...texts, String(item['output'] ?? '')].join(' ').trim();
    // Copied: the part of a text would keep the whole of it.
    if (text !== '') this.#said = Buffer.from(text.slice(0, MOST_SAID)).toString();
    this.#context = plus(this.#context, { text: countTokens(text), audio: 0 });
    this.#added(item);
  }

  #added(item: Fields): void {
    this.#say({ type: 'conversation.item.added', previous_item_id: null, item });
    this.#say({ type: 'conversation.item.done', previous_item_id: null, item });
  }

  #listen(sound: Buffer): void {
    this.#buffered += sound.length;
    this.#heard += sound.length;
    const detection = Object(Object(Object(this.#session['audio']).input).turn_detection);
    if (detection.type === undefined) return;
    if (isLoud(sound)) {
      this.#silentMs = 0;
      if (!this.#isSpeaking) this.#begins(detection);
    } else if (this.#isSpeaking) {
      this.#silentMs += sound.length / BYTES_PER_MS;
      if (this.#silentMs >= (detection.silence_duration_ms ?? SILENCE_MS)) this.#ends(detection);
    }
  }

  #begins(detection: Fields): void {
    this.#isSpeaking = true;
    this.#turn = this.#name('item');
    this.#say({ type: 'input_audio_buffer.speech_started', audio_start_ms: 0, item_id: this.#turn });
    const active = this.#active;
    if (active && detection['interrupt_response'] !== false) active.answer.cancel('turn_detected');
  }

  #ends(detection: Fields): void {
    this.#isSpeaking = false;
    this.#silentMs = 0;
    this.#say({ type: 'input_audio_buffer.speech_stopped', audio_end_ms: Math.floor(this.#heard / BYTES_PER_MS), item_id: this.#turn });
    this.#commit(this.#turn);
    if (detection['create_response'] !== false && !this.#active) this.#respond({}, {});
  }

  #commit(id = this.#name('item')): void {
    const seconds = this.#buffered / BYTES_PER_MS / 1_000;
    const audio = Math.ceil(this.#buffered / BYTES_PER_TOKEN);
    this.#said = `${seconds.toFixed(1)} seconds of sound`;
    this.#context = plus(this.#context, { text: 0, audio });
    this.#buffered = 0;
    this.#say({ type: 'input_audio_buffer.committed', previous_item_id: null, item_id: id });
    const content = [{ type: 'input_audio', transcript: null }];
    this.#added({ id, object: 'realtime.item', type: 'message', status: 'completed', role: 'user', content });
    this.#transcribe(id, { seconds, audio });
  }

  /** What was heard, in words: by the second where Whisper listens, else by its tokens. */
  #transcribe(item_id: string, { seconds, audio }: { readonly seconds: number; readonly audio: number }): void {
    const { transcription } = Object(Object(this.#session['audio']).input);
    if (!isFields(transcription)) return;
    const transcript = this.#said;
    const output = countTokens(transcript);
    const tokens = { input_token_details: { text_tokens: 0, audio_tokens: audio }, total_tokens: audio + output };
    const usage = String(transcription['model']).startsWith('whisper')
      ? { type: 'duration', seconds }
      : { type: 'tokens', input_tokens: audio, output_tokens: output, ...tokens };
    const about = 'conversation.item.input_audio_transcription';
    this.#say({ type: `${about}.delta`, item_id, content_index: 0, delta: transcript });
    this.#say({ type: `${about}.completed`, item_id, content_index: 0, transcript, usage });
  }

  #respond(asked: Fields, event: Fields) {
    const isOfConversation = asked['conversation'] !== 'none';
    if (isOfConversation && this.#active)
      return this.#refuse('conversation_already_has_active_response', 'Conversation already has an active response in progress.', event);
    const settings = { ...this.#session, ...asked };
    const modalities = settings['output_modalities'];
    const bound = settings['max_output_tokens'];
    const answer = new Answer({
      id: this.#name('resp'),
      said: this.#said,
      input: plus(this.#context, {
        text: countTokens(String(settings['instructions'] ?? '') + JSON.stringify(settings['tools'] ?? [])),
        audio: 0,
      }),
      cached: this.#read,
      isAudio: Array.isArray(modalities) && modalities.includes('audio'),
      bound: typeof bound === 'number' ? bound : LONGEST_TOKENS,
      tool: toolOf(settings),
      asked,
    });
    this.#read = this.#context;
    this.#running.push({ answer, events: answer.events(), isOfConversation });
  }

  #over(running: Running): void {
    this.#running = this.#running.filter((one) => one !== running);
    if (running.isOfConversation) this.#context = plus(this.#context, running.answer.output);
    this.#say({ type: 'rate_limits.updated', rate_limits: [] });
  }

  #cancel(event: Fields) {
    const { response_id: id } = event;
    const running = id === undefined ? this.#active : this.#running.find(({ answer }) => answer.id === id);
    if (!running) return this.#refuse('response_cancel_not_active', 'Cancellation failed: no active response found', event);
    running.answer.cancel('client_cancelled');
  }

  get #active(): Running | undefined {
    return this.#running.find(({ isOfConversation, answer }) => isOfConversation && !answer.isCancelled);
  }

  #refuse(code: string, message: string, { event_id = null }: Fields): void {
    this.#say({ type: 'error', error: { type: 'invalid_request_error', code, message, param: null, event_id } });
  }

  #say(event: Fields): void {
    this.#waiting.push(this.#numbered(event));
  }

  #numbered(event: Fields): Fields {
    return { event_id: this.#name('event'), ...event };
  }

  #name(kind: string): string {
    this.#count += 1;
    return `${kind}_${this.#id}_${this.#count}`;
  }
}

/** A tool is called where one has to be. */
function toolOf({ tools, tool_choice: choice }: Fields): string | undefined {
  const named = isFields(choice) ? choice['name'] : undefined;
  if (typeof named === 'string') return named;
  const [first] = choice === 'required' && Array.isArray(tools) ? tools : [];
  return isFields(first) ? String(first['name']) : undefined;
}

function isLoud(sound: Buffer): boolean {
  for (let at = 0; at + 1 < sound.length; at += 2) if (Math.abs(sound.readInt16LE(at)) > LOUD) return true;
  return false;
}

const defaultsOf = (model: string, id: string): Fields => ({
  type: 'realtime',
  object: 'realtime.session',
  id: `sess_${id}`,
  model,
  output_modalities: ['audio'],
  instructions: '',
  tools: [],
  tool_choice: 'auto',
  max_output_tokens: 'inf',
  tracing: null,
  truncation: 'auto',
  prompt: null,
  expires_at: 0,
  audio: {
    input: {
      format: PCM,
      transcription: null,
      noise_reduction: null,
      turn_detection: {
        ...{ type: 'server_vad', threshold: 0.5, prefix_padding_ms: 300, silence_duration_ms: SILENCE_MS, idle_timeout_ms: null },
        ...{ create_response: true, interrupt_response: true },
      },
    },
    output: { format: PCM, voice: 'marin', speed: 1 },
  },
  include: null,
});

/** What is left out stays as it is, also of a part of a part. */
const merged = (before: Fields, change: Fields): Fields => ({
  ...before,
  ...Object.fromEntries(
    Object.entries(change).map(([name, is]) => {
      const was = before[name];
      return [name, isFields(was) && isFields(is) ? merged(was, is) : is];
    }),
  ),
});
