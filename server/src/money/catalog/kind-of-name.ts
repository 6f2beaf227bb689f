import type { ModelKind } from '@tallygate/contract';

const KINDS = [
  ['rerank', /rerank/i],
  ['realtime', /^gpt-realtime/i],
  ['embedding', /embed|\b(bge|e5|gte)-|minilm/i],
  ['stt', /whisper|transcribe|parakeet|\bcanary-/i],
  ['tts', /\b(tts|xtts|kokoro|orpheus|piper|parler-tts)\b/i],
  ['video', /\b(sora|veo|wan2?|cogvideo\w*|hunyuan-?video|ltx-video|mochi)\b/i],
  ['image', /\b(flux|sdxl|sd3|stable-diffusion|dall-e|imagen|gpt-image|qwen-image|hidream|kandinsky|seedream)\b|\bimage-gen/i],
] as const;

/** No provider says what its models are for; who is taken wrongly by the name is defined by an administrator or a file. */
export function kindOfName(name: string): ModelKind {
  return KINDS.find(([, pattern]) => pattern.test(name))?.[0] ?? 'chat';
}
