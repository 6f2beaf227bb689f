import { counted, type FieldRule, type FieldRules, free, refused, unpricedMember } from './field-rule.ts';
import { GOOGLE_FIELDS } from './google-fields.ts';
import { KEPT_FILES } from './kept-files.ts';
import { MESSAGE_FIELDS } from './message-fields.ts';
import { unpricedInMessages, unpricedPrediction } from './message-members.ts';
import { ONE_ANSWER, OTHER_PROVIDERS, OTHER_WAYS } from './other-names.ts';
import { MEDIA_IN } from './prompt-media.ts';
import { isOff } from './provider-features.ts';
import { PRICED_SERVICE_TIER, STANDARD_SERVICE_TIER } from './service-tier-fields.ts';
import { unpricedDocument } from './text-documents.ts';
import { EMBEDDINGS, RERANK } from './text-list-fields.ts';
import { THINKING_BUDGET } from './thinking-budget.ts';
import { CHAT_TOOLS, RESPONSE_TOOLS, unpricedFunctions, unpricedTool, unpricedToolChoice } from './tool-rules.ts';
import { CHARACTERS, EXTENSIONS, REMIX, VIDEO_EDITS, VIDEO_FIELDS } from './video-fields.ts';

const isFalse = (value: unknown): boolean => value === false;
const isOne = (value: unknown): boolean => value === 1;

const BOUND = 'the bound on tokens out that is held is also sent';
const PROMPT = 'part of the prompt, by its bytes or tokens';
const SAMPLING = 'steers which tokens are drawn, not how many';
const ABOUT_CALLER = 'says whose request it is';
const SHOWN = 'adds to what is shown, not to what is billed';
const GATEWAY = 'read by the gateway, not sent';

/** Searches of the web that some provider makes in the place of a tool. */
const SEARCHES: FieldRules = {
  web_search_options: refused('web search'),
  // xAI, OpenRouter, Alibaba, Zhipu and Cohere.
  search_parameters: refused('web search', isOff),
  plugins: refused('web search and other plugins'),
  enable_search: refused('web search', isOff),
  search_options: refused('web search', isOff),
  web_search: refused('web search', isOff),
  connectors: refused('connectors'),
};

/** What only the provider knows the length of. */
const UNSEEN: FieldRules = {
  // Volcengine charges for what is kept, by the hour.
  caching: refused('content that is kept at the provider', isOff),
  data_sources: refused('documents that the provider fetches'),
  ...KEPT_FILES,
  cached_content: refused('content that is kept at the provider'),
  preset: refused('templates that are kept at the provider'),
  prompt_id: refused('templates that are kept at the provider'),
  assistant_id: refused('instructions that are kept at the provider'),
  container: refused('containers'),
  mcp_servers: refused('tools that the provider runs'),
  context_management: refused('compaction by the provider: call POST /v1/responses/compact'),
};

/** On responses the gateway keeps these itself. */
const EARLIER_ANSWERS: FieldRules = {
  previous_response_id: refused('earlier answers that are kept at the provider (POST /v1/responses has them from here)'),
  conversation: refused('conversations that are kept at the provider (POST /v1/responses has them from here)'),
};

/** The same model at another price. */
const OTHER_PRICES: FieldRules = {
  service_tier: PRICED_SERVICE_TIER,
  access_programs: refused('access programs'),
  speed: refused('faster processing', (value) => value === 'standard'),
  inference_geo: refused('processing in one region', (value) => value === 'global'),
  prompt_cache_options: {
    ...refused('prompt cache options other than `mode` and a `ttl` of 30m'),
    unpriced: (options, param) => unpricedMember(options, param, { mode: () => true, ttl: (ttl) => ttl === '30m', prewarm: isFalse }),
  },
};

const isAny = (): boolean => true;
/** `pro` runs the model several times, and so may what nobody has looked at. The last three are OpenRouter's. */
const REASONING: FieldRule = counted('thought counts as tokens out, within their bound', (value, param) =>
  unpricedMember(value, param, {
    mode: (mode) => mode === 'standard',
    ...{ effort: isAny, summary: isAny, generate_summary: isAny, context: isAny },
    ...{ max_tokens: isAny, exclude: isAny, enabled: isAny },
  }),
);

