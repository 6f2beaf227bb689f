import { type Kind, Unfit } from './listing.ts';

// What no source has as a field: facts about families of models, by their names.

const LEFT_OUT: readonly (readonly [RegExp, string])[] = [
  [/^ft:/, 'fine-tuned'],
  [/search-(preview|api)|deep-research|computer-use/, 'charged by its searches as well'],
  [/realtime|-live-|native-audio|-audio(-|$)|omni-flash-preview/, 'sound out'],
  [/model[-_]router|routers\/(auto|firerouter|rune)|-(spot|batch)$|routers\/spot-|^chat-latest$|^~|^openrouter\//, 'no fixed price'],
  [/^(together|fireworks)-ai-/, 'no model'],
  [/-beta(-|$)|-exp-\d|experimental|-gv2$|prompt-guard|^gemini-gemma|robotics|^ada$/, 'not for general use'],
  [/titan-text|\.j2-|claude-(v1|v2|instant)|llama2-|command-(light-)?text-/, 'of before 2024'],
];

/** Bedrock's inference profiles that most callers have; other regions and prices are for `MODELS_FILE`. */
const PROFILES = /^(ca|in|me|sa|uk|us-gov)\./;
const OPENAI_IMAGES = /^gpt-image-(1|1-mini|1\.5|2)(-\d{4}-\d{2}-\d{2})?$/;
const OPENAI_PROVIDERS = new Set(['openai', 'azure']);

/** The providers where the gateway can call this kind; a kind that is not listed works at every provider. */
const SERVED_BY: Readonly<Partial<Record<Kind, ReadonlySet<string>>>> = {
  completion: new Set(['openai', 'together', 'fireworks']),
  image: OPENAI_PROVIDERS,
  moderation: new Set(['openai']),
  rerank: new Set(['cohere', 'fireworks', 'jina', 'together']),
  tts: new Set(['openai', 'azure', 'groq', 'mistral', 'together']),
  stt: new Set(['openai', 'azure', 'groq', 'together']),
};

/** @throws Unfit where the gateway could not hold a worst case for it, or has no way to call it */
export function canBePriced(provider: string, name: string, kind: Kind): void {
  const rule = LEFT_OUT.find(([pattern]) => pattern.test(name));
  if (rule) throw new Unfit(rule[1]);
  if (SERVED_BY[kind]?.has(provider) === false) throw new Unfit(`${kind} at a provider that has no endpoint for it here`);
  if (kind === 'image' && !OPENAI_IMAGES.test(name)) throw new Unfit('no bound on the tokens of its images');
  if (kind === 'stt' && !/whisper|^gpt-4o.*-transcribe/.test(name)) throw new Unfit('no bound on its transcripts');
  if (provider === 'bedrock' && PROFILES.test(name)) throw new Unfit('one region, size or commitment');
  if (provider === 'fireworks' && !name.startsWith('accounts/')) throw new Unfit('a second name');
}

export const endpointsOfImages = (capabilities: readonly string[]): string[] => [
  '/v1/images/generations',
  ...(capabilities.includes('edits') ? ['/v1/images/edits'] : []),
];

const SOUND_AND_OTHERS: Readonly<Record<Exclude<Kind, 'chat'>, readonly (readonly [RegExp, readonly string[]])[]>> = {
  completion: [[/./, ['streaming']]],
  embedding: [[/^(text-embedding-3|gemini-embedding|embed-v4)/, ['dimensions']]],
  image: [[/./, ['edits', 'streaming']]],
  moderation: [[/^omni-/, ['vision']]],
  rerank: [],
  tts: [[/^tts-1/, ['voices']]],
  stt: [
    [/^whisper(-1)?$/, ['srt', 'timestamps', 'translation', 'vtt']],
    [/^whisper-large-v3$/, ['timestamps', 'translation']],
    [/^whisper-/, ['timestamps']],
    [/^gpt-4o.*-transcribe/, ['logprobs', 'streaming']],
  ],
  video: [],
};

export const soundCapabilities = (kind: Exclude<Kind, 'chat'>, name: string): string[] => [
  ...(SOUND_AND_OTHERS[kind].find(([pattern]) => pattern.test(name))?.[1] ?? []),
];

const TOKENIZERS: readonly (readonly [RegExp, 'o200k_base' | 'cl100k_base'])[] = [
  [/^(gpt-4o|gpt-4\.1|gpt-5|o1|o3|o4)/, 'o200k_base'],
  [/^(gpt-4|gpt-3\.5|text-embedding)/, 'cl100k_base'],
];

/** OpenAI publishes its tokenizers; of models that are newer than what it has published, nothing is known. */
export const tokenizerOf = (provider: string, name: string): 'o200k_base' | 'cl100k_base' | undefined =>
  provider === 'openai' ? TOKENIZERS.find(([pattern]) => pattern.test(name))?.[1] : undefined;

interface ImageBound {
  readonly tokens: number;
  readonly from: string;
}

const IMAGE_BOUNDS: readonly (readonly [ReadonlySet<string>, RegExp, ImageBound])[] = [
  [OPENAI_PROVIDERS, /^gpt-4o-mini/, { tokens: 48_169, from: '2,833 + 5,667 x 8 tiles' }],
  [OPENAI_PROVIDERS, /^(gpt-4o|gpt-4\.1(-\d|$)|gpt-4-turbo)/, { tokens: 1_445, from: '85 + 170 x 8 tiles' }],
  [OPENAI_PROVIDERS, /^(gpt-4\.1|gpt-5|gpt-5\.[1-4])-(mini|nano)/, { tokens: 3_780, from: '1,536 patches x 2.46' }],
  [OPENAI_PROVIDERS, /^o(1|3)(-|$)/, { tokens: 1_275, from: '75 + 150 x 8 tiles' }],
  [OPENAI_PROVIDERS, /^o4-mini/, { tokens: 2_642, from: '1,536 patches x 1.72' }],
  [OPENAI_PROVIDERS, /^gpt-5\.[4-6]/, { tokens: 10_000, from: 'patch budget of 10,000 at original detail' }],
  [OPENAI_PROVIDERS, /^gpt-5(\.[1-3])?(-|$)/, { tokens: 3_780, from: 'tiles or 1,536 patches x 2.46, the larger' }],
  [new Set(['anthropic']), /^claude-(opus-4-[78]|sonnet-5$)/, { tokens: 4_784, from: 'high-resolution images' }],
  [new Set(['anthropic']), /^claude-(3|opus-4|sonnet-4|haiku-4)/, { tokens: 1_600, from: '1,568 by the provider, rounded up' }],
  [new Set(['google', 'vertex']), /^gemini-(2\.5|3)/, { tokens: 16_512, from: '258 x 64 tiles of 768 px' }],
];

/** The most that one image part can cost; undefined where it is not published: then the context window is the bound. */
export const imageBoundOf = (provider: string, name: string): ImageBound | undefined =>
  IMAGE_BOUNDS.find(([providers, pattern]) => providers.has(provider) && pattern.test(name))?.[2];

/** What makers say of their models in words alone. */
const CHAT_CAPABILITIES: readonly (readonly [string, RegExp, readonly string[]])[] = [
  // "Supported on Command R, Command R+ and newer models" (docs.cohere.com/reference/chat, `response_format`).
  ['cohere', /^command-(a-(03|reasoning)|r7b|r(-plus)?-08-2024)/, ['json_schema', 'parallel_tools']],
];

export const chatCapabilitiesOf = (provider: string, name: string): readonly string[] =>
  CHAT_CAPABILITIES.find(([maker, pattern]) => maker === provider && pattern.test(name))?.[2] ?? [];

const SNAPSHOT = /(-(\d{4}-\d{2}-\d{2}|\d{8}|\d{4}|latest)|@(\d{8}|default|latest))$/;
const REGION = /^(us|eu|apac|au|jp|ca|sa|me|uk|us-gov|global)\.(?=[a-z0-9]+\.)/;

/** What names of one model have in common: its name without the date, "latest", or (Bedrock) the region of the inference profile. */
export const stemOf = (provider: string, name: string): string =>
  (provider === 'bedrock' ? name.replace(REGION, '') : name).replace(SNAPSHOT, '');
