import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  ChatCompletionRequest,
  CompactRequest,
  CompletionRequest,
  contract,
  EmbeddingRequest,
  ImageEditRequest,
  ImageGenerationRequest,
  ImageVariationRequest,
  ModerationRequest,
  ResponseRequest,
  SpeechRequest,
  TranscriptionRequest,
  TranslationRequest,
  VideoCharacterRequest,
  VideoEditRequest,
  VideoExtensionRequest,
  VideoRemixRequest,
  VideoRequest,
} from '@tallygate/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { unpricedItem } from '../responses/unpriced-item.ts';
import { COST_FIELDS } from './cost-fields.ts';
import { costCheckOf } from './index.ts';
import { OTHER_NAMES } from './other-names.ts';
import { CHAT_TOOLS, RESPONSE_TOOLS } from './tool-rules.ts';

const SDK = join(dirname(fileURLToPath(import.meta.resolve('openai'))), 'resources');
const typesIn = (file: string): string => readFileSync(join(SDK, `${file}.d.ts`), 'utf8');

/** The members of an interface of OpenAI's SDK, which is generated from its OpenAPI document. */
function membersOf(file: string, name: string): string[] {
  const body = new RegExp(`export interface ${name}\\b[^{]*\\{\\n(.*?)\\n\\}`, 's').exec(typesIn(file))?.[1];
  if (body === undefined) throw new Error(`${file} has no interface ${name}`);
  return [...body.matchAll(/^ {4}(\w+)\??:/gm)].map(([, member = '']) => member);
}

/** By the path of the operation: our schema, and OpenAI's interface of the same request. */
const REQUESTS = {
  '/v1/chat/completions': [ChatCompletionRequest, 'chat/completions/completions', 'ChatCompletionCreateParamsBase'],
  '/v1/responses': [ResponseRequest, 'responses/responses', 'ResponseCreateParamsBase'],
  '/v1/responses/compact': [CompactRequest, 'responses/responses', 'ResponseCompactParams'],
  '/v1/completions': [CompletionRequest, 'completions', 'CompletionCreateParamsBase'],
  '/v1/embeddings': [EmbeddingRequest, 'embeddings', 'EmbeddingCreateParams'],
  '/v1/moderations': [ModerationRequest, 'moderations', 'ModerationCreateParams'],
  '/v1/images/generations': [ImageGenerationRequest, 'images', 'ImageGenerateParamsBase'],
  '/v1/images/edits': [ImageEditRequest, 'images', 'ImageEditParamsBase'],
  '/v1/images/variations': [ImageVariationRequest, 'images', 'ImageCreateVariationParams'],
  '/v1/audio/speech': [SpeechRequest, 'audio/speech', 'SpeechCreateParams'],
  '/v1/audio/transcriptions': [TranscriptionRequest, 'audio/transcriptions', 'TranscriptionCreateParamsBase'],
  '/v1/audio/translations': [TranslationRequest, 'audio/translations', 'TranslationCreateParams'],
  '/v1/videos': [VideoRequest, 'videos', 'VideoCreateParams'],
  '/v1/video/generations': [VideoRequest, 'videos', 'VideoCreateParams'],
  '/v1/videos/:video_id/remix': [VideoRemixRequest, 'videos', 'VideoRemixParams'],
  '/v1/videos/edits': [VideoEditRequest, 'videos', 'VideoEditParams'],
  '/v1/videos/extensions': [VideoExtensionRequest, 'videos', 'VideoExtendParams'],
  '/v1/videos/characters': [VideoCharacterRequest, 'videos', 'VideoCreateCharacterParams'],
} as const;
const PATHS = Object.keys(REQUESTS) as (keyof typeof REQUESTS)[];

const check = (path: string, request: object) => () => costCheckOf(path)(request);
const refusal = (code: string, param: string) => expect.objectContaining({ code, extras: expect.objectContaining({ param }) });