const CACHING = free(
  'what is written to the prompt cache and read from it is held at the dearest of these prices',
  'prompt_cache_key',
  'prompt_cache_retention',
  'cache_control',
);
/** Of the caller's own making: what they say inside says nothing about the request. */
const GRAMMARS = free(
  'steers what is drawn, and is part of the prompt by its bytes',
  ...['guided_json', 'guided_choice', 'guided_regex', 'guided_grammar', 'structured_outputs', 'json_schema', 'grammar', 'response_schema'],
  ...['response_json_schema', 'structural_tag', 'regex', 'ebnf', 'format'],
);
const WITHIN_BOUND = free('the answer goes on to the bound, which is held', 'ignore_eos');
const CALLER = free(ABOUT_CALLER, 'user', 'safety_identifier', 'metadata');

/** Gemini writes it in upper case. */
const isTextOut = (value: unknown): boolean =>
  (Array.isArray(value) ? value : [value]).every((one) => typeof one === 'string' && one.toLowerCase() === 'text');

const OTHER_OUTPUT: FieldRules = {
  modalities: refused('output other than text', isTextOut),
  response_modalities: refused('output other than text', isTextOut),
  response_modality: refused('output other than text', isTextOut),
  output_modality: refused('output other than text', isTextOut),
  modality: refused('output other than text', isTextOut),
  output_modalities: refused('output other than text', isTextOut),
  audio: refused('output other than text'),
  image_config: refused('output other than text'),
  deferred: refused('answers that are fetched later', isFalse),
};

const CHAT: FieldRules = {
  ...OTHER_WAYS,
  ...SEARCHES,
  ...UNSEEN,
  ...MEDIA_IN,
  ...THINKING_BUDGET,
  ...EARLIER_ANSWERS,
  ...OTHER_PRICES,
  ...CACHING,
  ...CALLER,
  messages: counted(PROMPT, unpricedInMessages),
  documents: counted(PROMPT, unpricedDocument),
  // A text is counted by its bytes.
  prompt: refused('templates that are kept at the provider', (value) => typeof value === 'string'),
  functions: counted(PROMPT, unpricedFunctions),
  tools: counted(PROMPT, (tools, param) => unpricedTool(tools, param, CHAT_TOOLS)),
  tool_choice: counted('the tools that it names are', unpricedToolChoice),
  response_format: counted(PROMPT),
  max_tokens: counted(BOUND),
  max_completion_tokens: counted(BOUND),
  n: counted('each choice is held with the whole bound on tokens out'),
  best_of: refused('choices that are made and not shown', isOne),
  prediction: counted('rejected tokens are billed as output: its bytes are held beside the bound', unpricedPrediction),
  ...OTHER_OUTPUT,
  reasoning: REASONING,
  extra_body: { ...counted('its members are looked at as those of the request are'), mayHoldFields: true },
  ...GRAMMARS,
  ...WITHIN_BOUND,
  ...free(
    'thought counts as tokens out, within their bound or within what is held beside it',
    'reasoning_effort',
    'verbosity',
    'thinking',
    'enable_thinking',
  ),
  ...free(SAMPLING, 'temperature', 'top_p', 'top_k', 'min_p', 'seed', 'stop', 'presence_penalty', 'frequency_penalty', 'logit_bias'),
  ...free(SHOWN, 'logprobs', 'top_logprobs', 'stream', 'stream_options'),
  ...free('no more calls than tokens out', 'function_call', 'parallel_tool_calls'),
  ...free('moderation costs nothing', 'moderation'),
  ...free(GATEWAY, 'model', 'models', 'provider', 'store'),
};

