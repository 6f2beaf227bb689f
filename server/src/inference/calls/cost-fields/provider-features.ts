import { isRecord } from '../usage.ts';
import { isContent } from './content-values.ts';
import { isContentName, snakeCase } from './names-of-content.ts';

/** What fields of one kind ask a provider for, by their names: they are in no table. */
interface Feature {
  readonly what: string;
  readonly isNamed: (snake: string) => boolean;
  /** Values that ask for nothing, beside those that switch it off. */
  readonly passes?: (value: unknown) => boolean;
}

const isScalar = (value: unknown): boolean => typeof value === 'boolean' || typeof value === 'number';
const isOne = (value: unknown): boolean => value !== true && Number(value) === 1;

const either = (words: string): string => `(?:${words.split(' ').join('|')})`;
/** Names with one of the words in any place (`enable_web_search`). */
const having = (words: string): RegExp => new RegExp(`(?:^|_)${either(words)}(?:_|$)`);
/** Names that end with one of the words, or with one and what identifies it (`model_id`, `modelname`). */
const endingWith = (words: string): RegExp => new RegExp(`(?:^|_)${either(words)}(?:_?${either(IDENTIFIERS)})?$`);
/** Names that are one of the words, with or without what identifies it (`thread_id`). */
const being = (words: string): RegExp => new RegExp(`^${either(words)}(?:_?${either(IDENTIFIERS)})?$`);
const IDENTIFIERS = 'ids? names? refs? paths? versions? lists? variants? overrides?';

/** One pattern for all: it is asked of every name that is in no table. */
const named = (...patterns: readonly RegExp[]): Feature['isNamed'] => {
  const all = new RegExp(patterns.map(({ source }) => source).join('|'));
  return (snake) => all.test(snake);
};
const except = (isNamed: Feature['isNamed'], ...patterns: readonly RegExp[]): Feature['isNamed'] => {
  const isExcepted = named(...patterns);
  return (snake) => isNamed(snake) && !isExcepted(snake);
};

const SEARCH: Feature = {
  what: 'searches and other work of the provider',
  isNamed: except(
    named(
      having('search searches searching research browse browsing browser web online internet crawl crawler'),
      having('grounding grounded retrieval retrieve rag fetch wikipedia google_?maps url_?context'),
      having('code_?execution image_?generation generate_?images?'),
      having('(?:web|deep|use|enable|do|live|internet|google|bing|online)+(?:search|research) searchmode'),
    ),
    // Perplexity's `search_domain_filter` and its like narrow a search. The others are ways of decoding.
    /_filter$/,
    /(?:^|_)(?:beam|contrastive|greedy|prefix)_search/,
  ),
};

const KEPT: Feature = {
  what: 'content or tools that only the provider has',
  isNamed: named(
    being('assistants? threads? collections? skills? agents? datasets? datastores? corpus plugins? workflows? kbs? librar(?:y|ies) bots?'),
    /^(?:memory|memories)(?:_|$)/,
    having('knowledge knowledge_?bases? toolkits? toolsets? interpreter mcp'),
    /(?:^|_)tools$/,
    /^(?:actions?|features?|abilities|capabilities)$/,
    new RegExp(`(?:^|_)${either('built_?in server hosted native provider internal system')}_?tools?$`),
  ),
  // Threads of the processor are counted.
  passes: (value) => typeof value === 'number',
};

const MODEL: Feature = {
  what: 'another model',
  isNamed: named(endingWith('models? engines? deployments? loras? adapters? checkpoints?')),
  passes: isScalar,
};

const TIER: Feature = {
  what: 'another tier',
  isNamed: named(having('tiers?'), /^priority$/),
  // vLLM's place in the queue is a number.
  passes: (value) => isScalar(value) || ['auto', 'default', 'standard', 'normal', 'low'].includes(String(value).toLowerCase()),
};

