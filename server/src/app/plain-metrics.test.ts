import { Counter, Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { counterText, Distribution, histogramText, summedText } from './plain-metrics.ts';

const NAMES = { name: 'seconds', help: 'How long it took' };

test('counters are written as prom-client writes them, names that need escapes among them', async () => {
  const registry = new Registry();
  const counter = new Counter({ ...NAMES, labelNames: ['model', 'way'], registers: [registry] });
  const samples = [
    [{ model: 'a "quoted" one', way: 'in' }, 3],
    [{ model: 'back\\slash\nand line', way: 'out' }, 0.25],
    [{ model: 'a "quoted" one', way: 'in' }, 4],
  ] as const;
  for (const [labels, value] of samples) counter.inc(labels, value);
  expect(counterText(NAMES, samples)).toBe(await registry.metrics());
});

test.each([[{}], [{ model: 'x' }]])('histograms are written as prom-client writes them, with the labels %j', async (labels) => {
  const buckets = [0.001, 0.5, 2];
  const registry = new Registry();
  const histogram = new Histogram({ ...NAMES, buckets, labelNames: Object.keys(labels), registers: [registry] });
  const distribution = new Distribution(buckets);
  for (const value of [0, 0.001, 0.0011, 0.5, 1.25, 2, 2.5, 300]) {
    histogram.observe(labels, value);
    distribution.observe(value);
  }
  expect(histogramText(NAMES, [[labels, distribution]])).toBe(await registry.metrics());
});

test('metrics of several processes are added up sample by sample, each in the place of its metric', () => {
  const other = { name: 'others', help: 'Something else' };
  const took = new Distribution([1]);
  took.observe(2);
  const first = [counterText(NAMES, [[{ model: 'a b' }, 3]]), histogramText(other, [[{}, took]])].join('\n');
  const second = [
    counterText(NAMES, [
      [{ model: 'c' }, 1],
      [{ model: 'a b' }, 0.5],
    ]),
    histogramText(other, [[{}, took]]),
  ].join('\n');
  took.observe(2);
  const sum = [
    counterText(NAMES, [
      [{ model: 'a b' }, 3.5],
      [{ model: 'c' }, 1],
    ]),
    histogramText(other, [[{}, took]]),
  ].join('\n');
  expect(summedText([first, second])).toBe(sum);
});
