import { InvalidArgumentError } from 'commander';
import { describe, expect, it } from 'vitest';
import { moment, NONE, orNone, pairs, percents, repeatedList, seconds, secondsUpTo, timeText, wholeNumber } from './option-values.ts';

const NOW = new Date('2026-11-21T08:00:00.000Z');

it.each([
  ['90', 90],
  ['30s', 30],
  ['15m', 900],
  ['1h', 3_600],
  ['7d', 604_800],
])('reads the duration %s as %d seconds', (text, expected) => expect(seconds(text)).toBe(expected));

it.each(['', '-1', '1.5h', '1w', 'h', '1h30m'])('takes "%s" for no duration', (text) => {
  expect(() => seconds(text)).toThrow(InvalidArgumentError);
});

it('reports the longest duration', () => {
  expect(secondsUpTo('7d')('7d')).toBe(604_800);
  expect(() => secondsUpTo('7d')('8d')).toThrow('Expected 7d at most.');
});

describe('a moment', () => {
  it.each([
    ['2027-01-01T00:00:00Z', '2027-01-01T00:00:00Z'],
    ['2027-01-01', '2027-01-01T00:00:00Z'],
    ['1d', '2026-11-22T08:00:00.000Z'],
  ])('is %s as a time, a day or from now on', (text, expected) => expect(timeText(moment(text), NOW)).toBe(expected));

  it('counts back where that is meant', () => expect(timeText(moment('1h'), NOW, -1)).toBe('2026-11-21T07:00:00.000Z'));

  it.each(['tomorrow', '2027-01', '12'])('is not "%s"', (text) => expect(() => moment(text)).toThrow(InvalidArgumentError));
});

it('has a word that takes a value away, and one after it that gives it back', () => {
  const models = orNone('all', repeatedList);
  expect(models('all')).toBe(NONE);
  expect(models('b,c', models('a'))).toEqual(['a', 'b', 'c']);
  expect(models('a', NONE)).toEqual(['a']);
  expect(orNone('plan', wholeNumber())('60')).toBe(60);
});

it('collects pairs, whose values may hold anything, and forgets them at "none"', () => {
  expect(pairs('url=a=b', pairs('team=search'))).toEqual({ team: 'search', url: 'a=b' });
  expect(pairs('none', { team: 'search' })).toEqual({});
  expect(() => pairs('=x')).toThrow(InvalidArgumentError);
});

it('reads percents with and without their sign', () => {
  expect(percents('50,80 %,100%')).toEqual([50, 80, 100]);
  expect(percents('none')).toEqual([]);
});
