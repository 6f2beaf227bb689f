import { type FieldRules, refused } from './field-rule.ts';

/** Fields of other dialects that mean one of ours. A provider that reads one may put it above ours, which is what is held. */
export interface OtherNames {
  /** The field to use in their place. */
  readonly use: string;
  readonly names: readonly string[];
}

const words = (text: string): string[] => text.split(/\s+/);

/**
 * What bounds the tokens out of one answer. Sources, as of November 2026: llama.cpp `tools/server` (`n_predict` is read before
 * `max_tokens`), Ollama's API (`num_predict`), Text Generation Inference and Hugging Face `generate` (`max_new_tokens`, `max_length`), SGLang
 * `sampling_params` (`max_new_tokens`), Gemini's `generationConfig` (`maxOutputTokens`), Anthropic (`max_tokens_to_sample`), Bedrock
 * (`maxTokens`, `max_gen_len`, `maxTokenCount`), watsonx (`time_limit` beside `max_new_tokens`), Alibaba and OpenAI for the rest.
 */
const BOUNDS_OUT = words(`max_tokens max_completion_tokens max_output_tokens max_new_tokens max_gen_len max_gen_tokens max_generated_tokens
  max_generation_tokens max_decode_tokens max_response_tokens max_answer_tokens max_tokens_to_sample max_token_count max_length
  max_gen_length max_sequence_length num_predict n_predict num_tokens n_tokens tokens_to_generate output_token_limit`);

/**
 * How many answers one prompt gets. Sources: Gemini (`candidateCount`), Hugging Face `generate` (`num_return_sequences`), llama.cpp
 * (`n_cmpl`), Cohere (`num_generations`), AI21 (`numResults`), Cloudflare and Replicate (`num_outputs`).
 */
const COUNTS_ANSWERS = words(`candidate_count num_candidates num_return_sequences num_sequences n_cmpl n_completions num_completions
  num_generations num_results num_outputs num_choices n_choices num_responses num_samples n_samples sample_count`);

/** Sources: Together, fal, Replicate, Stability and DeepInfra; Imagen (`sampleCount`, `numberOfImages`); xAI; Azure's videos (`n_variants`). */
const COUNTS_IMAGES = words(`num_images num_images_per_prompt number_of_images images_count image_count batch_size batch_count n_iter
  num_outputs num_samples samples sample_count num_generations number_results`);
const COUNTS_VIDEOS = words(`num_videos number_of_videos num_videos_per_prompt n_variants num_outputs num_samples sample_count`);
/** Together, DeepInfra, fal, Gemini, xAI and Azure's videos. */
const SIZES = words('width height image_size resolution megapixels');
const SECONDS = words('duration duration_seconds n_seconds video_length num_frames');

const otherThan = (mine: string, names: readonly string[]): OtherNames => ({ use: mine, names: names.filter((name) => name !== mine) });
const CHAT_BOUNDS = BOUNDS_OUT.filter((name) => name !== 'max_completion_tokens');
const IMAGES = [otherThan('n', COUNTS_IMAGES), otherThan('size', SIZES)];
const VIDEOS = [otherThan('seconds', SECONDS), otherThan('size', SIZES)];

/** By the path of the operation. What a field of the operation itself is called is not among them. */
export const OTHER_NAMES: Readonly<Record<string, readonly OtherNames[]>> = {
  '/v1/chat/completions': [otherThan('max_tokens', CHAT_BOUNDS), otherThan('n', COUNTS_ANSWERS)],
  // For a provider without responses a request becomes a chat completion, and takes along what it does not know.
  '/v1/responses': [
    otherThan('max_output_tokens', BOUNDS_OUT),
    otherThan('input', ['messages', 'documents']),
    otherThan('tools', ['functions']),
    otherThan('text', ['response_format']),
  ],
  '/v1/messages': [
    otherThan('max_tokens', BOUNDS_OUT),
    otherThan('messages', ['input', 'prompt', 'documents']),
    otherThan('system', ['instructions']),
    otherThan('tools', ['functions']),
    otherThan('output_config', ['response_format']),
  ],
  '/v1/responses/compact': [],
  '/v1/completions': [
    otherThan('max_tokens', BOUNDS_OUT),
    otherThan('n', COUNTS_ANSWERS),
    // What belongs to the prompt is counted there alone. Ollama, llama.cpp, Text Generation Inference.
    otherThan('prompt', words('system context template images inputs input_extra input_prefix messages')),
  ],
  // Cohere, Jina, Voyage, Nomic and Text Embeddings Inference.
  '/v1/embeddings': [
    otherThan('input', words('inputs text texts image images content contents prompt query instruction instruct messages')),
  ],
  // Text Embeddings Inference, NVIDIA and Pinecone.
  '/v1/rerank': [otherThan('documents', words('texts passages inputs items')), otherThan('query', ['queries'])],
  '/v1/images/generations': IMAGES,
  '/v1/images/edits': IMAGES,
  '/v1/images/variations': IMAGES,
  // What is spoken, and what is heard: only these are measured.
  '/v1/audio/speech': [otherThan('input', words('text inputs prompt ssml transcript'))],
  '/v1/audio/transcriptions': [otherThan('file', words('url urls file_url file_id audio audio_url media_url source_url input'))],
  '/v1/audio/translations': [otherThan('file', words('url urls file_url file_id audio audio_url media_url source_url input'))],
  '/v1/videos': VIDEOS,
  '/v1/video/generations': VIDEOS,
};

