import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { chainVectors } from '../scripts/anchor-vectors.ts';
import { brokenVectors } from '../scripts/broken-vectors.ts';
import { declarationVectors } from '../scripts/declaration-vectors.ts';
import { exportVectors } from '../scripts/export-vectors.ts';
import { goodVectors } from '../scripts/good-vectors.ts';
import { invoiceVectors } from '../scripts/invoice-vectors.ts';
import { successionVectors } from '../scripts/succession-vectors.ts';
import { vectorFiles } from '../scripts/vector-files.ts';
import { accountId, keySet } from '../scripts/vector-receipts.ts';
import { confirmAnchor } from './anchor/confirm-anchor.ts';
import { canonicalJson } from './canonical.ts';
import { receiptDigest } from './digest.ts';
import { verifyEd25519 } from './ed25519.ts';
import { fromBase64url, toBase64url, toHex, utf8 } from './encoding.ts';
import { verifyExport } from './export.ts';
import { verifyBill } from './invoice/verify-bill.ts';
import { verifyInvoiceText } from './invoice/verify-invoice.ts';
import { canonicalBytes } from './jws.ts';
import { checkDeclarationChain } from './log/declaration-chain.ts';
import { keySuccession } from './log/key-succession.ts';
import type { ReceiptResponse, VaasKeySet } from './receipt.ts';
import { refusalAsValue } from './refusal.ts';
import { verifyReceipt, verifyReceiptText } from './verify.ts';

const folder = join(import.meta.dirname, '../vectors');

test('the published vectors are those that the script makes', () => {
  const published = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.json'));
  const files = vectorFiles();
  expect(published.sort()).toEqual([...files.keys()].sort());
  for (const [path, text] of files) expect(readFileSync(join(folder, path), 'utf8'), path).toBe(text);
});

describe('accepts', () => {
  for (const [name, { why, receipt, text, cost_nano_usd, log = 'pending', anchor = 'pending' }] of Object.entries(goodVectors)) {
    test(`${name}: ${why}`, () => {
      const verdict = verifyReceiptText(text ?? JSON.stringify(receipt), keySet);
      expect(verdict).toMatchObject({
        valid: true,
        payload: { cost_nano_usd },
        checks: { signature: 'ok', cost: 'ok', log, anchor },
      });
    });
  }
});

describe('refuses', () => {
  for (const [name, vector] of Object.entries(brokenVectors)) {
    const { why, expected_code: code, receipt, text, keys = keySet, prices, witnesses } = vector;
    const options = { ...(prices && { prices }), ...(witnesses && { witnesses: { keys: witnesses } }) };
    test(`${name} as ${code}: ${why}`, () => {
      expect(verifyReceiptText(text ?? JSON.stringify(receipt), keys, options)).toMatchObject({ valid: false, code });
      if (receipt !== undefined) expect(verifyReceipt(receipt, keys, options)).toMatchObject({ valid: false });
    });
  }
});

describe('takes over keys', () => {
  for (const [name, { why, kept, published, log, accepted, refused }] of Object.entries(successionVectors)) {
    test(`${name}: ${why}`, () => {
      const found = keySuccession(kept, published, log);
      expect(found.accepted.map(({ kid }) => kid)).toEqual(accepted);
      expect(found.refused.map(({ kid }) => kid)).toEqual(refused);
    });
  }
});

describe('checks that no declaration is left out', () => {
  for (const [name, { why, kind, kept, pages, expected_code: code }] of Object.entries(declarationVectors)) {
    test(`${name}: ${why}`, () => {
      const found = refusalAsValue(() => ({
        valid: true as const,
        newest: checkDeclarationChain(kind, pages, { keys: keySet.keys, kept: kept ?? undefined }),
      }));
      if (code !== null) expect(found).toMatchObject({ valid: false, code });
      else expect(found).toMatchObject({ valid: true, ...(kind === 'policy' && { newest: { index: 2 } }) });
    });
  }
});

describe('puts together an export', () => {
  for (const [name, { why, lines, ...expected }] of Object.entries(exportVectors)) {
    test(`${name}: ${why}`, async () => {
      const reading = verifyExport(lines, keySet);
      const codes: string[] = [];
      for (;;) {
        const { value, done } = await reading.next();
        if (!done) {
          if (!value.verdict.valid) codes.push(value.verdict.code);
          continue;
        }
        const { valid, billed_nano_usd, faults } = value;
        const expected_codes = [...codes, ...faults.map(({ code }) => code)].sort();
        expect({ valid, billed_nano_usd, expected_codes }).toEqual(expected);
        break;
      }
    });
  }
});

