import { expect, test } from 'vitest';
import { madeOnce } from './made-once.ts';

test('each object is made something of once, whatever comes of it', () => {
  const asked: object[] = [];
  const made = madeOnce((key: object) => {
    asked.push(key);
    return asked.length === 1 ? undefined : asked.length;
  });
  const [one, other] = [{}, {}];
  expect([made(one), made(other), made(one), made(other)]).toEqual([undefined, 2, undefined, 2]);
  expect(asked).toEqual([one, other]);
});