const RESPONSES: FieldRules = {
  ...ONE_ANSWER,
  ...OTHER_WAYS,
  ...OTHER_OUTPUT,
  prediction: refused('predicted output'),
  ...GRAMMARS,
  ...WITHIN_BOUND,
  ...SEARCHES,
  ...UNSEEN,
  ...MEDIA_IN,
  ...THINKING_BUDGET,
  ...OTHER_PRICES,
  ...CACHING,
  ...CALLER,
  input: counted(PROMPT),
  instructions: counted(PROMPT),
  text: counted(PROMPT),
  tools: counted(PROMPT, (tools, param) => unpricedTool(tools, param, RESPONSE_TOOLS, 'request')),
  tool_choice: counted('the tools that it names are', unpricedToolChoice),
  max_output_tokens: counted(BOUND),
  // What it says, and which tools it brings, only the provider knows; and it is the operator's there, not the caller's.
  prompt: refused('templates that are kept at the provider'),
  previous_response_id: counted('what came before is kept by the gateway, sent in the input and counted there'),
  conversation: counted('its items are kept by the gateway, sent in the input and counted there'),
  background: counted('the worst case is held when the work begins'),
  reasoning: REASONING,
  ...free('images are held at what one can cost at most', 'image'),
  max_tool_calls: counted('so many calls of tools that the provider runs are held, each with a further pass over the input'),
  ...free('no more calls than tokens out', 'parallel_tool_calls'),
  ...free(SAMPLING, 'temperature', 'top_p'),
  ...free(SHOWN, 'top_logprobs', 'include', 'stream', 'stream_options'),
  ...free('moderation costs nothing', 'moderation'),
  ...free(GATEWAY, 'model', 'models', 'provider', 'store', 'truncation'),
};

const OF_OTHER_PROMPTS: FieldRules = {
  ...ONE_ANSWER,
  ...OTHER_WAYS,
  ...OTHER_OUTPUT,
  ...GRAMMARS,
  ...WITHIN_BOUND,
  ...SEARCHES,
  ...UNSEEN,
};
const OF_OTHER_PRICES: FieldRules = { ...MEDIA_IN, ...THINKING_BUDGET, ...EARLIER_ANSWERS, ...OTHER_PRICES, ...CACHING, ...CALLER };
const MESSAGES: FieldRules = {
  ...{ ...OF_OTHER_PROMPTS, ...OF_OTHER_PRICES, reasoning: REASONING, ...MESSAGE_FIELDS },
  ...free(GATEWAY, 'provider'),
};

/** The gateway asks for the summary itself: of the request only these fields are read. */
const COMPACT: FieldRules = {
  ...OTHER_PROVIDERS,
  ...OTHER_PRICES,
  service_tier: STANDARD_SERVICE_TIER,
  ...CACHING,
  input: counted(PROMPT),
  instructions: counted(PROMPT),
  previous_response_id: counted('what came before is kept by the gateway, sent in the input and counted there'),
  ...free(GATEWAY, 'model', 'models', 'image'),
  ...free('not sent', 'tools', 'tool_choice', 'parallel_tool_calls', 'reasoning', 'text'),
};

const COMPLETIONS: FieldRules = {
  ...OTHER_WAYS,
  ...OTHER_OUTPUT,
  ...SEARCHES,
  ...UNSEEN,
  ...EARLIER_ANSWERS,
  ...GRAMMARS,
  ...WITHIN_BOUND,
  prompt: counted(`${PROMPT}; each of several has its own choices`),
  suffix: counted('once for every prompt'),
  max_tokens: counted(BOUND),
  n: counted('each choice is held with the whole bound on tokens out'),
  best_of: counted('as many choices as it says are held, shown or not'),
  service_tier: STANDARD_SERVICE_TIER,
  ...free('the prompt is shown again, not billed again', 'echo'),
  ...free(SAMPLING, 'temperature', 'top_p', 'seed', 'stop', 'presence_penalty', 'frequency_penalty', 'logit_bias'),
  ...free(SHOWN, 'logprobs', 'stream', 'stream_options'),
  ...CALLER,
  ...free(GATEWAY, 'model', 'models', 'provider'),
};

const QUALITIES: ReadonlySet<unknown> = new Set(['auto', 'low', 'medium', 'high', 'standard', 'hd']);

const MAKES_IMAGES: FieldRules = {
  ...OTHER_PROVIDERS,
  n: counted('so many images are held'),
  size: counted('tokens of an image by its size'),
  ...CALLER,
  ...free(SHOWN, 'response_format'),
  ...free(GATEWAY, 'model', 'models'),
};

