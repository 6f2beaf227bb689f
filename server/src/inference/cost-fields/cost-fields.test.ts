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

  test.each([
    ['/v1/chat/completions', { tools: [{ type: 'web_search' }] }, 'tools[0]'],
    ['/v1/chat/completions', { tools: [{ type: 'builtin_function', function: { name: '$web_search' } }] }, 'tools[0]'],
    ['/v1/chat/completions', { extra_body: { google: { cached_content: 'c' } } }, 'extra_body.google.cached_content'],
    ['/v1/chat/completions', { messages: [{ role: 'assistant', audio: { id: 'a' } }] }, 'messages[0].audio'],
    [
      '/v1/chat/completions',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x', file_id: 'f' } }] }] },
      'messages[0].content[0].image_url.file_id',
    ],
    ['/v1/responses', { reasoning: { mode: 'pro' } }, 'reasoning.mode'],
    ['/v1/responses', { prompt_cache_options: { ttl: '12h' } }, 'prompt_cache_options.ttl'],
    ['/v1/responses', { prompt_cache_options: { comparison_response_id: 'resp_1' } }, 'prompt_cache_options.comparison_response_id'],
    ['/v1/responses', { tool_choice: { type: 'mcp', server_label: 's' } }, 'tool_choice'],
    ['/v1/responses', { tool_choice: { type: 'allowed_tools', tools: [{ type: 'image_generation' }] } }, 'tool_choice.tools[0]'],
    ['/v1/images/generations', { quality: 'max' }, 'quality'],
    ['/v1/videos', { n: 2 }, 'n'],
  ])('%s %j is refused where it is asked for', (path, request, param) => {
    expect(check(path, request)).toThrow(refusal('unpriced_feature', param));
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
    ['/v1/chat/completions', { max_reply_tokens: 9 }, 'max_reply_tokens'],
    ['/v1/chat/completions', { anything: { numAnswers: 9 } }, 'anything.numAnswers'],
    ['/v1/responses', { n: 4 }, 'n'],
    ['/v1/responses', { candidate_count: 4 }, 'candidate_count'],
    ['/v1/completions', { prompt_embeds: 'AAAA' }, 'prompt_embeds'],
  ])('%s %j has no price', (path, request, param) => {
    expect(check(path, request)).toThrow(refusal('unpriced_feature', param));
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
    ['/v1/embeddings', { truncate: 'END', task: 'search', late_chunking: true }],
  ])('%s %j costs nothing of its own and passes', (path, request) => {
    expect(check(path, request)).not.toThrow();
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

  test('is looked for in names alone, never in the caller’s own data', () => {
    const mine = { N: 1, Max_Tokens: 2, Model: 'x' };
    const request = {
      metadata: mine,
      messages: [
        { role: 'assistant', tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: JSON.stringify(mine) } }] },
      ],
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: mine } } }],
      response_format: { type: 'json_schema', json_schema: { name: 's', schema: { properties: mine } } },
    };
    expect(check('/v1/chat/completions', request)).not.toThrow();
  });
});