describe('works an invoice out again', () => {
  for (const [name, { why, invoice, exports, expected_codes, unchecked = [] }] of Object.entries(invoiceVectors)) {
    test(`${name}: ${why}`, async () => {
      const found = verifyInvoiceText(JSON.stringify(invoice), keySet);
      if (!found.valid) return expect([found.code]).toEqual(expected_codes);
      const reading = verifyBill(found, exports, keySet, { accountId });
      for (;;) {
        const { value, done } = await reading.next();
        if (done)
          return expect({ codes: [...new Set(value.faults.map(({ code }) => code))].sort(), unchecked: value.unchecked }).toEqual({
            codes: expected_codes,
            unchecked,
          });
      }
    });
  }
});

/** A node that answers as the chain of a vector does. */
const nodeOf =
  ({ chain_id: chainId, contracts }: (typeof chainVectors)[string]['chain']) =>
  async (_url: string, { body }: { body: string }): Promise<Response> => {
    const { method, params } = JSON.parse(body);
    const word = (number: number) => number.toString(16).padStart(64, '0');
    if (method === 'eth_chainId') return Response.json({ result: `0x${chainId.toString(16)}` });
    const states = contracts[params[0].to?.toLowerCase()];
    if (method === 'eth_call' && !states) return Response.json({ result: '0x' });
    const { size, time } = states?.[`0x${params[0].data?.slice(10)}`] ?? { size: 0, time: 0 };
    if (method === 'eth_call') return Response.json({ result: `0x${word(size)}${word(time)}` });
    return Response.json({ result: null });
  };

describe('asks a chain', () => {
  for (const [name, { why, receipt, chain, contract, expected }] of Object.entries(chainVectors)) {
    test(`${name}, which is ${expected}: ${why}`, async () => {
      const verdict = verifyReceipt(receipt, keySet);
      if (!verdict.valid || !verdict.anchored) throw new Error('no anchor to ask for');
      const asked = { rpcUrl: 'http://node.test', fetch: nodeOf(chain), ...(contract !== undefined && { contract }) };
      const found = await confirmAnchor(verdict.anchored, asked);
      expect(found.confirmed ? 'confirmed' : found.code).toBe(expected);
    });
  }
});

const OF_THE_SIGNATURE: readonly string[] = ['bad_signature', 'malleable_signature', 'unknown_key', 'kid_mismatch', 'weak_key'];

test('no broken vector is refused for a stale digest or signature where something else is wrong with it', () => {
  for (const [name, { receipt, expected_code: code, keys = keySet }] of Object.entries(brokenVectors)) {
    const { payload, digest, jws } = (receipt ?? {}) as Partial<ReceiptResponse>;
    const [header = '', , signature = ''] = jws?.split('.') ?? [];
    const bytes = fromBase64url(signature, 64);
    if (!payload || !jws || !bytes) continue;
    if (code !== 'bad_digest') expect(digest, name).toBe(toHex(receiptDigest(payload)));
    if (OF_THE_SIGNATURE.includes(code)) continue;
    const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString());
    const { x = '' } = (keys as VaasKeySet).keys.find((key) => key.kid === kid) ?? {};
    const signed = utf8(`${header}.${toBase64url(canonicalBytes(payload))}`);
    expect(verifyEd25519(signed, bytes, fromBase64url(x, 32) ?? new Uint8Array()), name).toBe(true);
  }
});

test('every good vector has its canonical payload', () => {
  for (const [name, { receipt, text, canonical_payload }] of Object.entries(goodVectors)) {
    const { payload } = JSON.parse(text ?? JSON.stringify(receipt));
    expect(canonical_payload, name).toBe(canonicalJson(payload));
  }
});

test('the specification names every code that a vector has, and a vector of it where it is the only one', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/concepts/receipt-format.md'), 'utf8');
  const all = [
    ...Object.values(brokenVectors).map(({ expected_code: code }) => code),
    ...[...Object.values(exportVectors), ...Object.values(invoiceVectors)].flatMap(({ expected_codes: codes }) => codes),
  ];
  expect([...new Set(all)].filter((code) => !page.includes(`| \`${code}\` `))).toEqual([]);
  const named = [...page.matchAll(/^\| `([a-z_]+)` +\| `((?:broken|exports|invoices)\/[a-z0-9-]+)` +\|$/gm)];
  const files = vectorFiles();
  for (const [, code, path] of named) {
    const { expected_code: only, expected_codes: codes = [only] } = JSON.parse(files.get(`${path}.json`) ?? '{}');
    expect(codes, path).toEqual([code]);
  }
  expect(named.length).toBeGreaterThan(50);
});
