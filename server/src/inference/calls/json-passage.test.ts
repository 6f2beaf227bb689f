import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonPassage } from './json-passage.ts';
import { isCount, isRecord, NO_USAGE } from './usage.ts';

const opened = () =>
  new JsonPassage({
    list: 'data',
    readUsage: (usage) =>
      isRecord(usage) && isCount(usage['prompt_tokens']) ? { ...NO_USAGE, input_tokens: usage['prompt_tokens'] } : undefined,
    shownUsage: (reported, { costUsd }) => ({ ...(isRecord(reported) ? reported : {}), cost: costUsd }),
  });

function passed(text: string, sizes: readonly number[] = [7]) {
  const filter = opened();
  const bytes = Buffer.from(text);
  const out: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    out.push(filter.push(bytes.subarray(at, at + size)));
    at += size;
  }
  out.push(filter.end());
  return { filter, text: Buffer.concat(out).toString('utf8') };
}

const cost = { usage: { ...NO_USAGE, input_tokens: 5 }, costUsd: 0.25 };
const sizes = fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 4 });
const others = fc.dictionary(
  fc.string({ maxLength: 5 }).filter((name) => name !== 'usage' && name !== 'data'),
  fc.jsonValue(),
);

describe('an answer that is passed on', () => {
  test('is what it was, with its cost in its usage, wherever that stands and however it is cut', () => {
    fc.assert(
      fc.property(others, fc.array(fc.jsonValue(), { minLength: 1 }), fc.nat(3), fc.nat(3), sizes, (more, data, indent, place, lengths) => {
        const members: [string, unknown][] = [...Object.entries(more), ['data', data]];
        members.splice(place, 0, ['usage', { prompt_tokens: 5 }]);
        const value: unknown = Object.fromEntries(members);
        const { filter, text } = passed(JSON.stringify(value, null, indent), lengths);
        expect(filter).toMatchObject({ isComplete: true, isInvalid: false, usage: { input_tokens: 5 } });
        const given: unknown = JSON.parse(text + filter.lastBytes(cost).toString());
        expect(given).toEqual(JSON.parse(JSON.stringify({ ...more, data, usage: { prompt_tokens: 5, cost: 0.25 } })));
      }),
    );
  });

  test('shows our count where the provider sent none', () => {
    const { filter, text } = passed('{"data":[1]}');
    expect(filter.usage).toBeUndefined();
    expect(JSON.parse(text + filter.lastBytes(cost).toString())).toEqual({ data: [1], usage: { cost: 0.25 } });
  });

  test.each([
    '{"error":{"message":"no"}}',
    '<html></html>',
    '{"data":[]}',
    '{"data":{}}',
    '[1]',
    '{}',
    '',
    `{"a":"${'x'.repeat(70_000)}","data":[1]}`,
  ])('is none where nothing is listed in it, and nothing of it has passed', (text) => {
    const result = passed(text, [1_000]);
    expect(result.text).toBe('');
    expect(result.filter).toMatchObject({ isInvalid: true, isComplete: false });
  });

  test.each(['{"data":[1,2', '{"data":[1],"usage":{"prompt_tokens":5}', '{"data":[1],"usage":{"prompt_tokens":5'])(
    'is not complete where it breaks off',
    (text) => {
      expect(passed(text).filter).toMatchObject({ isComplete: false, isInvalid: false });
    },
  );
});
