import { describe, expect, test } from 'vitest';
import { withoutColons } from './google-paths.ts';

const read = (target: string, headers: Record<string, string> = {}) => [withoutColons(target, headers), headers['x-goog-api-key']];

describe('Google’s paths', () => {
  test.each([
    ['/v1beta/models/gemini-3.5-flash:generateContent', '/v1beta/models/gemini-3.5-flash/generateContent'],
    ['/v1/models/gemini-3.5-flash:generateContent', '/v1beta/models/gemini-3.5-flash/generateContent'],
    ['/v1alpha/models/llama3.1:8b:streamGenerateContent?alt=sse', '/v1beta/models/llama3.1%3A8b/streamGenerateContent?alt=sse'],
    ['/v1beta/models/openai/gpt-oss-120b:generateContent', '/v1beta/models/openai%2Fgpt-oss-120b/generateContent'],
    ['/v1beta/models/openai%2Fgpt-oss-120b:countTokens', '/v1beta/models/openai%2Fgpt-oss-120b/countTokens'],
    ['/v1beta/models/gpt-4.1/generateContent', '/v1beta/models/gpt-4.1/generateContent'],
  ])('%s asks for the method of the model', (target, path) => {
    expect(read(target)).toEqual([path, undefined]);
  });

  test.each([
    ...['/v1/models', '/v1/models?all=true', '/v1/models/gpt-4.1', '/v1/models/llama3.1:8b', '/v1/models/openai/gpt-oss-120b'],
    ...['/v1/modelsx?key=x', '/v1/chat/completions?key=x', '/v1/files/a:b?key=x'],
  ])('%s is none of them, and stays as it is', (target) => {
    expect(read(target)).toEqual([target, undefined]);
  });

  test.each([
    ['/v1beta/models/openai/gpt-oss-120b', '/v1beta/models/openai%2Fgpt-oss-120b'],
    ['/v1alpha/models/llama3.1:8b', '/v1beta/models/llama3.1%3A8b'],
    ['/v1beta/models/gpt-4.1/', '/v1beta/models/gpt-4.1'],
    ['/v1beta/models/x:nothing', '/v1beta/models/x%3Anothing'],
    ['/v1alpha/models', '/v1beta/models'],
  ])('%s asks for models, whatever is in their names', (target, path) => {
    expect(read(target)).toEqual([path, undefined]);
  });

  test.each([
    ['/v1/models?pageSize=5', '/v1beta/models?pageSize=5'],
    ['/v1/models/gpt-4.1', '/v1beta/models/gpt-4.1'],
    ['/v1/models/llama3.1:8b', '/v1beta/models/llama3.1%3A8b'],
    ['/v1/models/openai/gpt-oss-120b', '/v1beta/models/openai%2Fgpt-oss-120b'],
  ])('%s is Google’s to clients that send their key as Google’s do', (target, path) => {
    expect(read(target, { 'x-goog-api-key': 'tg_test_a' })).toEqual([path, 'tg_test_a']);
    const withKey = `${target}${target.includes('?') ? '&' : '?'}key=tg_test_a`;
    expect(read(withKey)).toEqual([path, 'tg_test_a']);
    expect(read(withKey, { 'x-goog-api-key': 'tg_test_a' })).toEqual([path, 'tg_test_a']);
  });

  test('a key in the query is in no address behind this, and is none beside another one', () => {
    const target = '/v1beta/models/m:generateContent?key=tg_test_a&alt=sse';
    const path = '/v1beta/models/m/generateContent?alt=sse';
    expect(read(target)).toEqual([path, 'tg_test_a']);
    expect(read(target, { 'x-goog-api-key': 'tg_test_a' })).toEqual([path, 'tg_test_a']);
    expect(read(target, { 'x-goog-api-key': 'tg_test_b' })).toEqual([path, 'tg_test_b, tg_test_a']);
    expect(read(`${target}&key=tg_test_a`)).toEqual([path, 'tg_test_a']);
    expect(read(`${target}&key=tg_test_b`)).toEqual([path, 'tg_test_a, tg_test_b']);
  });
});
