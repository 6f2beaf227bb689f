import { describe, expect, test } from 'vitest';
import { COST_FIELDS } from './cost-fields.ts';
import { OTHER_NAMES } from './other-names.ts';
import { check, PATHS, refusal } from './testing/requests.ts';

describe('what other dialects call a cost', () => {
  const PLACES = ['extra_body', 'options', 'parameters', 'generation_config', 'generationConfig', 'sampling_params', 'a_field_of_tomorrow'];
  const synonyms = Object.entries(OTHER_NAMES).flatMap(([path, others]) =>
    others.flatMap(({ use, names }) => names.map((name) => [path, name, use] as const)),
  );

  test('is in the table by each name that a known server reads', () => {
    const has = (path: string, use: string): readonly string[] => OTHER_NAMES[path]?.find((other) => other.use === use)?.names ?? [];
    expect(has('/v1/chat/completions', 'max_tokens')).toEqual(
      expect.arrayContaining(['max_output_tokens', 'max_new_tokens', 'num_predict', 'n_predict', 'max_length', 'max_tokens_to_sample']),
    );
    expect(has('/v1/chat/completions', 'n')).toEqual(expect.arrayContaining(['candidate_count', 'num_return_sequences', 'n_cmpl']));
    expect(has('/v1/responses', 'max_output_tokens')).toEqual(
      expect.arrayContaining(['max_tokens', 'max_completion_tokens', 'num_predict']),
    );
    for (const [path, others] of Object.entries(OTHER_NAMES))
      for (const { use, names } of others) {
        expect(COST_FIELDS[path]?.[use], `${path} ${use}`).toBeDefined();
        expect(names.filter((name) => Object.hasOwn(COST_FIELDS[path] ?? {}, name))).toEqual([]);
      }
  });

  test.each(synonyms)('%s refuses %s and says that it is %s, in every case and place', (path, name, use) => {
    const camel = name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
    for (const spelt of new Set([name, name.toUpperCase(), camel])) {
      // One that differs from a field of the operation in separators alone is that field.
      expect(check(path, { [spelt]: 7 })).toThrow(
        expect.objectContaining({ code: 'validation_failed', message: expect.stringContaining(`must be written \`${use}\``) }),
      );
      for (const place of PLACES)
        expect(check(path, { [place]: { deep: [{ [spelt]: 7 }] } })).toThrow(refusal('validation_failed', `${place}.deep[0].${spelt}`));
    }
  });

  test.each(
    PATHS.flatMap((path) =>
      Object.entries(COST_FIELDS[path] ?? {}).flatMap(([name, { kept }]) => (kept === 'counted' ? [[path, name] as const] : [])),
    ),
  )('%s refuses %s inside of a field that a provider may read as the request', (path, name) => {
    // At Google that is a field, whose members are looked at by themselves.
    for (const place of PLACES.filter((one) => !(path.startsWith('/v1beta/') && /^generation_?config$/i.test(one))))
      expect(check(path, { [place]: { [name]: 7 } })).toThrow(
        expect.objectContaining({ message: expect.stringContaining(`must be written \`${name}\`, at the top of the request`) }),
      );
  });

  test.each([
    ['/v1/chat/completions', { use_beam_search: true }, 'use_beam_search'],
    ['/v1/chat/completions', { options: { num_beams: 4 } }, 'options.num_beams'],
    ['/v1/chat/completions', { min_tokens: 4000 }, 'min_tokens'],
    ['/v1/chat/completions', { best_of: 4 }, 'best_of'],
    ['/v1/chat/completions', { extra_body: { best_of: 4 } }, 'extra_body.best_of'],
    ['/v1/chat/completions', { chat_template: '{% for i in range(9) %}x{% endfor %}' }, 'chat_template'],
    ['/v1/images/generations', { provider: { order: ['dear'] } }, 'provider'],
    ['/v1/chat/completions', { max_retries: 4 }, 'max_retries'],
    ['/v1/responses', { n: 4 }, 'n'],
    ['/v1/responses', { candidate_count: 4 }, 'candidate_count'],
    ['/v1/completions', { prompt_embeds: 'AAAA' }, 'prompt_embeds'],
  ])('%s %j has no price', (path, request, param) => {
    expect(check(path, request)).toThrow(refusal('unpriced_feature', param));
  });

  /** Names that are in no table, and the field that each reads as. */
  const READ_AS = {
    max_tokens: [
      ...['max_gen_toks', 'max_decode_len', 'max_len', 'output_tokens', 'token_limit', 'limit_tokens', 'completion_length', 'generate_len'],
      ...['max_reply_tokens', 'tokens', 'max_toks', 'token_count', 'token_budget', 'total_tokens', 'new_tokens', 'response_limit', 'len'],
      ...[
        'output_cap',
        'limit_output',
        'max_seq_len',
        'maximum_response_length',
        'maxDecodeLen',
        'genToks',
        'n_out_toks',
        'maxgentoks',
        'MAXGENTOKS',
        'maxlen',
        'outputtokens',
        'tokenlimit',
      ],
    ],
    n: [
      ...['samples', 'repeat', 'count', 'batch_size', 'num_answers', 'numAnswers', 'repeats', 'repetitions', 'repeat_count', 'variants'],
      ...[
        'num_variants',
        'total_samples',
        'answer_count',
        'rollouts',
        'copies',
        'answerCount',
        'beam_size',
        'number',
        'num',
        'max_choices',
        'batchsize',
        'BATCHSIZE',
        'n_best',
        'nbest',
        'num_trials',
        'number_of_results',
      ],
    ],
  } as const;
  test.each(Object.entries(READ_AS).flatMap(([use, names]) => names.map((name) => [name, use] as const)))(
    'by the name %s is refused with the field to write, %s, also as a string and in every place',
    (name, use) => {
      for (const amount of [99_999, '99999', ' 99_999 ', -1, '1e9']) {
        const told = expect.stringContaining(`must be written \`${use}\``);
        expect(check('/v1/chat/completions', { [name]: amount })).toThrow(
          expect.objectContaining({ code: 'validation_failed', message: told }),
        );
        for (const place of PLACES)
          expect(check('/v1/chat/completions', { [place]: { deep: [{ [name]: amount }] } })).toThrow(
            expect.objectContaining({ message: told }),
          );
      }
      for (const harmless of [null, true, 'abc', '', [], {}]) expect(check('/v1/chat/completions', { [name]: harmless })).not.toThrow();
    },
  );

  test('is refused without another field where the operation has none', () => {
    expect(check('/v1/responses', { samples: 4 })).toThrow(refusal('unpriced_feature', 'samples'));
    expect(check('/v1/videos', { options: { count: 4 } })).toThrow(refusal('unpriced_feature', 'options.count'));
    expect(check('/v1/embeddings', { max_reply_tokens: 4 })).toThrow(refusal('unpriced_feature', 'max_reply_tokens'));
    expect(check('/v1/chat/completions', { min_gen_toks: 4 })).toThrow(refusal('unpriced_feature', 'min_gen_toks'));
    expect(check('/v1/responses', { samples: 1, batch_size: '1', repeat: 0, min_gen_toks: 0 })).not.toThrow();
  });

  test.each([
    ['extra_body', 'not an object'],
    ['generation_config', '{"max_tokens":99999}'],
    ['generationConfig', '{"max_tokens":99999}'],
    ['options', 'max_tokens=99999'],
    ['parameters', 99_999],
    ['sampling_params', ['max_tokens', 99_999]],
    ['a_field_of_tomorrow', ' {"max_tokens": 99999}'],
    ['a_field_of_tomorrow', '[{"max_tokens": 99999}]'],
    ['a_field_of_tomorrow', '"{\\"max_tokens\\": 99999}"'],
  ])('inside of %s is not looked for in %j: only an object passes', (name, value) => {
    for (const path of ['/v1/chat/completions', '/v1/responses', '/v1/images/generations'])
      expect(check(path, { [name]: value })).toThrow(refusal('validation_failed', name));
  });

  test.each([
    ['/v1/chat/completions', { extra_body: { model: 'gpt-5-pro' } }, 'extra_body.model'],
    ['/v1/chat/completions', { extra_body: { models: ['gpt-5-pro'] } }, 'extra_body.models'],
  ])('%s %j asks for another model where nobody routes it', (path, request, param) => {
    expect(check(path, request)).toThrow(refusal('validation_failed', param));
  });

  test.each([
    ['/v1/chat/completions', { extra_body: { google: { thinking_config: { thinking_budget: 100, include_thoughts: true } } } }],
    ['/v1/chat/completions', { chat_template_kwargs: { enable_thinking: false, thinking: true } }],
    ['/v1/chat/completions', { ignore_eos: true, repetition_penalty: 1.1, min_tokens: 0, use_beam_search: false, top_k: 4 }],
    ['/v1/chat/completions', { guided_json: { properties: { n: {}, max_tokens: {}, model: {} } } }],
    ['/v1/chat/completions', { max_thinking_tokens: 10, truncate_prompt_tokens: 10, stop_token_ids: [1], return_token_ids: true }],
    ['/v1/chat/completions', { provider: { data_collection: 'deny', zdr: true, sort: 'price' } }],
    ['/v1/chat/completions', { extra_body: { max_tokens: null } }],
    ['/v1/embeddings', { truncate: 'END', task: 'search', late_chunking: true, batch_size: 32, max_length: 512 }],
    // vLLM
    [
      '/v1/chat/completions',
      {
        ...{
          repetition_penalty: 1.1,
          length_penalty: 1,
          stop_token_ids: [2],
          include_stop_str_in_output: false,
          skip_special_tokens: true,
        },
        ...{
          spaces_between_special_tokens: true,
          truncate_prompt_tokens: 99,
          prompt_logprobs: 3,
          allowed_token_ids: [1],
          bad_words: ['a'],
        },
        ...{ add_generation_prompt: true, continue_final_message: false, add_special_tokens: false, return_tokens_as_token_ids: true },
        ...{
          priority: 3,
          request_id: 'r',
          cache_salt: 's',
          thinking_token_budget: 99,
          kv_transfer_params: { tp_size: 2, remote_port: 80 },
        },
        ...{ structural_tag: '{"structures": []}', vllm_xargs: { my_processor: 3 }, logits_processors: ['a'], include_reasoning: true },
      },
    ],
    // Ollama and llama.cpp
    [
      '/v1/chat/completions',
      {
        options: {
          ...{ num_ctx: 8192, num_keep: 4, num_batch: 512, num_gpu: 1, main_gpu: 0, num_thread: 8, repeat_last_n: 64, repeat_penalty: 1.1 },
          ...{ mirostat: 2, mirostat_tau: 5, mirostat_eta: 0.1, tfs_z: 1, typical_p: 0.9, penalize_newline: true, use_mmap: true, seed: 1 },
        },
        ...{
          keep_alive: '5m',
          think: true,
          n_keep: 4,
          n_probs: 3,
          min_keep: 1,
          n_indent: 0,
          n_discard: 0,
          t_max_predict_ms: 0,
          id_slot: 1,
        },
        ...{
          dry_allowed_length: 2,
          dry_penalty_last_n: 64,
          cache_prompt: true,
          samplers: ['top_k'],
          timings_per_token: true,
          n_cache_reuse: 0,
        },
        ...{ repeat_penalty: 1.1, repeat_last_n: 64, return_tokens: true, post_sampling_probs: false, xtc_threshold: 0.1, top_n_sigma: 2 },
        format: { type: 'object', properties: { count: { type: 'integer', maxLength: 9 } } },
      },
    ],
    // SGLang, Text Generation Inference and Hugging Face
    [
      '/v1/chat/completions',
      {
        ...{
          no_stop_trim: false,
          separate_reasoning: true,
          regex: '{"a": \\d+}',
          ebnf: 'root ::= "a"',
          rid: 'r',
          return_hidden_states: false,
        },
        ...{ do_sample: true, top_n_tokens: 4, decoder_input_details: false, watermark: false, no_repeat_ngram_size: 3, pad_token_id: 0 },
        ...{ eos_token_id: 2, bos_token_id: 1, encoder_no_repeat_ngram_size: 0, penalty_alpha: 0.6, early_stopping: true, token: '12345' },
      },
    ],
    // OpenRouter, LiteLLM, Fireworks, Together
    [
      '/v1/chat/completions',
      {
        ...{ transforms: ['middle-out'], usage: { include: true }, top_a: 0.1, session_id: 's', trace: { trace_id: 't', span_name: 's' } },
        ...{
          litellm_session_id: 's',
          litellm_trace_id: 't',
          cache: { 'no-cache': true, ttl: 60, 's-maxage': 60 },
          tags: ['a'],
          timeout: 60,
        },
        ...{ guardrails: ['g'], drop_params: true, litellm_metadata: { trace_user_id: 'u' }, prompt_truncate_len: 100, raw_output: false },
        ...{
          context_length_exceeded_behavior: 'truncate',
          reasoning_history: 'preserved',
          perf_metrics_in_response: true,
          compliance: 'a',
        },
        provider: { max_price: { prompt: 1, completion: 2 }, sort: 'price' },
      },
    ],
    // Google, Anthropic, Mistral, Groq, Alibaba, NVIDIA, Perplexity, Cohere
    [
      '/v1/chat/completions',
      {
        extra_body: { google: { thinking_config: { thinking_budget: 800, include_thoughts: true }, safety_settings: [{ category: 'c' }] } },
        generation_config: {
          topK: 4,
          topP: 1,
          seed: 1,
          responseModalities: ['TEXT'],
          responseMimeType: 'application/json',
          mediaResolution: 'LOW',
        },
        ...{
          thinking: { type: 'enabled', budget_tokens: 2000 },
          output_config: { effort: 'low' },
          random_seed: 4,
          reasoning_format: 'parsed',
        },
        ...{ thinking_budget: 100, vl_high_resolution_images: false, result_format: 'message', incremental_output: true },
        ...{
          nvext: { max_thinking_tokens: 99 },
          return_images: false,
          search_domain_filter: ['a.com'],
          citation_options: { mode: 'fast' },
          k: 4,
          p: 0.5,
        },
        ...{ response_modalities: ['TEXT'], modalities: ['text'], previous_response_id: null, conversation: null, files: null },
      },
    ],
    ['/v1/images/generations', { max_sequence_length: 512, guidance_scale: 7, negative_prompt: 'a', aspect_ratio: '1:1' }],
    ['/v1/audio/transcriptions', { max_len: 60, beam_size: 1, vad_filter: true, hotwords: 'a' }],
  ])('%s %j costs nothing of its own and passes', (path, request) => {
    expect(check(path, request)).not.toThrow();
  });
});
