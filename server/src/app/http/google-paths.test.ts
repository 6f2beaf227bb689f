import { describe, expect, test } from 'vitest';
import { withoutColons } from './google-paths.ts';

const read = (target: string, headers: Record<string, string> = {}) => [withoutColons(target, headers), headers['x-goog-api-key']];

describe('Google’s paths', () => {
  test.each([
    ['/v1beta/models/gemini-3.5-flash:generateContent', '/v1beta/models/gemini-3.5-flash/generateContent'],
    ['/v1/models/gemini-3.5-flash:generateContent', '/v1beta/models/gemini-3.5-flash/generateContent'],
    ['/v1alpha/models/llama3.1:8b:streamGenerateContent?alt=sse', '/v1beta/models/llama3.1%3A8b/streamGenerateContent?alt=sse'],
    ['/v1beta/models/openai/gpt-oss-120b:generateContent', '/v1beta/models/openai%2Fgpt-oss-120b/generateContent'],
  ])('%s asks for the method of the model', (target, path) => {
    expect(read(target)).toEqual([path, undefined]);
  });

  test.each(['/v1/models/llama3.1:8b', '/v1/chat/completions?key=x', '/v1beta/models/x:nothing', '/v1/files/a:b?key=x'])(
    '%s is no method of a model, and stays as it is',
    (target) => {
      expect(read(target)).toEqual([target, undefined]);
    },
  );

  test('the models of v1 are Google’s to clients that send its header alone', () => {
    const headers = { 'x-goog-api-key': 'tg_test_a' };
    expect(read('/v1/models?pageSize=5', headers)[0]).toBe('/v1beta/models?pageSize=5');
    expect(read('/v1/models/gpt-4.1', headers)[0]).toBe('/v1beta/models/gpt-4.1');
    expect(read('/v1/models?all=true')[0]).toBe('/v1/models?all=true');
    expect(read('/v1alpha/models')[0]).toBe('/v1beta/models');
  });

  test('a key in the query is in no address behind this, and is none beside another one', () => {
    const target = '/v1beta/models/m:generateContent?key=tg_test_a&alt=sse';
    const path = '/v1beta/models/m/generateContent?alt=sse';
    expect(read(target)).toEqual([path, 'tg_test_a']);
    expect(read(target, { 'x-goog-api-key': 'tg_test_a' })).toEqual([path, 'tg_test_a']);
    expect(read(target, { 'x-goog-api-key': 'tg_test_b' })).toEqual([path, 'tg_test_b, tg_test_a']);
  });
});
