import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { COST_FIELDS } from './cost-fields.ts';
import { check, PATHS, refusal } from './testing/requests.ts';

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
