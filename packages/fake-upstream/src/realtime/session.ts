import type { IncomingHttpHeaders } from 'node:http';
import type { WebSocket } from 'ws';
import { type Fields, isFields } from '../fields.ts';
import { audioTokens, textTokens, tokensOf } from './conversation.ts';
import { FakeResponse } from './response.ts';
import { NO_TOKENS, plus, type ResponseStep, type Tokens } from './response-step.ts';

/** An error as `error` events have it. */
interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly param?: string;
}

const VAD = { type: 'server_vad', threshold: 0.5, prefix_padding_ms: 300, silence_duration_ms: 500 };
const PCM = { type: 'audio/pcm', rate: 24_000 };
const LONGEST_TOKENS = 4_096;
/** 16-bit sound at 24 kHz. */
const BYTES_PER_MS = 48;

/** The provider's end of one realtime connection. It answers turns by itself, unless it is told not to, as OpenAI does. */
export class FakeRealtimeSession {
  /** The query of its address, and the headers that it was opened with. */
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** With its query, as it came. */
  readonly path: string;
  /** Every event of the client, in order. */
  readonly received: Fields[] = [];
  /** Of every response that was begun. */
  readonly responses: FakeResponse[] = [];
  /** Settles with the status of its end. */
  readonly closed: Promise<number>;
  readonly #socket: WebSocket;
  readonly #nextStep: () => ResponseStep;
  #session: Fields;
  #context: Tokens = NO_TOKENS;
  #cached: Tokens = NO_TOKENS;
  #buffered = 0;
  /** Of all sound, bytes. */
  #heard = 0;
  #isSpeaking = false;
  #items = 0;
  #events = 0;

