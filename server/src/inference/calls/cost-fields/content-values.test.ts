import { describe, expect, test } from 'vitest';
import { bytesBeside } from './index.ts';
import { check, refusal } from './testing/requests.ts';

const PATHS = [
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/completions',
  '/v1/embeddings',
  '/v1/rerank',
  '/v1/images/generations',
  '/v1/images/variations',
];
const PICTURE = 'iVBORw0KGgo'.repeat(60);
const CONTENT = [
  'data:image/png;base64,iVBORw0KGgo=',
  ' DATA:application/pdf,x',
  'https://a.test/b',
  'gs://bucket/a.mp4',
  'file-abc123',
  PICTURE,
];

describe.each(PATHS)('%s, in a field that is in no table', (path) => {
  test.each(CONTENT)('refuses content and where it is: %s', (text) => {
    expect(check(path, { sketch: text })).toThrow(refusal('unpriced_feature', 'sketch'));
    expect(check(path, { sketch: [text] })).toThrow(refusal('unpriced_feature', 'sketch[0]'));
    expect(check(path, { a_field: { of_tomorrow: text } })).toThrow(refusal('unpriced_feature', 'a_field.of_tomorrow'));
  });

  test.each([
    { negative_prompt: 'blurred, with text, https://a.test in the corner' },
    { webhook: 'https://a.test/done', http_referer: 'https://a.test', site: 'https://a.test' },
    { trace_metadata: { page: 'https://a.test', file: 'file-abc123' } },
    { session: 'a'.repeat(511) },
  ])('passes words, and addresses of the caller: %j', (fields) => {
    expect(check(path, fields)).not.toThrow();
  });
});

test.each(['/v1/images/generations', '/v1/images/variations'])('%s refuses the images that only edits take', (path) => {
  for (const markup of [true, { image_url: 'https://a.test' }, 'x'])
    expect(check(path, { markup })).toThrow(refusal('unpriced_feature', 'markup'));
  expect(check(path, { markup: null })).not.toThrow();
});

test('what is in fields that are in no table is counted by its bytes', () => {
  const request = { prompt: 'a cat', negative_prompt: 'dögs', a_field: { of: ['x', 7] }, n: 1 };
  expect(bytesBeside('/v1/images/generations', request)).toBe(5 + 'of'.length + 1);
});