const IMAGES: FieldRules = {
  ...MAKES_IMAGES,
  prompt: counted(PROMPT),
  quality: {
    ...counted('tokens of an image by its quality'),
    unpriced: (quality, param) => (QUALITIES.has(quality) ? undefined : { param, what: `the quality "${String(quality).slice(0, 40)}"` }),
  },
  partial_images: counted('tokens of every partial image'),
  complexity: refused('planning an image'),
  frame_count: refused('images that move', isOne),
  frame_duration_ms: refused('images that move'),
  svg: refused('drawings by another model'),
  ...free('changes the file or the look, not the tokens', 'background', 'output_format', 'output_compression', 'style'),
  ...free('moderation costs nothing', 'moderation'),
  ...free(SHOWN, 'stream'),
};

/** An image with what the caller has drawn on it, which only edits take. */
const MARKUP: FieldRules = { markup: refused('an image beside those of the operation') };
const GENERATIONS: FieldRules = { ...IMAGES, ...MARKUP };

const EDITS: FieldRules = {
  ...IMAGES,
  image: counted('every file, at the most that an image in can cost'),
  images: counted('every image, at the most that one can cost'),
  mask: counted('as an image'),
  markup: counted('as an image'),
  input_fidelity: counted('an image in is held at its high fidelity'),
};

const VARIATIONS: FieldRules = {
  ...MAKES_IMAGES,
  ...MARKUP,
  image: counted('every file, at the most that an image in can cost'),
};

const SPEECH: FieldRules = {
  ...OTHER_PROVIDERS,
  input: counted('characters; or tokens, and the most sound that it can be read as'),
  instructions: counted('tokens, where those are priced'),
  speed: counted('the most sound, where that is priced'),
  ...free('sound is billed by its length', 'voice', 'response_format', 'stream_format'),
  ...free(GATEWAY, 'model', 'models'),
};

const TRANSLATIONS: FieldRules = {
  ...OTHER_PROVIDERS,
  file: counted('its length, as it is decoded'),
  prompt: counted(PROMPT),
  ...free(SHOWN, 'response_format'),
  ...free(SAMPLING, 'temperature'),
  ...free(GATEWAY, 'model'),
};

const TRANSCRIPTIONS: FieldRules = {
  ...TRANSLATIONS,
  keywords: counted(PROMPT),
  known_speaker_names: counted(PROMPT),
  known_speaker_references: counted('by its bytes, which are more than its tokens'),
  chunking_strategy: counted('parts of a long recording: tokens by its length, where these are more than the window'),
  ...free('hints', 'language', 'languages'),
  ...free(SHOWN, 'stream', 'include', 'timestamp_granularities'),
};

const VIDEOS: FieldRules = { ...VIDEO_FIELDS, ...CALLER };

/**
 * Every field that can change what a request costs, by the path of the operation, and beside them those that cannot. A field that is not
 * here passes to the provider, except where its name is that of one here but for case or separators (`Max_Tokens`), is another dialect's for
 * one here (`other-names.ts`, `reads-as.ts`), asks for a feature of the provider
 * (`provider-features.ts`), or has one of these inside (`nested-fields.ts`).
 */
export const COST_FIELDS: Readonly<Record<string, FieldRules>> = {
  '/v1/chat/completions': CHAT,
  '/v1/responses': RESPONSES,
  '/v1/messages': MESSAGES,
  ...GOOGLE_FIELDS,
  '/v1/responses/compact': COMPACT,
  '/v1/completions': COMPLETIONS,
  '/v1/embeddings': { ...EMBEDDINGS, ...CALLER },
  '/v1/rerank': { ...RERANK, ...CALLER },
  '/v1/moderations': free('moderation costs nothing', 'input', 'model'),
  '/v1/images/generations': GENERATIONS,
  '/v1/images/edits': EDITS,
  '/v1/images/variations': VARIATIONS,
  '/v1/audio/speech': SPEECH,
  '/v1/audio/transcriptions': TRANSCRIPTIONS,
  '/v1/audio/translations': TRANSLATIONS,
  '/v1/videos': VIDEOS,
  '/v1/video/generations': VIDEOS,
  '/v1/videos/:video_id/remix': REMIX,
  '/v1/videos/edits': VIDEO_EDITS,
  '/v1/videos/extensions': EXTENSIONS,
  '/v1/videos/characters': CHARACTERS,
};
