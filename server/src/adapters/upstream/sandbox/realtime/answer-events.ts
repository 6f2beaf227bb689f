import { melodyOf, SAMPLE_RATE, samplesOf, UNIT_SAMPLES } from '../audio/melody.ts';
import { quote } from '../chat/answer-text.ts';
import { tokensOf } from '../tokens.ts';

/** Of text and of sound. */
export interface Tokens {
  readonly text: number;
  readonly audio: number;
}

export const NO_TOKENS: Tokens = { text: 0, audio: 0 };
export const plus = (a: Tokens, b: Tokens): Tokens => ({ text: a.text + b.text, audio: a.audio + b.audio });

type Fields = Readonly<Record<string, unknown>>;

interface Asked {
  readonly id: string;
  /** What was said last, in words. */
  readonly said: string;
  readonly input: Tokens;
  /** Of the input, what an earlier response has read. */
  readonly cached: Tokens;
  readonly isAudio: boolean;
  readonly bound: number;
  /** The tool that it calls, where it has to. */
  readonly tool: string | undefined;
  readonly asked: Fields;
}

const VOICE = 'marin';
/** As OpenAI counts the sound of a model: one each 50 ms. */
const SAMPLES_PER_TOKEN = SAMPLE_RATE / 20;

interface Piece {
  readonly text: string;
  readonly sound?: Buffer;
  readonly tokens: Tokens;
}

/** A response, event by event. */
export class Answer {
  /** What it has written by now. */
  output = NO_TOKENS;
  readonly #facts: Asked;
  #text = '';
  #cancelled: string | undefined;

  constructor(facts: Asked) {
    this.#facts = facts;
  }

  get id(): string {
    return this.#facts.id;
  }

  get isCancelled(): boolean {
    return this.#cancelled !== undefined;
  }

  cancel(reason: string): void {
    this.#cancelled ??= reason;
  }

  *events(): Generator<Fields, void, undefined> {
    const { tool, isAudio } = this.#facts;
    const [type, kind] = typesOf(tool, isAudio);
    const place = this.#place;
    yield { type: 'response.created', response: this.#response('in_progress', null) };
    yield { type: 'response.output_item.added', ...place, item: this.#item('in_progress') };
    const isWhole = yield* this.#deltas(type);
    yield { type: `${type}.done`, ...place, [kind]: this.#text };
    const status = this.isCancelled ? 'cancelled' : isWhole ? 'completed' : 'incomplete';
    yield { type: 'response.output_item.done', ...place, item: this.#item(itemStatus(status)) };
    yield { type: 'response.done', response: this.#response(status, this.#usage()) };
  }

  /** @returns whether it has said everything */
  *#deltas(type: string): Generator<Fields, boolean, undefined> {
    const { tool, isAudio, said, bound } = this.#facts;
    for (const piece of tool === undefined ? (isAudio ? spoken(said) : written(said)) : written('', '{}')) {
      const written = plus(this.output, piece.tokens);
      if (written.text + written.audio > bound || this.isCancelled) return false;
      this.output = written;
      this.#text += piece.text;
      if (piece.sound) yield { type: 'response.output_audio.delta', ...this.#place, delta: piece.sound.toString('base64') };
      yield { type: `${type}.delta`, ...this.#place, delta: piece.text };
    }
    return true;
  }

  get #place(): Fields {
    const { id, tool } = this.#facts;
    return { response_id: id, item_id: `item_of_${id}`, output_index: 0, ...(tool === undefined && { content_index: 0 }) };
  }

  #item(status: string): Fields {
    const { id, tool, isAudio } = this.#facts;
    const base = { id: `item_of_${id}`, object: 'realtime.item', status };
    if (tool !== undefined) return { ...base, type: 'function_call', name: tool, call_id: `call_of_${id}`, arguments: this.#text };
    const content = isAudio ? { type: 'output_audio', transcript: this.#text } : { type: 'output_text', text: this.#text };
    return { ...base, type: 'message', role: 'assistant', content: [content] };
  }

  #response(status: string, usage: Fields | null): Fields {
    const { id, asked, isAudio, bound } = this.#facts;
    const isPartial = status === 'cancelled' || status === 'incomplete';
    return {
      object: 'realtime.response',
      id,
      status,
      status_details: isPartial ? { type: status, reason: this.#cancelled ?? 'max_output_tokens' } : null,
      conversation_id: asked['conversation'] === 'none' ? null : 'conv_1',
      output: usage === null || this.#text === '' ? [] : [this.#item(itemStatus(status))],
      output_modalities: [isAudio ? 'audio' : 'text'],
      max_output_tokens: bound,
      usage,
      metadata: asked['metadata'] ?? null,
    };
  }

  #usage(): Fields {
    return usageOf(this.#facts.input, this.output, this.#facts.cached);
  }
}

const itemStatus = (status: string): string => (status === 'completed' ? 'completed' : 'incomplete');

const typesOf = (tool: string | undefined, isAudio: boolean): readonly [string, string] => {
  if (tool !== undefined) return ['response.function_call_arguments', 'arguments'];
  return isAudio ? ['response.output_audio_transcript', 'transcript'] : ['response.output_text', 'text'];
};

const answerTo = (said: string): string =>
  `You said: ${said === '' ? 'nothing' : quote(said)}. This answer comes from Tallygate's sandbox.`;

const written = (said: string, text = answerTo(said)): Piece[] =>
  tokensOf(text).map((token) => ({ text: token, tokens: { text: 1, audio: 0 } }));

/** A soft tone for every word. */
function* spoken(said: string): Generator<Piece, void, undefined> {
  const words = answerTo(said).match(/\S+\s*/g) ?? [];
  for (const word of words) {
    const samples = melodyOf(word, VOICE, 1).map(samplesOf);
    const length = samples.reduce((sum, { length: some }) => sum + some, 0);
    const sound = Buffer.concat(samples.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength)));
    yield { text: word, sound, tokens: { text: 0, audio: Math.max(1, Math.ceil(Math.max(length, UNIT_SAMPLES) / SAMPLES_PER_TOKEN)) } };
  }
}

function usageOf(input: Tokens, output: Tokens, cached: Tokens): Fields {
  const [inputTokens, outputTokens] = [input.text + input.audio, output.text + output.audio];
  return {
    ...{ total_tokens: inputTokens + outputTokens, input_tokens: inputTokens, output_tokens: outputTokens },
    input_token_details: {
      ...{ text_tokens: input.text, audio_tokens: input.audio, image_tokens: 0, cached_tokens: cached.text + cached.audio },
      cached_tokens_details: { text_tokens: cached.text, audio_tokens: cached.audio, image_tokens: 0 },
    },
    output_token_details: { text_tokens: output.text, audio_tokens: output.audio },
  };
}