describe('the table of cost fields', () => {
  test('has every operation of the contract that runs a model', () => {
    const running = Object.values(contract.inference).filter(
      (route) => route.method === 'POST' && route.headers && 'x-agent-max-budget' in route.headers,
    );
    expect(running.map(({ path }) => path).sort()).toEqual(Object.keys(COST_FIELDS).sort());
    expect(PATHS.toSorted()).toEqual(Object.keys(COST_FIELDS).sort());
  });

  test.each(PATHS)('has every field that the contract names for %s', (path) => {
    const [schema] = REQUESTS[path];
    expect(Object.keys(schema.shape).filter((name) => !Object.hasOwn(COST_FIELDS[path] ?? {}, name))).toEqual([]);
  });

  test.each(PATHS)('has every field of OpenAI’s document for %s', (path) => {
    const [, file, name] = REQUESTS[path];
    const members = membersOf(file, name);
    expect(members.length).toBeGreaterThan(0);
    expect(members.filter((member) => !Object.hasOwn(COST_FIELDS[path] ?? {}, member))).toEqual([]);
  });

  test('has every type of tool in OpenAI’s document', () => {
    const union = /export type Tool = ([^;]+);/.exec(typesIn('responses/responses'))?.[1] ?? '';
    const names = union.split(' | ').map((name) => name.replace('Tool.', ''));
    const types = names.flatMap((name) => {
      const body = new RegExp(`interface ${name}\\b[^{]*\\{(.*?)\\n {0,4}\\}`, 's').exec(typesIn('responses/responses'))?.[1] ?? '';
      return [...(/^ +type: ([^;]+);/m.exec(body)?.[1] ?? '').matchAll(/'([^']+)'/g)].map(([, type = '']) => type);
    });
    expect(types.length).toBeGreaterThanOrEqual(names.length);
    expect(types.filter((type) => !RESPONSE_TOOLS.has(type))).toEqual([]);
    expect([...CHAT_TOOLS.keys()]).toEqual(['function', 'custom']);
  });

  test('says of every field why it is kept as it is', () => {
    for (const [path, fields] of Object.entries(COST_FIELDS))
      for (const [name, { how, kept, unpriced }] of Object.entries(fields)) {
        expect(how.length, `${path} ${name}`).toBeGreaterThan(3);
        if (kept === 'refused') expect(unpriced, `${path} ${name}`).toBeDefined();
        if (kept === 'free') expect(unpriced, `${path} ${name}`).toBeUndefined();
      }
  });
});

