import { describe, expect, test } from 'vitest';
import { unpricedItem } from '../responses/unpriced-item.ts';
import { PLAIN_MEMBERS } from './message-members.ts';
import { isContentName } from './names-of-content.ts';
import { check, refusal } from './testing/requests.ts';

test('no member that is taken for no content by its name alone has a name of content', () => {
  expect([...PLAIN_MEMBERS].filter(isContentName)).toEqual([]);
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
    expect(asked([mine, { type: 'skill_reference', skill_id: 'k' }])).toThrow(refusal('unpriced_feature', 'tools[0].environment'));
    expect(asked([{ ...mine, skill_id: 'k' }])).toThrow(refusal('unpriced_feature', 'tools[0].environment'));
    expect(asked('k')).toThrow(refusal('unpriced_feature', 'tools[0].environment'));
    expect(asked([mine])).not.toThrow();
    expect(asked(null)).not.toThrow();
  });
});
