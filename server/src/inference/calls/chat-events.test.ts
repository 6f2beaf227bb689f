import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withoutNullUsage } from './chat-events.ts';

const without = (text: string) => withoutNullUsage(Buffer.from(text)).toString();

test.each([
  ['data: {"id":"c","choices":[],"usage":null}\n\n', 'data: {"id":"c","choices":[]}\n\n'],
  ['data: {"id":"c","usage":null,"choices":[]}\n\n', 'data: {"id":"c","choices":[]}\n\n'],
  ['data: {"usage":null,"id":"c"}\n\n', 'data: {"id":"c"}\n\n'],
  ['data: {"id": "c", "usage" : null }\n\n', 'data: {"id": "c" }\n\n'],
  ['data: {"usage": null}\n\n', 'data: {}\n\n'],
  ['data: {"a":1,"usage":null}\n\ndata: {"a":2,"usage":null}\n\n', 'data: {"a":1}\n\ndata: {"a":2}\n\n'],
])('a null usage is left out of %j', (event, left) => {
  expect(without(event)).toBe(left);
});

test('nothing else is changed, whatever the model wrote', () => {
  const texts = fc.oneof(fc.string(), fc.constantFrom('"usage":null', ',"usage":null', 'usage', '{"usage":null}', '\\"usage\\":null'));
  fc.assert(
    fc.property(texts, fc.constantFrom(undefined, 0, { prompt_tokens: 1 }, 'null'), (content, usage) => {
      const chunk = { id: 'c', choices: [{ index: 0, delta: { content } }], usage };
      expect(without(`data: ${JSON.stringify(chunk)}\n\n`)).toBe(`data: ${JSON.stringify(chunk)}\n\n`);
      const { usage: _, ...rest } = chunk;
      expect(without(`data: ${JSON.stringify({ ...rest, usage: null })}\n\n`)).toBe(`data: ${JSON.stringify(rest)}\n\n`);
    }),
  );
});
