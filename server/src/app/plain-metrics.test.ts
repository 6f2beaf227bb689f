import { Counter, Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { counterText, Distribution, histogramText } from './plain-metrics.ts';

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