/** An operation that answers once has no field for more. */
const onlyOne = (what: string, names: readonly string[]): FieldRules =>
  Object.fromEntries(names.map((name) => [name, refused(what, (value) => value === 1)]));
export const ONE_ANSWER = onlyOne('more than one answer', ['n', 'best_of', ...COUNTS_ANSWERS]);
export const ONE_VIDEO = onlyOne('several videos at once', ['n', ...COUNTS_VIDEOS]);

/** Gateways in the place of a provider (LiteLLM, OpenRouter) that would ask other models or providers, or ask again, on any operation. */
export const OTHER_PROVIDERS: FieldRules = {
  provider: refused('a choice among providers'),
  fallbacks: refused('models that the provider chooses: name them in `models`'),
  context_window_fallbacks: refused('models that the provider chooses: name them in `models`'),
  num_retries: refused('requests that the provider repeats', (value) => value === 0),
  max_retries: refused('requests that the provider repeats', (value) => value === 0),
  // Alone too: OpenRouter then tries a model of its own choice, priced near the one that was asked for.
  route: refused('models that the provider chooses: name them in `models`'),
  custom_llm_provider: refused('a choice among providers'),
  api_base: refused('a choice among providers'),
  base_url: refused('a choice among providers'),
};

/** Ways of other dialects to make more than is shown, or to have it made by something else. None of our fields means the same. */
export const OTHER_WAYS: FieldRules = {
  // vLLM and Hugging Face `generate`: every beam is computed.
  use_beam_search: refused('beam search', (value) => value === false),
  num_beams: refused('beam search', (value) => value === 1),
  num_beam_groups: refused('beam search', (value) => value === 1),
  beam_width: refused('beam search', (value) => value === 1),
  // Where a provider puts it above the bound on tokens out, the bound is none: vLLM, SGLang, Fireworks, OpenRouter, Hugging Face.
  min_tokens: refused('a least number of tokens out', (value) => value === 0),
  min_new_tokens: refused('a least number of tokens out', (value) => value === 0),
  min_output_tokens: refused('a least number of tokens out', (value) => value === 0),
  min_completion_tokens: refused('a least number of tokens out', (value) => value === 0),
  min_length: refused('a least number of tokens out', (value) => value === 0),
  // vLLM and llama.cpp: the template makes the prompt, and a loop in it any number of tokens.
  chat_template: refused('chat templates of the request'),
  mm_processor_kwargs: refused('other ways to cut images into tokens'),
  media_io_kwargs: refused('other ways to cut images into tokens'),
  prompt_embeds: refused('prompts that are not text'),
  // Adapters: another model's price.
  lora: refused('other weights'),
  lora_path: refused('other weights'),
  lora_adapter: refused('other weights'),
  adapter_id: refused('other weights'),
  // Mistral and Together: a prompt or a model of the provider's own beside the caller's.
  safe_prompt: refused('a system prompt of the provider', (value) => value === false),
  prompt_mode: refused('a system prompt of the provider'),
  safety_model: refused('a second model'),
  // Fireworks' other name for `prediction`, whose rejected tokens are billed.
  speculation: refused('predicted output that is not in `prediction`'),
  ...OTHER_PROVIDERS,
};
