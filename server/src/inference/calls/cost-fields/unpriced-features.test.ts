import { describe, expect, test } from 'vitest';
import { unpricedItem } from '../responses/unpriced-item.ts';
import { COST_FIELDS } from './cost-fields.ts';
import { costCheckOf } from './index.ts';
import { check, membersOf, PATHS, refusal } from './testing/requests.ts';
import { RESPONSE_TOOLS } from './tool-rules.ts';

describe('a request for what no price holds', () => {
  test.each(
    PATHS.filter((path) => !path.startsWith('/v1/videos/') && !/moderations/.test(path)).flatMap((path) => [
      ...(COST_FIELDS[path]?.['provider']?.kept === 'free' ? [] : [[path, 'provider', { order: ['a'] }] as const]),
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
    ...[...RESPONSE_TOOLS].flatMap(([type, { runBy, meters }]) => (runBy === 'provider' && !meters ? [{ type }] : [])),
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
    [{ type: 'shell', environment: { type: 'container_reference', container_id: 'c' } }, 'environment'],
    [
      { type: 'shell', environment: { type: 'container_auto', skills: [{ type: 'skill_reference', skill_id: 's' }] } },
      'environment.skills',
    ],
    [{ type: 'shell', environment: { type: 'container_auto', memory_limit: '2g' } }, 'environment.memory_limit'],
    [{ type: 'code_interpreter', container: 'cntr_1' }, 'container'],
    [{ type: 'code_interpreter', container: { type: 'auto', file_ids: ['file-1'] } }, 'container.file_ids'],
    [{ type: 'file_search', vector_store_ids: ['vs_1'], max_num_results: 51 }, 'max_num_results'],
    [{ type: 'web_search', deep: true }, 'deep'],
    [{ type: 'mcp', server_label: 's', sampling: true }, 'sampling'],
    [{ type: 'image_generation', model: 'gpt-image-2.6-sunburst' }, 'model'],
    [{ type: 'image_generation', quality: 'max' }, 'quality'],
    [{ type: 'image_generation', svg: {} }, 'svg'],
  ])('refuses the hosted tool %j where no price holds what it asks for', (tool, param) => {
    expect(check('/v1/responses', { tools: [tool] })).toThrow(refusal('unpriced_feature', `tools[0].${param}`));
  });

  test.each([
    { type: 'web_search', search_context_size: 'high', external_web_access: true, filters: { allowed_domains: ['a.test'] } },
    { type: 'web_search_preview', user_location: { type: 'approximate', country: 'CH' } },
    { type: 'file_search', vector_store_ids: ['vs_1'], max_num_results: 50, filters: null },
    { type: 'code_interpreter', container: { type: 'auto', memory_limit: '4g', file_ids: [] } },
    { type: 'shell' },
    { type: 'shell', environment: { type: 'container_auto', network_policy: { type: 'disabled' } } },
    { type: 'image_generation', size: '1024x1024', quality: 'low', partial_images: 2, output_format: 'webp', model: 'gpt-image-2' },
    { type: 'mcp', server_label: 's', server_url: 'https://m.test/mcp', require_approval: 'never', headers: { a: 'b' } },
  ])('passes the tool $type, which the provider runs and a meter measures, on responses alone', (tool) => {
    expect(check('/v1/responses', { tools: [tool], tool_choice: { type: tool.type } })).not.toThrow();
    expect(check('/v1/responses', { tools: [{ type: 'namespace', name: 'n', tools: [tool] }] })).toThrow(
      refusal('unpriced_feature', 'tools[0].tools[0]'),
    );
    expect(check('/v1/chat/completions', { tools: [tool] })).toThrow(refusal('unpriced_feature', 'tools[0]'));
  });

  test.each([
    { type: 'function', name: 'f' },
    { type: 'custom', name: 'c' },
    { type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'f' }] },
    { type: 'local_shell' },
    { type: 'apply_patch' },
    { type: 'computer' },
    { type: 'computer_use_preview', display_width: 1024, display_height: 768, environment: 'browser' },
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
    ['/v1/responses', { tool_choice: { type: 'programmatic_tool_calling' } }, 'tool_choice'],
    ['/v1/responses', { tool_choice: { type: 'allowed_tools', tools: [{ type: 'programmatic_tool_calling' }] } }, 'tool_choice.tools[0]'],
    ['/v1/images/generations', { quality: 'max' }, 'quality'],
    ['/v1/images/generations', { references: ['https://x.test/a.png'] }, 'references'],
    ['/v1/images/generations', { image_prompt: 'https://x.test/a.png' }, 'image_prompt'],
    ['/v1/images/generations', { style_reference: { url: 'https://x.test/a.png' } }, 'style_reference'],
    ['/v1/videos', { n: 2 }, 'n'],
    ...['/v1/chat/completions', '/v1/responses', '/v1/completions'].flatMap((path): [string, object, string][] => [
      [path, { files: ['file-1'] }, 'files'],
      [path, { file_ids: ['file-1'] }, 'file_ids'],
      [path, { response_modalities: ['TEXT', 'IMAGE'] }, 'response_modalities'],
      [path, { generation_config: { responseModalities: ['AUDIO'] } }, 'generation_config.responseModalities'],
      [path, { enable_search: true }, 'enable_search'],
      [path, { custom_tools: [{ type: 'web_search' }] }, 'custom_tools'],
      [path, { enabledTools: ['web_search'] }, 'enabledTools'],
      [path, { features: ['search'] }, 'features'],
      [path, { mode: 'research' }, 'mode'],
      [path, { reasoning_mode: 'pro' }, 'reasoning_mode'],
      [path, { service: 'priority' }, 'service'],
      [path, { fast_mode: true }, 'fast_mode'],
      [path, { agent_count: 16 }, 'agent_count'],
      [path, { ensemble: 4 }, 'ensemble'],
      [path, { self_consistency: 8 }, 'self_consistency'],
      [path, { retries: 5 }, 'retries'],
      [path, { agents: 4 }, 'agents'],
      [path, { fanout: 3 }, 'fanout'],
      [path, { multiplier: 4 }, 'multiplier'],
      [path, { reasoning: { parallel: 8 } }, 'reasoning.parallel'],
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

  test.each(['/v1/images/generations', '/v1/images/edits'])('%s refuses images in parts, larger, moving or thought about', (path) => {
    for (const asked of [{ layers: 5 }, { tile: 2 }, { superres: 2 }, { animation: true }, { thinking: true }]) {
      const [name = ''] = Object.keys(asked);
      expect(check(path, asked)).toThrow(refusal('unpriced_feature', name));
      expect(check(path, { [name]: false })).not.toThrow();
    }
  });

  test('a change of configuration on the way is refused where it asks for another model or mode', () => {
    const update = (members: object) => unpricedItem([{ type: 'configuration_update', ...members }])?.param;
    expect(update({ model: 'gpt-5-pro' })).toBe('input[0].model');
    expect(update({ reasoning: { mode: 'pro' } })).toBe('input[0].reasoning');
    expect(update({ tools: [{ type: 'web_search' }] })).toBe('input[0].tools[0]');
    expect(update({ reasoning: { effort: 'high' }, tools: [{ type: 'function', name: 'f' }] })).toBeUndefined();
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
    ...['/v1/chat/completions', '/v1/responses', '/v1/completions'].map((path) => [path, { service_tier: 'scale' }] as const),
    ...['/v1/completions', '/v1/responses/compact'].map((path) => [path, { service_tier: 'flex' }] as const),
    ['/v1/messages', { service_tier: 'priority' }],
    ['/v1beta/models/:model/generateContent', { serviceTier: 'SCALE' }],
    ['/v1beta/models/:model/streamGenerateContent', { serviceTier: 'ultrafast' }],
  ] as const)('%s %j is a tier without a price, and refused', (path, request) => {
    expect(check(path, request)).toThrow(/no price for .*service tier/);
  });

  test.each([
    [
      '/v1/chat/completions',
      { service_tier: 'default', modalities: ['text'], best_of: 1, web_search: false, reasoning: { effort: 'low' } },
    ],
    ['/v1/chat/completions', { enable_search: false, prompt_cache_options: { mode: 'explicit', ttl: '30m' }, tool_choice: 'auto' }],
    ['/v1/responses', { prompt_cache_retention: '24h' }],
    ['/v1/responses', { service_tier: 'auto', reasoning: { effort: 'high', mode: 'standard' }, tool_choice: 'required' }],
    ['/v1/chat/completions', { a_field_of_tomorrow: { any: ['thing'] } }],
    ['/v1/images/generations', { quality: 'auto' }],
  ])('%s %j passes', (path, request) => {
    expect(check(path, request)).not.toThrow();
  });
});
