import { describe, expect, test } from 'vitest';
import { check, PATHS, refusal } from './testing/requests.ts';

describe('a name that is in no table', () => {
  const PLACES_OF_FIELDS = ['extra_body', 'options', 'provider_options', 'a_field_of_tomorrow'];
  const CHAT_LIKE = ['/v1/chat/completions', '/v1/responses', '/v1/completions'];
  const words = (text: string): string[] => text.split(' ');
  const refused = (path: string, names: readonly string[], values: readonly unknown[]) =>
    names.flatMap((name) => values.map((value) => [path, name, value] as const));

  test.each([
    ...CHAT_LIKE.flatMap((path) => [
      ...refused(
        path,
        words(
          'enable_web_search use_search with_search_enhance search search_mode search_enable online web use_web grounding deep_research ' +
            'enableWebSearch websearch rag retrieval browse google_search internet url_context code_execution image_generation',
        ),
        [true, 'on', 'auto', {}, { enabled: true }, { mode: 'on' }, 1],
      ),
      ...refused(path, ['disable_search', 'no_search'], [false, 0, 'false']),
      ...refused(
        path,
        words(
          'url urls file thread_id assistant memory_id knowledge_base_id collection_id skills toolkits builtin_tools server_tools ' +
            'image_url imageUrls video audio_url thread knowledge agent_id kb_ids bot_id',
        ),
        ['x', ['x'], { id: 'x' }],
      ),
      ...refused(
        path,
        words('engine model_name model_id modelName model_override deployment deployment_id fallback_models draft_model loras'),
        ['x', ['x']],
      ),
    ]),
    ...['/v1/chat/completions', '/v1/completions'].flatMap((path) =>
      refused(path, words('best_of_n num_return return_n replicas runs iterations repetition_n stream_n predict'), [4, '4']),
    ),
    ...refused('/v1/chat/completions', ['images'], [['x'], 'x']),
    ...refused('/v1/chat/completions', ['tier', 'processing_tier', 'priority'], ['priority', 'High']),
    ...refused('/v1/chat/completions', ['quantity', 'amount'], [4, '4']),
    ...refused('/v1/chat/completions', ['response_modality', 'modality'], ['audio', ['image']]),
    ...refused('/v1/images/generations', words('output_resolution size_preset dimensions'), ['4k', '4096x4096']),
    ...refused('/v1/images/generations', words('scale upscale frames num_inference_steps steps upscale_factor'), [4, '4']),
    ...refused('/v1/images/generations', words('hd upscale'), [true, 'true']),
    ...refused('/v1/images/generations', words('image_url reference_images images'), [['x']]),
    ...refused('/v1/videos', words('length frames fps frame_rate'), [60, '60']),
    ...refused('/v1/videos', words('quality generate_audio upscale sound mode'), ['high', true]),
    ...refused('/v1/audio/speech', words('quality sample_rate'), ['hd', 96_000]),
    ...refused('/v1/audio/transcriptions', words('n best_of beam_size'), [5, '5']),
    ...refused('/v1/audio/transcriptions', words('diarize diarization speaker_labels'), [true, 'true']),
    ...refused('/v1/audio/speech', ['engine'], ['long-form']),
    ...refused('/v1/embeddings', ['model_name', 'image_url'], ['x']),
    ...PATHS.filter((path) => !path.startsWith('/v1/videos/') && !/compact|moderations/.test(path)).flatMap((path) =>
      refused(path, words('aws_region_name region vertex_location inferenceGeo data_residency allowed_model_region'), ['us', 'eu-west-1']),
    ),
    ...CHAT_LIKE.flatMap((path) => [
      ...refused(path, ['performanceConfig', 'performance_config'], [{ latency: 'optimized' }]),
      ...refused(path, ['guardrailConfig', 'guardrail_config'], [{ guardrailIdentifier: 'x' }]),
      ...refused(path, ['image_config'], [{ image_size: '4K' }]),
      ...refused(path, ['caching'], [{ type: 'enabled' }]),
    ]),
    ...refused('/v1/images/generations', ['rendering_speed'], ['QUALITY']),
  ])('%s refuses %s: %j, in every place', (path, name, value) => {
    expect(check(path, { [name]: value })).toThrow(expect.objectContaining({ status: 422 }));
    for (const place of PLACES_OF_FIELDS)
      expect(check(path, { [place]: { deep: [{ [name]: value }] } })).toThrow(expect.objectContaining({ status: 422 }));
  });

  test.each<[string, object]>([
    ...CHAT_LIKE.flatMap((path): [string, object][] => [
      [path, { search_parameters: { mode: 'off' } }],
      [path, { search_parameters: { mode: 'off', sources: [{ type: 'web' }] }, web_search: { enable: false }, enable_search: 'false' }],
      [
        path,
        {
          search: false,
          online: null,
          grounding: 'none',
          deep_research: 'off',
          use_search: 'disabled',
          rag: [],
          web: { type: 'disabled' },
        },
      ],
      [path, { disable_search: true, search_domain_filter: ['a.com'], search_recency_filter: 'week' }],
      [path, { metadata: { thread_id: 't', conversation_id: 'c', model_name: 'm', url: 'u' } }],
      [path, { litellm_metadata: { thread_id: 't', search: 's' }, trace: { model_name: 'm', url: 'u' }, extra_headers: { url: 'u' } }],
      [path, { webhook_url: 'u', callback_url: 'u', file: null, urls: [], model_kwargs: { a: 1 }, options: { num_thread: 8 }, threads: 4 }],
      [path, { region: 'global', location: 'here', caching: { type: 'disabled' }, guardrails: ['a'] }],
      [path, { response_modality: 'text', repeat_last_n: 64, top_n: 4, best_of_n: 1, assistant_prefix: 'a', priority: 3, tier: 'default' }],
    ]),
    [
      '/v1/images/generations',
      { hd: false, upscale: false, scale: 1, frames: 1, guidance_scale: 7, enhance_prompt: true, dimensions: null, output_quality: 80 },
    ],
    [
      '/v1/videos',
      { generate_audio: false, quality: 'standard', mode: 'std', sound: 'off', negative_prompt: 'a', image_url: 'x', first_frame: 'x' },
    ],
    ['/v1/audio/speech', { quality: 'standard', pitch: 2, emotion: 'happy', ref_audio: 'x', chunk_length: 200 }],
    ['/v1/audio/transcriptions', { diarize: false, beam_size: 1, vad_filter: true }],
  ])('%s passes %j', (path, request) => {
    expect(check(path, request)).not.toThrow();
  });

  test('that is a schema’s opens no place in an unknown field', () => {
    const asked = (request: object) => check('/v1/chat/completions', request);
    expect(asked({ foo: { json_schema: { max_tokens: 99_999 } } })).toThrow(refusal('validation_failed', 'foo.json_schema.max_tokens'));
    expect(asked({ foo: { stop: [{ deep: { n_predict: '99999' } }] } })).toThrow(expect.objectContaining({ status: 422 }));
    const schema = {
      properties: { max_tokens: { type: 'integer', default: 9 }, n: { type: 'string', maxLength: 9 }, model: {}, samples: true },
      required: ['n'],
      default: { n: 4, max_tokens: 9 },
    };
    expect(asked({ output_config: { format: { type: 'json_schema', schema } } })).not.toThrow();
    expect(asked({ extra_body: { guided_json: schema, metadata: { n: 4 } }, nvext: { guided_json: schema } })).not.toThrow();
  });

  test('JSON in a string passes in what describes the request, as Codex CLI writes it', () => {
    expect(check('/v1/responses', { client_metadata: { 'x-codex-turn-metadata': '{"turn_id":"1","sandbox":"none"}' } })).not.toThrow();
    expect(check('/v1/responses', { a_field_of_tomorrow: { settings: '{"max_output_tokens":9}' } })).toThrow('not JSON in a string');
  });
});
