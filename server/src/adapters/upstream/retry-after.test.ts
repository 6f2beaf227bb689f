import { expect, it } from 'vitest';
import { retryAfterMs } from './retry-after.ts';

const NOW = Date.parse('2026-11-21T08:00:00Z');

it.each([
  [{ 'retry-after': '30' }, 30_000],
  [{ 'retry-after': ' 0 ' }, 0],
  [{ 'retry-after': '1.5' }, 1500],
  [{ 'retry-after': ['7', '9'] }, 7000],
  [{ 'retry-after': 'Sat, 21 Nov 2026 08:01:00 GMT' }, 60_000],
  [{ 'retry-after': 'Saturday, 21-Nov-26 08:01:00 GMT' }, 60_000],
  [{ 'retry-after': 'Sat, 21 Nov 2020 08:01:00 GMT' }, 0],
  [{ 'retry-after': '30', 'retry-after-ms': '12.25' }, 13],
  [{ 'retry-after': '30', 'retry-after-ms': 'soon' }, 30_000],
])('reads %j', (headers, expected) => {
  expect(retryAfterMs(headers, NOW)).toBe(expected);
});

it.each([
  {},
  { 'retry-after': '' },
  { 'retry-after': '-5' },
  { 'retry-after': 'soon' },
  { 'retry-after': '1e9' },
  { 'retry-after': 'Infinity' },
])('makes nothing of %j', (headers) => {
  expect(retryAfterMs(headers, NOW)).toBeNull();
});
