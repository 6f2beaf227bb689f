import { ChatCompletionRequest } from '@tallygate/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countTokens, cutToTokens, promptTokens, tokensOf, wordsOf } from './tokens.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 60 });

describe('tokens', () => {
  it('put together are the text, each of one to four bytes and of whole characters', () => {
    fc.assert(
      fc.property(text, (whole) => {
        const tokens = tokensOf(whole);
        expect(tokens.join('')).toBe(whole);
        expect(tokens.length).toBe(countTokens(whole));
        for (const token of tokens) {
          expect(Buffer.byteLength(token)).toBeGreaterThan(0);
          expect(Buffer.byteLength(token)).toBeLessThanOrEqual(4);
          expect(token.isWellFormed()).toBe(true);
        }
      }),
    );
  });

  it('begin where words begin, so that a text has as many as its words have', () => {
    expect(tokensOf('Hello, world  again')).toEqual(['Hell', 'o,', ' wor', 'ld', '  ag', 'ain']);
    fc.assert(
      fc.property(text, (whole) => {
        expect(wordsOf(whole).join('')).toBe(whole);
        expect(wordsOf(whole).flatMap(tokensOf)).toEqual(tokensOf(whole));
      }),
    );
  });

  it('bound a text exactly', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: -2, max: 20 }), (whole, most) => {
        const cut = cutToTokens(whole, most);
        expect(cut.text).toBe(tokensOf(whole).slice(0, Math.max(0, most)).join(''));
        expect(cut.tokens).toBe(countTokens(cut.text));
        expect(cut.isCut).toBe(cut.text !== whole);
      }),
    );
  });

  it('of a prompt are never more than the request has bytes', () => {
    const part = fc.oneof(
      fc.record({ type: fc.constant('text' as const), text }),
      fc.constant({ type: 'image_url' as const, image_url: { url: 'x' } }),
      fc.constant({ type: 'input_audio' as const, input_audio: { data: '', format: '' } }),
      fc.constant({ type: 'file' as const, file: {} }),
      fc.constant({ type: 'video_url' as const, video_url: { url: 'x' } }),
    );
    const message = fc.record({ role: fc.constant('user' as const), content: fc.oneof(text, fc.array(part), fc.constant(null)) });
    const parameters = fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue());
    const request = fc.record({
      model: fc.constant('m'),
      messages: fc.array(message, { minLength: 1 }),
      tools: fc.array(fc.record({ type: fc.constant('function'), function: fc.record({ name: fc.constant('f'), parameters }) })),
    });
    fc.assert(
      fc.property(request, (body) => {
        const json = JSON.stringify(body);
        expect(promptTokens(ChatCompletionRequest.parse(JSON.parse(json)))).toBeLessThanOrEqual(Buffer.byteLength(json));
      }),
    );
  });

  it('of an attachment are 16, whatever its size', () => {
    const withImage = (url: string) =>
      promptTokens({ model: 'm', messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] });
    expect(withImage(`data:image/png;base64,${'A'.repeat(100_000)}`)).toBe(withImage('https://example.com/a.png'));
  });
});