describe('a request for what no price holds', () => {
  test.each(
    PATHS.filter((path) => !path.startsWith('/v1/videos/') && !/moderations/.test(path)).flatMap((path) => [
      [path, 'provider', { order: ['a'] }],
      [path, 'fallbacks', ['a']],
      [path, 'route', 'fallback'],
      [path, 'num_retries', 3],
      [path, 'custom_llm_provider', 'a'],
      [path, 'api_base', 'http://a'],
    ]),
  )('%s refuses a choice among providers: %s', (path, name, value) => {
    expect(check(String(path), { [String(name)]: value })).toThrow(expect.objectContaining({ status: 422 }));
  });

  test.each(
    Object.entries(COST_FIELDS).flatMap(([path, fields]) =>
      Object.entries(fields).flatMap(([name, { kept }]) => (kept === 'refused' ? [[path, name] as const] : [])),
    ),
  )('%s is refused by the field %s', (path, name) => {
    const refused = [{ anything: 1 }, ['audio'], 'something', 7].filter((value) => {
      try {
        costCheckOf(path)({ [name]: value });
        return false;
      } catch (problem) {
        expect(problem).toMatchObject({ code: 'unpriced_feature' });
        return true;
      }
    });
    expect(refused.length).toBeGreaterThan(0);
    expect(check(path, { [name]: null })).not.toThrow();
  });

  const hosted = [
    ...[...RESPONSE_TOOLS].flatMap(([type, { runBy }]) => (runBy === 'provider' ? [{ type }] : [])),
    { type: 'shell', environment: { type: 'container_auto' } },
    { type: 'shell', environment: { type: 'container_reference', container_id: 'c' } },
    { type: 'tool_search', execution: 'server' },
    { type: 'namespace', name: 'n', tools: [{ type: 'web_search' }] },
    { type: 'made_up_tomorrow' },
    { type: 'Function', name: 'f' },
  ];
  test.each(hosted)('refuses the tool $type $environment.type on responses', (tool) => {
    const tools = [{ type: 'function', name: 'f' }, tool];
    const param = tool.type === 'namespace' ? 'tools[1].tools[0]' : 'tools[1]';
    expect(check('/v1/responses', { tools })).toThrow(refusal('unpriced_feature', param));
  });

  test.each([
    { type: 'function', name: 'f' },
    { type: 'custom', name: 'c' },
    { type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'f' }] },
    { type: 'local_shell' },
    { type: 'apply_patch' },
    { type: 'shell', environment: { type: 'local' } },
    { type: 'tool_search', execution: 'client' },
  ])('passes the tool $type, which the caller runs', (tool) => {
    expect(check('/v1/responses', { tools: [tool], tool_choice: { type: tool.type } })).not.toThrow();
  });

  test.each<[string, object, string]>([
    ['/v1/chat/completions', { tools: [{ type: 'web_search' }] }, 'tools[0]'],
    ['/v1/chat/completions', { tools: [{ type: 'builtin_function', function: { name: '$web_search' } }] }, 'tools[0]'],
    ['/v1/chat/completions', { extra_body: { google: { cached_content: 'c' } } }, 'extra_body.google.cached_content'],
    ['/v1/chat/completions', { messages: [{ role: 'assistant', audio: { id: 'a' } }] }, 'messages[0].audio'],
    [
      '/v1/chat/completions',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x', file_id: 'f' } }] }] },
      'messages[0].content[0].image_url.file_id',
    ],
    ['/v1/chat/completions', { prompt: { id: 'pmpt_1' } }, 'prompt'],
    ['/v1/responses', { reasoning: { mode: 'pro' } }, 'reasoning.mode'],
    ['/v1/responses', { prompt_cache_options: { ttl: '12h' } }, 'prompt_cache_options.ttl'],
    ['/v1/responses', { prompt_cache_options: { comparison_response_id: 'resp_1' } }, 'prompt_cache_options.comparison_response_id'],
    ['/v1/responses', { tool_choice: { type: 'mcp', server_label: 's' } }, 'tool_choice'],
    ['/v1/responses', { tool_choice: { type: 'allowed_tools', tools: [{ type: 'image_generation' }] } }, 'tool_choice.tools[0]'],
    ['/v1/images/generations', { quality: 'max' }, 'quality'],
    ['/v1/videos', { n: 2 }, 'n'],
    ...['/v1/chat/completions', '/v1/responses', '/v1/completions'].flatMap((path): [string, object, string][] => [
      [path, { files: ['file-1'] }, 'files'],
      [path, { file_ids: ['file-1'] }, 'file_ids'],
      [path, { response_modalities: ['TEXT', 'IMAGE'] }, 'response_modalities'],
      [path, { generation_config: { responseModalities: ['AUDIO'] } }, 'generation_config.responseModalities'],
      [path, { enable_search: true }, 'enable_search'],
    ]),
    ...['/v1/chat/completions', '/v1/completions'].flatMap((path): [string, object, string][] => [
      [path, { previous_response_id: 'resp_1' }, 'previous_response_id'],
      [path, { conversation: 'conv_1' }, 'conversation'],
      [path, { extra_body: { conversation: 'conv_1' } }, 'extra_body.conversation'],
    ]),
  ])('%s %j is refused where it is asked for', (path, request, param) => {
    expect(check(path, request)).toThrow(refusal('unpriced_feature', param));
  });

  test.each([
    ['/v1/chat/completions', { type: 'function', function: { name: '$web_search' } }, 'function.name'],
    ['/v1/chat/completions', { type: 'function', function: { name: ' $web_search' } }, 'function.name'],
    ['/v1/chat/completions', { type: 'custom', custom: { name: '$code' } }, 'custom.name'],
    ['/v1/chat/completions', { type: 'function', function: { name: 'f', max_uses: 9 } }, 'function.max_uses'],
    ['/v1/chat/completions', { type: 'function', function: { name: 'f' }, web_search: { enable: true } }, 'web_search'],
    ['/v1/chat/completions', { type: 'function', function: { name: 'f' }, google_search: {} }, 'google_search'],
    ['/v1/responses', { type: 'function', name: '$web_search' }, 'name'],
    ['/v1/responses', { type: 'function', name: 'f', googleSearch: {} }, 'googleSearch'],
    ['/v1/responses', { type: 'namespace', name: 'n', tools: [{ type: 'function', name: '$f' }] }, 'tools[0].name'],
  ])('%s refuses the function tool %j where it is more than a function', (path, tool, param) => {
    expect(check(path, { tools: [tool] })).toThrow(refusal('unpriced_feature', `tools[0].${param}`));
    if (path === '/v1/responses')
      expect(unpricedItem([{ type: 'tool_search_output', tools: [tool] }])?.param).toBe(`input[0].tools[0].${param}`);
  });

  test.each([
    [{ file_ids: ['file-1'] }, 'file_ids'],
    [{ attachments: [{ file_id: 'file-1' }] }, 'attachments'],
    [{ content: [{ type: 'text', text: 'a', file_id: 'file-1' }] }, 'content[0].file_id'],
    [{ content: [{ type: 'text', text: 'a', files: ['file-1'] }] }, 'content[0].files'],
  ])('files that only the provider has are refused beside the content of a message too: %j', (named, param) => {
    const message = { role: 'user', content: 'a', ...named };
    expect(check('/v1/chat/completions', { messages: [message] })).toThrow(refusal('unpriced_feature', `messages[0].${param}`));
    expect(unpricedItem([message])?.param).toBe(`input[0].${param}`);
    const none = { role: 'user', content: [{ type: 'text', text: 'a', file_id: null }], files: [], attachments: null };
    expect(check('/v1/chat/completions', { messages: [none], files: [] })).not.toThrow();
    expect(unpricedItem([none])).toBeUndefined();
  });

  test('refuses a function of an older request where it is more than a function', () => {
    const asked = (one: object) => check('/v1/chat/completions', { functions: [{ name: 'f', parameters: {} }, one] });
    expect(asked({ name: '$web_search' })).toThrow(refusal('unpriced_feature', 'functions[1].name'));
    expect(asked({ name: 'g', web_search: {} })).toThrow(refusal('unpriced_feature', 'functions[1].web_search'));
    expect(asked({ name: 'g', description: 'd' })).not.toThrow();
  });

  test.each([
    ['FunctionTool', 'function'],
    ['CustomTool', 'custom'],
    ['NamespaceTool', 'namespace'],
    ['ApplyPatchTool', 'apply_patch'],
  ])('passes every member of OpenAI’s %s', (name, type) => {
    const members = membersOf('responses/responses', name).filter((member) => member !== 'tools');
    expect(members).toContain('type');
    const tool = { ...Object.fromEntries(members.map((member) => [member, {}])), type, name: 'f' };
    expect(check('/v1/responses', { tools: [tool] })).not.toThrow();
  });

  test.each([
    { type: 'function', function: { name: 'f', description: 'd', parameters: {}, strict: true }, cache_control: { type: 'ephemeral' } },
    { type: 'function', function: { name: 'f', parameters: {}, cache_control: { type: 'ephemeral' } }, defer_loading: true },
    { type: 'function', function: { name: 'f', parameters: {}, return: { type: 'string' } }, input_examples: [{}], anything: null },
    { type: 'function', function: { name: 'us$', parameters: { $schema: 's', $defs: {}, properties: { web_search: {} } } } },
    { type: 'custom', custom: { name: 'c', description: 'd', format: { type: 'text' } } },
  ])('passes the function tool %j as SDKs write it', (tool) => {
    expect(check('/v1/chat/completions', { tools: [tool] })).not.toThrow();
  });

  test('a cache for twelve hours is refused with the value that has no price', () => {
    expect(check('/v1/responses', { prompt_cache_options: { ttl: '12h' } })).toThrow(
      'The catalogue has no price for `ttl: "12h"` in `prompt_cache_options`, so no cap could hold it: remove `prompt_cache_options.ttl`.',
    );
  });

  test.each([
    ['/v1/chat/completions', { service_tier: 'flex', modalities: ['text'], best_of: 1, web_search: false, reasoning: { effort: 'low' } }],
    ['/v1/chat/completions', { enable_search: false, prompt_cache_options: { mode: 'explicit', ttl: '30m' }, tool_choice: 'auto' }],
    ['/v1/responses', { prompt_cache_retention: '24h' }],
    ['/v1/responses', { service_tier: 'auto', reasoning: { effort: 'high', mode: 'standard' }, tool_choice: 'required' }],
    ['/v1/chat/completions', { a_field_of_tomorrow: { any: ['thing'] } }],
    ['/v1/images/generations', { quality: 'auto' }],
  ])('%s %j passes', (path, request) => {
    expect(check(path, request)).not.toThrow();
  });
});

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
    for (const place of PLACES)
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
    ['/v1/chat/completions', { provider: { order: ['dear'] } }, 'provider.order'],
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
        ...{ thinking_budget: 100, vl_high_resolution_images: true, result_format: 'message', incremental_output: true, min_pixels: 4 },
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

