import { describe, expect, test } from 'vitest';
import { expectTurns } from '../../../kernel/testing/event-loop.ts';
import { readProviderEvent } from './events.ts';

const MIB = 1024 * 1024;
/** An event that is read, with something in it. */
const eventWith = (value: string): Buffer => Buffer.from(`{"type":"response.done","response":${value}}`);
const filled = (unit: string, bytes: number): string => unit.repeat(Math.floor(bytes / unit.length));
const list = (unit: string, bytes: number): string => `[${filled(`${unit},`, bytes)}${unit}]`;
const names = (count: number): string => JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 0])));

describe('an event of a provider that is made to cost more than its bytes', () => {
  test.each([
    ['numbers', () => list('0', 31 * MIB)],
    ['empty lists', () => list('[]', 31 * MIB)],
    ['empty objects', () => list('{}', 31 * MIB)],
    ['names in one object', () => names(1_000_000)],
    ['open brackets', () => '['.repeat(31 * MIB)],
    ['levels', () => `${'['.repeat(15 * MIB)}${']'.repeat(15 * MIB)}`],
    ['levels in a small event', () => `${'{"a":'.repeat(300)}0${'}'.repeat(300)}`],
    ['names in a small event', () => names(6_000)],
    ['a number of many digits', () => '1'.repeat(2_000)],
  ])('is refused before it is parsed, and holds the event loop for 50 ms at most: %s', async (what, value) => {
    const event = eventWith(value());
    await expectTurns(what, event.length, async () => {
      await expect((async () => readProviderEvent(event))()).rejects.toThrow(SyntaxError);
    });
  });

  test.each([
    ['a small event of many small parts', list('{"a":{"b":[]}}', 4_000)],
    ['an answer of sound', `{"output":[{"content":[{"audio":"${'a'.repeat(10 * MIB)}"}]}]}`],
  ])('is told from what is only large or dense: %s', async (_what, value) => {
    expect(await readProviderEvent(eventWith(value))).toMatchObject({ type: 'response.done', response: JSON.parse(value) });
  });
});
