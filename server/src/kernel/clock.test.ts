import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dayOf, monthEnd, monthOf, monthStart, rfc3339 } from './clock.ts';

const time = fc.integer({ min: 0, max: Date.parse('9999-11-30T00:00:00Z') });

test('every moment is in its month, from its start up to and without its end', () => {
  fc.assert(
    fc.property(time, (at) => {
      const month = monthOf(at);
      expect(monthStart(month).getTime()).toBeLessThanOrEqual(at);
      expect(monthEnd(month).getTime()).toBeGreaterThan(at);
      expect(dayOf(at).startsWith(month)).toBe(true);
    }),
  );
});

test('months follow each other without a gap, across years too', () => {
  expect(monthEnd('2026-12')).toEqual(monthStart('2027-01'));
  expect(monthEnd('2028-02').toISOString()).toBe('2028-03-01T00:00:00.000Z');
  fc.assert(fc.property(time, (at) => monthOf(monthEnd(monthOf(at)).getTime()) > monthOf(at)));
});

test('what is no month is refused, and no later moment is in it', () => {
  for (const month of ['', '2026-13', '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77']) expect(() => monthEnd(month)).toThrow(RangeError);
  for (const at of [Number.NaN, Number.POSITIVE_INFINITY]) expect(() => monthOf(at)).toThrow(RangeError);
  expect(monthOf(Date.parse('2026-11-30T00:00:00Z'))).toBe('2026-11');
});

test('months and days are UTC, to the millisecond', () => {
  const last = Date.parse('2026-11-30T23:59:59.999Z');
  expect([monthOf(last), dayOf(last)]).toEqual(['2026-11', '2026-11-30']);
  expect([monthOf(last + 1), dayOf(last + 1)]).toEqual(['2026-12', '2026-12-01']);
});

test('times leave with milliseconds, in UTC', () => {
  expect(rfc3339(Date.parse('2026-11-21T10:00:00Z'))).toBe('2026-11-21T10:00:00.000Z');
  expect(rfc3339(new Date('2026-11-21T10:00:00.5+02:00'))).toBe('2026-11-21T08:00:00.500Z');
});

test('times are written the same, independent of what was written before', () => {
  const near = fc.integer({ min: -2_000, max: 2_000 }).map((offset) => Date.parse('2026-12-31T23:59:59.000Z') + offset);
  fc.assert(
    fc.property(fc.array(fc.oneof(time, near), { minLength: 2 }), (moments) => {
      for (const at of moments) {
        const text = new Date(at).toISOString();
        expect([rfc3339(at), monthOf(at), dayOf(at)]).toEqual([text, text.slice(0, 7), text.slice(0, 10)]);
      }
    }),
  );
  expect(() => rfc3339(Number.NaN)).toThrow(RangeError);
});
