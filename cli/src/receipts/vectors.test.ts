import { startStubGateway } from '@tallygate/sdk/testing/stub-gateway';
import { describe, expect, it } from 'vitest';
import { Terminal } from '../../testing/terminal.ts';
import { keySet, readVector, receiptTextOf, type Vector, vectorNames } from '../../testing/vectors.ts';

/** Writes what the vector holds to files, as a person would, and verifies the receipt. */
async function verifyVector(vector: Vector) {
  await using gateway = await startStubGateway();
  const terminal = new Terminal(gateway);
  terminal.files.set('receipt.json', receiptTextOf(vector));
  terminal.files.set('keys.json', vector.keys === undefined ? keySet : JSON.stringify(vector.keys));
  const argv = ['receipts', 'verify', 'receipt.json', '--keys', 'keys.json'];
  if (vector.prices !== undefined) {
    terminal.files.set('prices.json', JSON.stringify({ prices: vector.prices }));
    argv.push('--prices', 'prices.json');
  }
  for (const witness of vector.witnesses ?? []) argv.push('--witness', witness);
  const session = await terminal.type(argv, {});
  expect(gateway.requests).toHaveLength(0);
  return session;
}

describe('receipts verify accepts', () => {
  it.each(vectorNames('good'))('%s', async (name) => {
    const { stdout, exitCode } = await verifyVector(readVector(name));
    expect(stdout).toMatch(/^valid\n/);
    expect(exitCode).toBe(0);
  });
});

describe('receipts verify refuses', () => {
  it.each(vectorNames('broken'))('%s for the reason it was made for', async (name) => {
    const vector = readVector(name);
    const { stdout, exitCode } = await verifyVector(vector);
    const isUnchecked = vector.expected_code === 'price_unpublished';
    expect(stdout).toMatch(isUnchecked ? /^cannot be checked: / : /^not valid: /);
    expect(stdout).toContain(`(${vector.expected_code})\n`);
    expect(exitCode).toBe(isUnchecked ? 6 : 3);
  });

  it('a vector file itself, which may bring its own keys and prices and so is not read as a receipt', async () => {
    const { exitCode } = await verifyVector({ text: JSON.stringify(readVector('good/plain')) });
    expect(exitCode).toBe(3);
  });
});

it('meets all vectors that only published prices refuse', () => {
  const priced = vectorNames('broken').filter((name) => readVector(name).prices !== undefined);
  expect(priced).toEqual([
    'broken/batch-line-at-full-price',
    'broken/unpublished-by-then',
    'broken/unpublished-factor-of-none',
    'broken/unpublished-factor',
    'broken/unpublished-price',
    'broken/unpublished-version',
  ]);
});