  constructor(
    socket: WebSocket,
    { path, headers, nextStep }: { path: string; headers: IncomingHttpHeaders; nextStep: () => ResponseStep },
  ) {
    const query = new URL(path, 'http://provider').searchParams;
    this.path = path;
    this.query = query;
    this.headers = headers;
    this.#socket = socket;
    this.#nextStep = nextStep;
    this.#session = sessionOf(query.get('model') ?? '');
    this.closed = new Promise((resolve) => socket.once('close', (code) => resolve(code)));
    socket.on('message', (data) => this.#take(String(data)));
    socket.on('close', () => {
      for (const response of this.responses) response.stop();
    });
    socket.on('error', () => {});
    this.say({ type: 'session.created', session: this.#session });
  }

  /** What is billed by now: of each response what it has read and written, whether or not anybody has heard of its end. */
  get billed(): { readonly input: Tokens; readonly output: Tokens; readonly cached: Tokens }[] {
    return this.responses.map(({ billed }) => billed);
  }

  get session(): Fields {
    return this.#session;
  }

  say(event: Fields): void {
    this.#events += 1;
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(JSON.stringify({ event_id: `event_${this.#events}`, ...event }));
  }

  /** Begins a response that nobody has asked for. */
  beginUnasked(): void {
    this.#respond({});
  }

  /** The limit of 60 minutes is reached. */
  expire(): void {
    this.#refuse({ code: 'session_expired', message: 'Your session hit the maximum duration of 60 minutes.' });
    this.#socket.close(1001, 'session_expired');
  }

  /** Cuts the connection. */
  reset(): void {
    this.#socket.terminate();
  }

  #take(text: string) {
    const event: Fields = JSON.parse(text);
    this.received.push(event);
    switch (event['type']) {
      case 'session.update':
        return this.#update(event);
      case 'conversation.item.create':
        return this.#add(event['item']);
      case 'input_audio_buffer.append':
        return this.#hear(Buffer.from(String(event['audio']), 'base64'));
      case 'input_audio_buffer.commit':
        return this.#buffered === 0
          ? this.#refuse({ code: 'input_audio_buffer_commit_empty', message: 'The buffer is empty.' }, event)
          : this.#commit(this.#itemId());
      case 'input_audio_buffer.clear':
        this.#buffered = 0;
        return this.say({ type: 'input_audio_buffer.cleared' });
      case 'response.create':
        return this.#respond(isFields(event['response']) ? event['response'] : {}, event);
      case 'response.cancel':
        return this.#cancel(event);
      case 'conversation.item.delete':
        return this.say({ type: 'conversation.item.deleted', item_id: event['item_id'] });
      default:
        return this.#refuse({ code: 'invalid_value', message: `Invalid value: '${event['type']}'.`, param: 'type' }, event);
    }
  }

  #update(event: Fields) {
    const { session } = event;
    if (!isFields(session) || session['type'] !== 'realtime')
      return this.#refuse({ code: 'missing_required_parameter', message: 'Missing session.type.', param: 'session.type' }, event);
    if (session['max_output_tokens'] === 0)
      return this.#refuse({ code: 'integer_below_min_value', message: 'Too small.', param: 'session.max_output_tokens' }, event);
    this.#session = merged(this.#session, session);
    this.say({ type: 'session.updated', session: this.#session });
  }

  #add(item: unknown): void {
    const added = { id: this.#itemId(), object: 'realtime.item', status: 'completed', ...Object(item) };
    this.#context = plus(this.#context, tokensOf(added));
    this.say({ type: 'conversation.item.added', previous_item_id: null, item: added });
    this.say({ type: 'conversation.item.done', previous_item_id: null, item: added });
  }

  /** Sound is speech; zeros are silence. */
  #hear(sound: Buffer) {
    this.#buffered += sound.length;
    this.#heard += sound.length;
    const detection = this.#detection;
    if (!isFields(detection)) return;
    const isSpeech = sound.some((byte) => byte !== 0);
    if (isSpeech && !this.#isSpeaking) {
      this.#isSpeaking = true;
      this.say({ type: 'input_audio_buffer.speech_started', audio_start_ms: 0, item_id: this.#nextId });
      if (detection['interrupt_response'] !== false) this.#active?.end('cancelled', { type: 'cancelled', reason: 'turn_detected' });
    } else if (!isSpeech && this.#isSpeaking) {
      this.#isSpeaking = false;
      this.say({ type: 'input_audio_buffer.speech_stopped', audio_end_ms: this.#heard / BYTES_PER_MS, item_id: this.#nextId });
      this.#commit(this.#itemId());
      if (detection['create_response'] !== false && !this.#active) this.#respond({});
    }
  }

  #commit(id: string): void {
    const tokens = { text: 0, audio: audioTokens(this.#buffered) };
    this.#buffered = 0;
    this.#context = plus(this.#context, tokens);
    this.say({ type: 'input_audio_buffer.committed', previous_item_id: null, item_id: id });
    const content = [{ type: 'input_audio', transcript: null }];
    const item = { id, object: 'realtime.item', type: 'message', status: 'completed', role: 'user', content };
    this.say({ type: 'conversation.item.added', previous_item_id: null, item });
    this.say({ type: 'conversation.item.done', previous_item_id: null, item });
    this.#transcribe(id, tokens.audio);
  }

  /** Each token of sound is one of words, or by the second where whisper listens. */
  #transcribe(item_id: string, audio: number): void {
    const { transcription }: Fields = Object(Object(this.#session['audio'])['input']);
    if (!isFields(transcription)) return;
    const { model, prompt } = transcription;
    const common = { item_id, content_index: 0 };
    const about = `conversation.item.input_audio_transcription`;
    if (prompt === 'fail') {
      const error = { type: 'transcription_error', code: 'audio_unintelligible', message: 'Nothing was understood.', param: null };
      this.say({ type: `${about}.failed`, ...common, error });
      return;
    }
    const tokens = { type: 'tokens', total_tokens: 2 * audio, input_tokens: audio, output_tokens: audio };
    const usage =
      model === 'whisper-1'
        ? { type: 'duration', seconds: audio / 10 }
        : { ...tokens, input_token_details: { text_tokens: 0, audio_tokens: audio } };
    this.say({ type: `${about}.delta`, ...common, delta: 'heard' });
    const transcript = 'heard';
    if (prompt !== 'hang') this.say({ type: `${about}.completed`, ...common, transcript, ...(prompt !== 'say nothing' && { usage }) });
  }

  #respond(asked: Fields, event?: Fields) {
    const step = this.#nextStep();
    if (step.refusal) return this.#refuse(step.refusal, event);
    if (this.#active && asked['conversation'] !== 'none')
      return this.#refuse(
        { code: 'conversation_already_has_active_response', message: 'Conversation already has an active response in progress.' },
        event,
      );
    const facts = this.#factsOf(asked);
    const host = {
      send: (said: Fields) => this.say(said),
      reset: () => this.reset(),
      keep: (_: Fields, tokens: Tokens) => {
        if (asked['conversation'] !== 'none') this.#context = plus(this.#context, tokens);
      },
    };
    const response = new FakeResponse(facts, step, host);
    this.responses.push(response);
    void this.#run(response, step);
  }

  async #run(response: FakeResponse, { begins }: ResponseStep): Promise<void> {
    await begins;
    await response.run();
    this.say({ type: 'rate_limits.updated', rate_limits: [] });
  }

  #factsOf(asked: Fields): FakeResponse['facts'] {
    const { input, instructions = this.#session['instructions'], max_output_tokens: bound = this.#session['max_output_tokens'] } = asked;
    const settings: Tokens = { text: textTokens(instructions) + textTokens(JSON.stringify(this.#session['tools'])), audio: 0 };
    const context = Array.isArray(input) ? input.map(tokensOf).reduce(plus, NO_TOKENS) : this.#context;
    const cached = Array.isArray(input) ? NO_TOKENS : this.#cached;
    if (!Array.isArray(input)) this.#cached = context;
    const modalities = asked['output_modalities'] ?? this.#session['output_modalities'];
    return {
      id: `resp_${this.responses.length + 1}`,
      input: plus(settings, context),
      cached,
      isAudio: Array.isArray(modalities) && modalities.includes('audio'),
      bound: typeof bound === 'number' ? bound : LONGEST_TOKENS,
      asked,
    };
  }

  #cancel(event: Fields) {
    const { response_id: id } = event;
    const response = id === undefined ? this.#active : this.responses.find((one) => one.facts.id === id && !one.isOver);
    if (!response)
      return this.#refuse({ code: 'response_cancel_not_active', message: 'Cancellation failed: no active response found' }, event);
    response.end('cancelled', { type: 'cancelled', reason: 'client_cancelled' });
  }

  #refuse({ code, message, param }: Refusal, event?: Fields): void {
    const error = { type: 'invalid_request_error', code, message, param: param ?? null, event_id: event?.['event_id'] ?? null };
    this.say({ type: 'error', error });
  }

  get #active(): FakeResponse | undefined {
    return this.responses.find(({ isOver, facts }) => !isOver && facts.asked['conversation'] !== 'none');
  }

  get #detection(): unknown {
    const { audio } = this.#session;
    return isFields(audio) && isFields(audio['input']) ? audio['input']['turn_detection'] : undefined;
  }

  get #nextId(): string {
    return `item_${this.#items + 1}`;
  }

  #itemId(): string {
    this.#items += 1;
    return `item_${this.#items}`;
  }
}

const sessionOf = (model: string): Fields => ({
  type: 'realtime',
  object: 'realtime.session',
  id: 'sess_1',
  model,
  output_modalities: ['audio'],
  instructions: 'You are a helpful, witty, and friendly AI.',
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
      turn_detection: { ...VAD, idle_timeout_ms: null, create_response: true, interrupt_response: true },
    },
    output: { format: PCM, voice: 'marin', speed: 1 },
  },
  include: null,
});

/** What is left out stays as it is, also of a part of a part. */
const merged = (before: Fields, change: Fields): Fields =>
  Object.fromEntries(
    [...new Set([...Object.keys(before), ...Object.keys(change)])].map((name) => {
      const [was, is] = [before[name], change[name]];
      if (is === undefined) return [name, was];
      return [name, isFields(was) && isFields(is) ? merged(was, is) : is];
    }),
  );