/** Bedrock (`performanceConfig`, `guardrailConfig`), LiteLLM (`aws_region_name`, `vertex_location`), Anthropic and Google: each at a price of its own. */
const PLACE: Feature = {
  what: 'processing in one region, faster, or under guard of the provider',
  isNamed: named(
    having('regions? geo residency'),
    /^guardrail_(?:config|identifier)/,
    /^(?:aws|vertex|vertex_ai|google|gcp|azure|cloud|provider)_location$/,
    /^performance_?config(?:uration)?$/,
  ),
  passes: (value) => isScalar(value) || ['auto', 'default', 'global', 'standard'].includes(String(value).toLowerCase()),
};

/** The same at a dearer price, in words that are no tier: xAI's and Alibaba's modes, Anthropic's and OpenAI's speeds. */
const DEARER: Feature = {
  what: 'a dearer way to the same answer',
  isNamed: named(
    /^(?:reasoning_|research_|processing_|service_|latency_|speed_)?modes?$/,
    /^(?:service|processing|qos|performance|fast|fast_mode|turbo|turbo_mode|premium|dedicated|expert|heavy|swarm)$/,
    /(?:^|_)(?:multi_?agents?|mixture_of_agents|moa)$/,
  ),
  passes: (value) =>
    typeof value === 'number' ||
    /^(?:auto|default|standard|normal|low|chat|text|json|regular|instruct|accurate|fast|strict|any|none|enabled)$/i.test(
      String(value).trim(),
    ),
};

const PASSES: Feature = {
  what: 'several passes over one answer',
  isNamed: named(
    /^(?:self_?)?consistency$/,
    /^(?:ensembles?|consensus|parallel|parallelism|retry|retries|votes?|majority|debates?|agents?|agent_?counts?|num_?agents?|fan_?outs?|multipliers?|trials?)$/,
  ),
  passes: isOne,
};

const CONTENT: Feature = { what: 'content outside of the fields that are counted', isNamed: isContentName, passes: isScalar };

const MEASURE: Feature = {
  what: 'another size, length or quality',
  isNamed: except(
    named(
      having('sizes? resolutions? superresolution super_resolution width height dimensions? pixels? mega_?pixels? dpi hd uhd hires 4k 8k'),
      having('quality fps frame_?rate sample_?rate bit_?rate len length duration seconds minutes'),
      having('diari[sz]e diari[sz]ation speakers? (?:generate|enable|with|add|include)_?(?:audio|sound)'),
      having('ultra enhance enhanced enhancer'),
      // Kling's and Veo's videos.
      /^(?:mode|audio|sound)$/,
      // Ideogram's images.
      /^render(?:ing)?_speed$/,
    ),
    // The text of the prompt (diffusers, fal), lines of subtitles (whisper.cpp), parts of a text to speak (Fish Audio), compression (Replicate).
    /^(?:max_sequence_length|max_len|prompt_length|chunk_length|output_quality)$/,
    /(?:^|_)prompt(?:_|$)/,
    // Counts.
    /^(?:beam|batch)_size$/,
  ),
  passes: (value) => ['auto', 'default', 'original', 'standard', 'std'].includes(String(value).toLowerCase()),
};

const COUNT: Feature = {
  what: 'more or larger answers, or more passes over one',
  isNamed: named(
    having(
      'n num number counts? best beams? batch samples variants? copies iterations? replicas? runs? repeats? frames steps quantity amount variations? clips loops?',
    ),
    having('upscale upscaler upscaling upscale_?factor (?:output|image|resolution)_?scale super_?res layers? tiles?'),
    having('animations? animated animate thinking reasoning'),
    /^scale$/,
  ),
  passes: isOne,
};

/** What an image or a video in a prompt costs, in words that are in no table. */
const MEDIA_IN: Feature = {
  what: 'images or videos at another size or rate than is held',
  isNamed: named(having('pixels? mega_?pixels? resolutions? fps frames? frame_?rate hires')),
  passes: (value) => ['auto', 'default', 'low'].includes(String(value).toLowerCase()),
};

