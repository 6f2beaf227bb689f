import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PRICE_METERS } from './prices.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/concepts/receipt-format.md'), 'utf8');
const tables = page.split('\n\n').filter((text) => text.startsWith('| '));
const cellsOf = (line: string): string[] =>
  line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());
const rows = tables.flatMap((text) => text.trimEnd().split('\n').map(cellsOf));

test('the specification’s tables have as many cells in each row as in their heads', () => {
  const uneven = tables.flatMap((text) => {
    const [head = [], ...others] = text.trimEnd().split('\n').map(cellsOf);
    return others.filter((row) => row.length !== head.length || row.some((cell) => cell === ''));
  });
  expect(uneven).toEqual([]);
  expect(tables.length).toBeGreaterThan(8);
});

test('the specification names each meter under usage and under unit prices', () => {
  for (const field of ['`usage`', '`unit_prices_pico_usd`']) {
    const form = rows.find(([name]) => name === field)?.[1] ?? '';
    const isNamed = (meter: string) => form.includes(`\`${meter}\``);
    const ofTools = form.includes('the meters of tools') ? PRICE_METERS.slice(PRICE_METERS.indexOf('web_searches'), -1) : [];
    expect(
      PRICE_METERS.filter((meter) => !isNamed(meter) && !ofTools.includes(meter)),
      field,
    ).toEqual([]);
  }
});
