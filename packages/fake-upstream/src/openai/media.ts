import { CREATED, planAnswer } from '../completion.ts';
import type { Answer, Question } from '../dialect.ts';
import { inflated } from '../inflated.ts';
import { framed } from './events.ts';
import { never, saidIn } from './texts.ts';

/** A PNG of one pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const IMAGE_TOKENS = 272;
const SECONDS = 10;
const SOUND = Buffer.from('ID3 these bytes stand for a sound');
const MOVIE = Buffer.from('\0\0\0\x18ftypmp42 these bytes stand for a video');

/** One pixel for each image; ten tokens in and 272 out for each. */
export function imageAnswer({ path, request, step, promptTokens }: Question): Answer {
  const count = Number(request['n'] ?? 1);
  const output_tokens = IMAGE_TOKENS * count;
  const exact = {
    total_tokens: promptTokens + output_tokens,
    input_tokens: promptTokens,
    output_tokens,
    input_tokens_details: { text_tokens: promptTokens, image_tokens: 0 },
  };
  const usage = inflated(exact, step);
  const kind = path.endsWith('/generations') ? 'image_generation' : 'image_edit';
  const partials = Array.from({ length: Number(request['partial_images'] ?? 0) }, (_, partial_image_index) => ({
    type: `${kind}.partial_image`,
    b64_json: PNG,
    partial_image_index,
  }));
  return {
    isStream: request['stream'] === true || request['stream'] === 'true',
    plain: () => ({ created: CREATED, data: Array.from({ length: count }, () => ({ b64_json: PNG })), usage }),
    events: () => framed([...partials, { type: `${kind}.completed`, b64_json: PNG, created_at: CREATED, usage }], step, { isNamed: true }),
  };
}

/** Placeholder bytes of audio. */
export function speechAnswer({ request, step, promptTokens }: Question): Answer {
  const usage = inflated({ input_tokens: promptTokens, output_tokens: 8, total_tokens: promptTokens + 8 }, step);
  const delta = (audio: Buffer) => ({ type: 'speech.audio.delta', audio: audio.toString('base64') });
  return {
    isStream: request['stream_format'] === 'sse',
    contentType: 'audio/mpeg',
    exactUsage: () => usage,
    plain: () => SOUND,
    events: () =>
      framed([delta(SOUND.subarray(0, 10)), delta(SOUND.subarray(10)), { type: 'speech.audio.done', usage }], step, { isNamed: false }),
  };
}

/** Ten seconds with the same tokens as in a chat. */
export function transcriptionAnswer({ request, step, promptTokens }: Question): Answer {
  const plan = planAnswer('transcript', {}, step, promptTokens);
  const words = saidIn(plan);
  const text = words.join('');
  const exact = String(request['model']).includes('whisper')
    ? { type: 'duration', seconds: SECONDS }
    : {
        type: 'tokens',
        input_tokens: SECONDS * 10,
        input_token_details: { text_tokens: 0, audio_tokens: SECONDS * 10 },
        output_tokens: words.length,
        total_tokens: SECONDS * 10 + words.length,
      };
  const usage = inflated(exact, step);
  const format = request['response_format'] ?? 'json';
  if (format === 'text' || format === 'srt' || format === 'vtt') return never(Buffer.from(`${text}\n`), 'text/plain; charset=utf-8');
  const verbose = format === 'json' ? {} : { task: 'transcribe', language: 'english', duration: SECONDS, segments: [] };
  return {
    isStream: String(request['stream']) === 'true',
    plain: () => ({ ...verbose, text, usage }),
    events: () =>
      framed([...words.map((delta) => ({ type: 'transcript.text.delta', delta })), { type: 'transcript.text.done', text, usage }], step, {
        isNamed: false,
      }),
  };
}

/** A character for videos. */
export const characterAnswer = ({ turn, request }: Question): Answer =>
  never({ id: `char_fake_${turn}`, created_at: CREATED, name: request['name'] ?? null });

/** A job that is queued when it is made, and completed when it is looked at. */
export function videoAnswer({ turn, path, request }: Question): Answer {
  const [, id, below] = /^\/v1\/videos\/([^/?]+)(?:\/([a-z]+))?/.exec(path) ?? [];
  if (below === 'content') return never(MOVIE, 'video/mp4');
  const isMade = id === undefined || below === 'remix' || id === 'edits' || id === 'extensions';
  const seconds = request['seconds'] ?? '4';
  const video = {
    id: isMade ? `video_fake_${turn}` : id,
    object: 'video',
    model: request['model'] ?? 'fake-model',
    status: isMade ? 'queued' : 'completed',
    progress: isMade ? 0 : 100,
    created_at: CREATED,
    completed_at: isMade ? null : CREATED + 10,
    expires_at: isMade ? null : CREATED + 3600,
    prompt: request['prompt'] ?? null,
    size: request['size'] ?? '720x1280',
    seconds,
    remixed_from_video_id: below === 'remix' ? id : null,
    error: null,
  };
  return { ...never(video), ...(isMade && { exactUsage: () => ({ seconds: Number(seconds) }) }) };
}
