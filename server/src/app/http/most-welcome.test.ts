import { expect, test } from 'vitest';
import { mostWelcome } from './most-welcome.ts';

const JSON_LD = 'application/ld+json';

test.each<[string | undefined, string | undefined]>([
  [undefined, 'application/json'],
  ['*/*', 'application/json'],
  ['text/html, */*;q=0.1', 'application/json'],
  [JSON_LD, JSON_LD],
  ['application/ld+json; profile="http://www.w3.org/ns/json-ld#compacted"', JSON_LD],
  ['application/ld+json;profile="a, b; q=0";q=0.9, application/json;q=0.1', JSON_LD],
  ['application/ld+json;q=0.1, application/json; charset=utf-8', 'application/json'],
  ['application/*, application/json;q=0', JSON_LD],
  ['text/calendar, application/json;q=0.9', 'text/calendar'],
  ['text/html', undefined],
])('Accept: %s is served best with %s', (accept, type) => {
  expect(mostWelcome(accept, ['application/json', JSON_LD, 'text/calendar'])).toBe(type);
});
