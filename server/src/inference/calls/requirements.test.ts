import { ChatCompletionRequest } from '@tallygate/contract';
import { expect, test } from 'vitest';
import { loadCatalog } from '../../money/catalog/index.ts';
import { unmet } from './offers.ts';
import { requirementsOf } from './requirements.ts';

const ask = (fields: object, content: unknown = 'hi') =>
  ChatCompletionRequest.parse({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }], ...fields });
const tools = [{ type: 'function', function: { name: 'f' } }];

test.each([
  ['tools', 'tools', ask({ tools })],
  ['tools', 'functions', ask({ functions: [{ name: 'f' }] })],
  ['json_schema', 'response_format', ask({ response_format: { type: 'json_schema', json_schema: { name: 's' } } })],
  [
    'vision',
    'messages[0].content[1]',
    ask({}, [
      { type: 'text', text: 'a' },
      { type: 'image_url', image_url: { url: 'https://a.test/i.png' } },
    ]),
  ],
  ['audio_input', 'messages[0].content[0]', ask({}, [{ type: 'input_audio', input_audio: { data: 'A', format: 'wav' } }])],
  ['video_input', 'messages[0].content[0]', ask({}, [{ type: 'video_url', video_url: { url: 'https://a.test/v.mp4' } }])],
  ['pdf', 'messages[0].content[0]', ask({}, [{ type: 'file', file: {} }])],
])('a request can need %s because of its %s', (capability, param, request) => {
  expect(requirementsOf(request)).toEqual([{ capability, param }]);
  const able = loadCatalog().models.filter((model) => unmet(model, requirementsOf(request)) === undefined);
  for (const model of able) expect(model.capabilities.has(capability)).toBe(true);
});

test('a plain request needs nothing, and so do empty lists', () => {
  expect(requirementsOf(ask({ tools: [], functions: [], response_format: { type: 'json_object' } }))).toEqual([]);
});