/** Images that an image is made from, by words that only say so there: BFL, Ideogram, Recraft. */
const PATTERNS: Feature = {
  what: 'images that are not in the fields that are counted',
  isNamed: named(having('references? refs?'), /^(?:image_prompts?|control_?nets?|ip_?adapters?|init)$/),
  passes: isScalar,
};

const EVERYWHERE = [SEARCH, KEPT, MODEL, TIER, PLACE];
const IN_PROMPTS = [...EVERYWHERE, CONTENT, DEARER, PASSES, MEDIA_IN];
const IMAGES = [...EVERYWHERE, CONTENT, PATTERNS, MEASURE, COUNT];
const MEDIA = [...EVERYWHERE, MEASURE, COUNT];

/** By the path of the operation. What is not here sends no field that is in no table, or costs nothing. */
const FEATURES: Readonly<Record<string, readonly Feature[]>> = {
  '/v1/chat/completions': IN_PROMPTS,
  '/v1/responses': IN_PROMPTS,
  '/v1/messages': IN_PROMPTS,
  '/v1beta/models/:model/generateContent': IN_PROMPTS,
  '/v1beta/models/:model/streamGenerateContent': IN_PROMPTS,
  '/v1beta/models/:model/embedContent': IN_PROMPTS,
  '/v1beta/models/:model/batchEmbedContents': IN_PROMPTS,
  '/v1/completions': IN_PROMPTS,
  // How many texts or tokens are looked at together changes nothing of the bill.
  '/v1/embeddings': IN_PROMPTS,
  '/v1/rerank': IN_PROMPTS,
  '/v1/images/generations': IMAGES,
  '/v1/images/edits': IMAGES,
  '/v1/images/variations': IMAGES,
  '/v1/audio/speech': MEDIA,
  '/v1/audio/transcriptions': MEDIA,
  '/v1/audio/translations': MEDIA,
  '/v1/videos': MEDIA,
  '/v1/video/generations': MEDIA,
};

/**
 * What a field that is in no table asks the provider for, by its name and value; undefined where that is nothing with a price.
 */
export function featureIn(path: string, name: string, value: unknown): string | undefined {
  if (name.length > MOST_CHARACTERS) return undefined;
  const snake = snakeCase(name);
  const isNegated = /^(?:disable|no|without|skip|exclude)_/.test(snake);
  const isAsked = isNegated ? isOff(value) : !isOff(value);
  if (!isAsked) return undefined;
  return FEATURES[path]?.find(({ isNamed, passes }) => isNamed(snake) && (isNegated || !passes?.(value)))?.what;
}

/** What a text asks for wherever it is in a field that is in no table. */
export const featureOfText = (path: string, name: string, text: string): string | undefined =>
  FEATURES[path]?.includes(CONTENT) && isContent(text, name) ? CONTENT.what : undefined;

/** Of the caller's own making, or of the connection: what is inside asks for nothing. */
export const isDescriptive = (name: string): boolean =>
  /(?:^|_)(?:metadata|trace|tracing|tags|labels|headers|telemetry)$/.test(snakeCase(name));

const MOST_CHARACTERS = 64;
const OFF = new Set(['', 'off', 'none', 'no', 'false', 'disable', 'disabled', 'never', '0', 'null']);
const SWITCHES = new Set(['mode', 'enable', 'enabled', 'status']);

/** `false`, `"off"`, `[]`, `{"enabled": false}`, `{"mode": "off"}`, `{"type": "disabled"}`. */
export function isOff(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === 0) return true;
  if (typeof value === 'string') return OFF.has(value.trim().toLowerCase());
  if (Array.isArray(value)) return value.length === 0;
  if (!isRecord(value)) return false;
  const switches = Object.entries(value).filter(([name]) => SWITCHES.has(name.toLowerCase()));
  if (switches.length > 0) return switches.every(([, one]) => !isRecord(one) && one !== null && isOff(one));
  return typeof value['type'] === 'string' && isOff(value['type']);
}
