import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { brokenVectors } from '../scripts/broken-vectors.ts';
import { goodVectors } from '../scripts/good-vectors.ts';
import { vectorFiles } from '../scripts/vector-files.ts';
import { keySet } from '../scripts/vector-receipts.ts';
import { canonicalJson } from './canonical.ts';
import { verifyReceipt, verifyReceiptText } from './verify.ts';

const folder = join(import.meta.dirname, '../vectors');

test('the published vectors are those that the script makes', () => {
  const published = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.json'));
  const files = vectorFiles();
  expect(published.sort()).toEqual([...files.keys()].sort());
  for (const [path, text] of files) expect(readFileSync(join(folder, path), 'utf8'), path).toBe(text);
});

describe('accepts', () => {
  for (const [name, { why, receipt, text, cost_nano_usd, log = 'pending' }] of Object.entries(goodVectors)) {
    test(`${name}: ${why}`, () => {
      const verdict = verifyReceiptText(text ?? JSON.stringify(receipt), keySet);
      expect(verdict).toMatchObject({
        valid: true,
        payload: { cost_nano_usd },
        checks: { signature: 'ok', cost: 'ok', log, anchor: 'pending' },
      });
    });
  }
});

describe('refuses', () => {
  for (const [name, vector] of Object.entries(brokenVectors)) {
    const { why, expected_code: code, receipt, text, keys = keySet, prices } = vector;
    const options = prices ? { prices } : {};
    test(`${name} as ${code}: ${why}`, () => {
      expect(verifyReceiptText(text ?? JSON.stringify(receipt), keys, options)).toMatchObject({ valid: false, code });
      if (receipt !== undefined) expect(verifyReceipt(receipt, keys, options)).toMatchObject({ valid: false });
    });
  }
});

test('the signing input of every good vector is the canonical payload behind its domain', () => {
  for (const [name, { receipt, text, signing_input }] of Object.entries(goodVectors)) {
    const { payload } = JSON.parse(text ?? JSON.stringify(receipt));
    expect(signing_input, name).toBe(`tallygate-receipt/v1\n${canonicalJson(payload)}`);
  }
});
