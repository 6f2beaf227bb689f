import { expect, it } from 'vitest';
import { column, gauge } from './bar.ts';

it.each([
  [0, '░░░░'],
  [0.001, '█░░░'],
  [0.999, '███░'],
  [1, '████'],
])('a gauge of %f is %s', (share, wanted) => {
  expect(gauge(share, 4)).toBe(wanted);
});

it.each([
  [0, 5, ''],
  [0.001, 5, '▏'],
  [2.5, 5, '██'],
  [2.8, 5, '██▎'],
  [5, 5, '████'],
  [0, 0, ''],
])('a column of %f where the largest is %f is %s', (value, largest, wanted) => {
  expect(column(value, largest, 4)).toBe(wanted);
});