describe('content that is not where it is counted', () => {
  const image_url = { url: 'https://a.example/b.png' };
  const text = { type: 'text', text: 'a' };

  test.each<[object, string]>([
    [{ ...text, image_url }, 'image_url'],
    [{ ...text, video_url: { url: 'x' } }, 'video_url'],
    [{ ...text, input_audio: { data: 'AAAA', format: 'wav' } }, 'input_audio'],
    [{ ...text, file: { file_id: 'file-1' } }, 'file'],
    [{ ...text, images: ['x'] }, 'images'],
    [{ ...text, a_member_of_tomorrow: 'x' }, 'a_member_of_tomorrow'],
    [{ type: 'refusal', refusal: 'no', image_url }, 'image_url'],
    [{ type: 'image_url', image_url, text: 'a' }, 'text'],
    [{ type: 'image_url', image_url, min_pixels: 9_999_999 }, 'min_pixels'],
    [{ type: 'image_url', image_url: { ...image_url, video_url: 'x' } }, 'image_url.video_url'],
    [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' }, file: { file_id: 'f' } }, 'file'],
    [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav', url: 'x' } }, 'input_audio.url'],
    [{ type: 'video_url', video_url: { url: 'x', file_id: 'f' } }, 'video_url.file_id'],
  ])('a part of a chat completion has the members of its type alone: %j', (part, param) => {
    const messages = [{ role: 'user', content: [text, part] }];
    expect(check('/v1/chat/completions', { messages })).toThrow(refusal('unpriced_feature', `messages[0].content[1].${param}`));
  });

  test.each<[object, string]>([
    [{ type: 'input_text', text: 'a', image_url: 'x' }, 'image_url'],
    [{ type: 'output_text', text: 'a', file_id: 'f' }, 'file_id'],
    [{ type: 'input_image', image_url: 'x', file_data: 'y' }, 'file_data'],
    [{ type: 'input_image', image_url: 'x', input_audio: {} }, 'input_audio'],
    [{ type: 'computer_screenshot', image_url: 'x', file_url: 'y' }, 'file_url'],
  ])('a part of a response has the members of its type alone: %j', (part, param) => {
    for (const list of ['content', 'output', 'summary'])
      expect(unpricedItem([{ type: 'message', [list]: [part] }])?.param).toBe(`input[0].${list}[0].${param}`);
    expect(unpricedItem([{ type: 'computer_call_output', output: part }])?.param).toBe(`input[0].output.${param}`);
    expect(unpricedItem([{ ...part }])?.param).toBe(`input[0].${param}`);
  });

  const aside = {
    cache_control: { type: 'ephemeral' },
    prompt_cache_breakpoint: { mode: 'explicit' },
    annotations: [],
    id: 'p',
    file: null,
  };
  test.each([
    { ...text, ...aside, logprobs: [], parsed: { a: 1 }, image_url: null },
    { type: 'refusal', refusal: 'no', ...aside },
    { type: 'image_url', image_url: { ...image_url, detail: 'low', format: 'image/png', file_id: null }, ...aside, uuid: 'u' },
    { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' }, ...aside },
    { type: 'video_url', video_url: { url: 'x', fps: 2 } },
    { type: 'file', file: { file_id: 'f', filename: 'a.pdf', file_data: 'x' }, cache_control: { type: 'ephemeral' } },
    { type: 'input_text', text: 'a', ...aside },
    { type: 'output_text', text: 'a', ...aside, parsed: { a: 1 } },
    { type: 'input_image', image_url: 'x', detail: 'low' },
    { type: 'input_file', file_id: 'f', filename: 'a.pdf', detail: 'low' },
  ])('passes a part with what SDKs send beside its content: %j', (part) => {
    expect(check('/v1/chat/completions', { messages: [{ role: 'user', content: [part] }] })).not.toThrow();
    expect(unpricedItem([{ type: 'message', content: [part] }])).toBeUndefined();
  });

  test.each(['images', 'videos', 'audios', 'documents', 'image_url', 'imageUrls', 'video', 'file', 'media', 'input_audio', 'url'])(
    'a message or an item has no %s beside its content',
    (name) => {
      const asked = { role: 'user', content: 'a', [name]: ['x'] };
      expect(check('/v1/chat/completions', { messages: [asked] })).toThrow(expect.objectContaining({ status: 422 }));
      expect(unpricedItem([asked])?.param).toBe(`input[0].${name}`);
      expect(unpricedItem([{ type: 'function_call_output', call_id: 'c', output: 'a', [name]: ['x'] }])?.param).toBe(`input[0].${name}`);
      const asPart = { ...asked, type: 'input_image' };
      expect(check('/v1/chat/completions', { messages: [asPart] })).toThrow(expect.objectContaining({ status: 422 }));
      expect(unpricedItem([asPart])?.param).toBe(`input[0].${name}`);
      const none = { role: 'user', content: 'a', [name]: null };
      expect(check('/v1/chat/completions', { messages: [none] })).not.toThrow();
    },
  );

  test('passes what providers add to an answer, in the next request', () => {
    const message = {
      ...{ role: 'assistant', content: 'a', refusal: null, annotations: [], audio: null, function_call: null, reasoning_content: 'r' },
      ...{ reasoning_details: [{ type: 'reasoning.text', text: 'r' }], provider_specific_fields: { a: 1 }, parsed: null, prefix: true },
      ...{ extra_content: { google: { thought_signature: 's' } }, tool_plan: 'p', weight: 1 },
    };
    expect(check('/v1/chat/completions', { messages: [message] })).not.toThrow();
    expect(unpricedItem([message])).toBeUndefined();
  });

  test('a prediction is of text alone', () => {
    const asked = (content: unknown) => check('/v1/chat/completions', { prediction: { type: 'content', content } });
    expect(asked([text, { type: 'image_url', image_url }])).toThrow(refusal('unpriced_feature', 'prediction.content[1]'));
    expect(asked([{ ...text, image_url }])).toThrow(refusal('unpriced_feature', 'prediction.content[0].image_url'));
    expect(asked([text])).not.toThrow();
    expect(asked('a')).not.toThrow();
  });

  test('a document is text of the request', () => {
    const asked = (documents: unknown) => check('/v1/chat/completions', { documents });
    for (const document of [
      'https://a.example/b.pdf',
      ' data:application/pdf;base64,AA',
      { url: 'x' },
      { file_id: 'f' },
      { data: { image: 'x' } },
      7,
    ])
      expect(asked(['a', document])).toThrow(refusal('unpriced_feature', 'documents[1]'));
    expect(asked('file-1')).toThrow(refusal('unpriced_feature', 'documents'));
    expect(
      asked(['a', 'Data: b', 'https://a.example says c', { id: '1', data: { text: 'b', title: 'c' } }, { title: 'd', snippet: 'e' }]),
    ).not.toThrow();
  });

  test('a local shell has skills of the caller’s alone', () => {
    const asked = (skills: unknown) => check('/v1/responses', { tools: [{ type: 'shell', environment: { type: 'local', skills } }] });
    const mine = { name: 's', description: 'd', path: '/s' };
    expect(asked([mine, { type: 'skill_reference', skill_id: 'k' }])).toThrow(refusal('unpriced_feature', 'tools[0]'));
    expect(asked([{ ...mine, skill_id: 'k' }])).toThrow(refusal('unpriced_feature', 'tools[0]'));
    expect(asked('k')).toThrow(refusal('unpriced_feature', 'tools[0]'));
    expect(asked([mine])).not.toThrow();
    expect(asked(null)).not.toThrow();
  });
});

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
});

describe('a name that a lenient decoder may read as a known one', () => {
  /** The same letters as another name writes them: in other cases, with other separators, in other forms of Unicode. */
  const variants = (name: string): fc.Arbitrary<string> =>
    fc
      .tuple(
        ...[...name].map((letter) =>
          letter === '_'
            ? fc.constantFrom('_', '', '-', '.', '__', '\u200b_')
            : fc.constantFrom(
                letter,
                letter.toUpperCase(),
                letter === 's' ? 'ſ' : letter === 'k' ? 'K' : String.fromCharCode(letter.charCodeAt(0) + 0xfee0),
              ),
        ),
      )
      .map((letters) => letters.join(''))
      .filter((variant) => variant !== name);

  test.each(PATHS)('%s refuses it and says the right one', (path) => {
    const names = Object.keys(COST_FIELDS[path] ?? {}).filter((name) => /^[a-z_]+$/.test(name));
    fc.assert(
      fc.property(
        fc.constantFrom(...names).chain((name) => fc.tuple(fc.constant(name), variants(name))),
        ([name, variant]) => {
          if (Object.hasOwn(COST_FIELDS[path] ?? {}, variant)) return;
          expect(check(path, { [variant]: 1 })).toThrow(
            expect.objectContaining({ code: 'validation_failed', message: expect.stringContaining(`must be written \`${name}\``) }),
          );
        },
      ),
      { numRuns: 60 },
    );
  });

  test.each([
    ['/v1/chat/completions', { tools: [{ type: 'function', Function: {} }] }, 'tools[0].Function'],
    ['/v1/chat/completions', { tools: [{ Type: 'web_search', type: 'function' }] }, 'tools[0].Type'],
    ['/v1/chat/completions', { response_format: { type: 'text', jsonSchema: {} } }, 'response_format.jsonSchema'],
    ['/v1/chat/completions', { stream_options: { includeUsage: false } }, 'stream_options.includeUsage'],
    ['/v1/chat/completions', { messages: [{ role: 'user', content: 'a', Content: 'b' }] }, 'messages[0].Content'],
    [
      '/v1/chat/completions',
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'a', imageUrl: { url: 'x' } }] }] },
      'messages[0].content[0].imageUrl',
    ],
    ['/v1/responses', { input: [{ type: 'computer_call_output', output: { Image_Url: 'x' } }] }, 'input[0].output.Image_Url'],
    ['/v1/responses', { tools: [{ type: 'shell', environment: { type: 'local', Type: 'container_auto' } }] }, 'tools[0].environment.Type'],
    ['/v1/responses', { reasoning: { Mode: 'pro' } }, 'reasoning.Mode'],
    ['/v1/responses', { text: { format: { type: 'text', SCHEMA: {} } } }, 'text.format.SCHEMA'],
    ['/v1/images/edits', { images: [{ imageUrl: 'x' }] }, 'images[0].imageUrl'],
  ])('%s refuses it inside too: %j', (path, request, param) => {
    expect(check(path, request)).toThrow(refusal('validation_failed', param));
  });

  test.each([
    ['/v1/chat/completions', { 'm\u0430x_tokens': 9 }, 'm\u0430x_tokens'],
    ['/v1/responses', { 'm\u0430x_output_tokens': 9 }, 'm\u0430x_output_tokens'],
    ['/v1/chat/completions', { 'n\u00e9': 9 }, 'n\u00e9'],
    ['/v1/chat/completions', { messages: [{ role: 'user', content: 'a', 'c\u043entent': 'b' }] }, 'messages[0].c\u043entent'],
    ['/v1/chat/completions', { extra_body: { 'm\u0430x_tokens': 9 } }, 'extra_body.m\u0430x_tokens'],
    ['/v1/images/generations', { options: { '\u0578': 9 } }, 'options.\u0578'],
  ])('%s refuses a name that only looks like one: %j', (path, request, param) => {
    expect(check(path, request)).toThrow(refusal('validation_failed', param));
    expect(check(path, request)).toThrow(/has ".+" in its name: names of fields are of ASCII characters/);
  });

  test('is looked for in names alone, never in the caller’s own data', () => {
    const mine = { N: 1, Max_Tokens: 2, Model: 'x' };
    const request = {
      metadata: mine,
      messages: [
        { role: 'assistant', tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: JSON.stringify(mine) } }] },
      ],
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: { ...mine, größe: 1, 数: 2 } } } }],
      response_format: { type: 'json_schema', json_schema: { name: 's', schema: { properties: mine } } },
    };
    expect(check('/v1/chat/completions', request)).not.toThrow();
  });
});
