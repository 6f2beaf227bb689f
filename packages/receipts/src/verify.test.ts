import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as contract from '@tallygate/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { entryAt, INDEX, leavesAround, loggedPrice } from '../scripts/vector-log.ts';
import { clientSignature, current, issue, keySet, payloadWith } from '../scripts/vector-receipts.ts';
import type { PublishedPrices } from './prices.ts';
import type { ReceiptPayload } from './receipt.ts';
import { parseReceipt, verifyReceipt, verifyReceiptText } from './verify.ts';

const honest = issue(payloadWith());

test('says what was checked, and that log and anchor are still to come', () => {
  expect(verifyReceipt(honest, keySet)).toEqual({
    valid: true,
    payload: honest.payload,
    checks: { signature: 'ok', cost: 'ok', price_entry: 'unchecked', log: 'pending', anchor: 'pending' },
    proves: expect.any(Array),
    does_not_prove: expect.arrayContaining([expect.stringMatching(/^That it stands in the log: it carries no proof/)]),
  });
});

test('a receipt that says nothing of the log is refused where the log is demanded', () => {
  expect(verifyReceipt(honest, keySet, { requireLog: true })).toMatchObject({ valid: false, code: 'not_logged' });
  const withoutLogKeys = { keys: keySet.keys.filter(({ purpose }) => purpose === 'receipt') };
  const logged = { ...honest, log: entryAt(leavesAround(), INDEX), price: loggedPrice(leavesAround()) };
  expect(verifyReceipt(logged, keySet, { requireLog: true })).toMatchObject({ valid: true });
  expect(verifyReceipt(logged, withoutLogKeys, { requireLog: true })).toMatchObject({ code: 'not_logged' });
});

test('where the log is demanded, so is the entry of the price', () => {
  const logged = { ...honest, log: entryAt(leavesAround(), INDEX) };
  expect(verifyReceipt(logged, keySet)).toMatchObject({ valid: true, checks: { log: 'ok', price_entry: 'unchecked' } });
  expect(verifyReceipt(logged, keySet, { requireLog: true })).toMatchObject({
    code: 'not_logged',
    reason: expect.stringMatching(/its price/),
  });
});

test('says that a price which stands in the log before the receipt was not dated back', () => {
  const shown = verifyReceipt({ ...honest, log: entryAt(leavesAround(), INDEX), price: loggedPrice(leavesAround()) }, keySet);
  expect(shown).toMatchObject({ checks: { price_entry: 'ok' }, proves: expect.arrayContaining([expect.stringMatching(/not dated back/)]) });
});

test('says what could not be seen: prices, the signature of the caller, anybody paying', () => {
  const sentences = (payload: ReceiptPayload) => {
    const verdict = verifyReceipt(issue(payload), keySet);
    return verdict.valid ? verdict.does_not_prove.join('\n') : '';
  };
  expect(sentences(payloadWith())).toMatch(/no published prices were given.*\n(.*\n)*.*they did not sign it/);
  expect(sentences(payloadWith())).not.toMatch(/test mode/);
  expect(sentences(payloadWith({ livemode: false }))).toMatch(/made in test mode/);
  const input = '("@method" "@path" "content-digest" "@authority");created=1795248000;keyid="client";nonce="b3k2Z1"';
  const client_signature = clientSignature({ input, components: { '@authority': 'api.example.com' } });
  expect(sentences(payloadWith({ client_signature }))).toMatch(/covers parts of it that were not given/);
});

test('an anchor that this version cannot check is reported as unchecked, not as verified', () => {
  expect(verifyReceipt({ ...honest, anchor: { chain: 1 } }, keySet)).toMatchObject({ valid: true, checks: { anchor: 'unchecked' } });
});

test('what the contract lets out verifies, and is what the contract describes', () => {
  expect(contract.ReceiptResponse.parse(honest)).toEqual(honest);
  expect(contract.VaasKeySet.parse(keySet)).toEqual(keySet);
});

test('no single changed character of the payload goes unnoticed', () => {
  const text = JSON.stringify(honest);
  const start = text.indexOf('"payload"');
  const end = text.indexOf('"digest"');
  fc.assert(
    fc.property(fc.integer({ min: start, max: end - 1 }), fc.constantFrom(...'09afz"{}[],:.-e '), (at, letter) => {
      fc.pre(text[at] !== letter);
      expect(verifyReceiptText(`${text.slice(0, at)}${letter}${text.slice(at + 1)}`, keySet).valid).toBe(false);
    }),
    { numRuns: 1000 },
  );
});

test('anything at all as receipt or keys is an answer and not an exception', () => {
  fc.assert(
    fc.property(fc.anything(), fc.anything(), (receipt, keys) => {
      expect(verifyReceipt(receipt, keySet).valid).toBe(false);
      expect(verifyReceipt(honest, keys).valid).toBe(false);
    }),
    { numRuns: 300 },
  );
});

test('any value in the place of any field is an answer and not an exception', () => {
  const names = Object.keys(honest.payload);
  fc.assert(
    fc.property(fc.constantFrom(...names), fc.anything(), (name, value) => {
      fc.pre(!Object.is(value, Reflect.get(honest.payload, name)));
      expect(verifyReceipt({ ...honest, payload: { ...honest.payload, [name]: value } }, keySet).valid).toBe(false);
    }),
    { numRuns: 500 },
  );
});

test('every field is needed, and the refusal names it', () => {
  for (const name of Object.keys(honest.payload)) {
    const payload = Object.fromEntries(Object.entries(honest.payload).filter(([other]) => other !== name));
    const verdict = verifyReceipt({ ...honest, payload }, keySet);
    expect(verdict).toEqual({ valid: false, code: 'malformed', reason: `payload.${name} must be present.` });
  }
});

test('a field that changes between two looks cannot split what is checked from what is handed on', () => {
  let looks = 0;
  const shifty = { ...honest.payload };
  Object.defineProperty(shifty, 'cost_nano_usd', { enumerable: true, get: () => (looks++ === 0 ? '384000' : '1') });
  const verdict = verifyReceipt({ ...honest, payload: shifty }, keySet);
  expect(verdict).toMatchObject({ valid: true, payload: { cost_nano_usd: '384000' } });
});

describe('the key set', () => {
  test('may hold keys of other kinds and purposes', () => {
    const others = [{ kty: 'RSA', kid: current.kid }, null, 'key', { ...keySet.keys[0], purpose: 'checkpoint' }];
    expect(verifyReceipt(honest, { keys: [...others, ...keySet.keys] }).valid).toBe(true);
  });

  test('may hold keys with members that are not known here', () => {
    expect(verifyReceipt(honest, { keys: keySet.keys.map((key) => ({ ...key, key_ops: ['verify'] })) }).valid).toBe(true);
  });

  test.each([
    ['no set', undefined],
    ['a list', keySet.keys],
    ['a key without its period', { keys: keySet.keys.map(({ not_after: _, ...key }) => key) }],
    ['a key of 31 bytes', { keys: keySet.keys.map((key) => ({ ...key, x: key.x.slice(0, 42) })) }],
  ])('%s is refused as malformed keys', (_, keys) => {
    expect(verifyReceipt(honest, keys)).toMatchObject({ valid: false, code: 'malformed_keys' });
  });

  test('may be newer than the receipt, and not retired before it', () => {
    const { completed_at } = honest.payload;
    const withPeriod = (not_before: string, not_after: string) => ({ keys: keySet.keys.map((key) => ({ ...key, not_before, not_after })) });
    expect(verifyReceipt(honest, withPeriod(completed_at, completed_at)).valid).toBe(true);
    expect(verifyReceipt(honest, withPeriod('2026-11-21T08:00:01.251Z', '2027-01-01T00:00:00.000Z')).valid).toBe(true);
    expect(verifyReceipt(honest, withPeriod('2026-01-01T00:00:00.000Z', '2026-11-21T08:00:01.249Z'))).toMatchObject({
      code: 'key_retired',
    });
  });
});

describe('with published prices', () => {
  const { model_served: model, price_version: version, unit_prices_pico_usd } = honest.payload;
  const long = { input_tokens: '300000', cached_input_tokens: '150000', output_tokens: '900000' };
  const tiers = [
    { above_input_tokens: 2000, unit_prices_pico_usd: { ...long, output_tokens: '1' } },
    { above_input_tokens: 1000, unit_prices_pico_usd: long },
  ];
  const publishedAs = (prices: PublishedPrices) => ({ prices });

  test('a receipt at these prices is accepted, and says so', () => {
    const verdict = verifyReceipt(honest, keySet, publishedAs({ [model]: { [version]: { unit_prices_pico_usd } } }));
    expect(verdict).toMatchObject({ valid: true, checks: { prices: 'ok' } });
  });

  test('a receipt that leaves out the cached price, and so pays more, is refused', () => {
    const dearer = issue(payloadWith({ unit_prices_pico_usd: { input_tokens: '150000', output_tokens: '600000' } }));
    const verdict = verifyReceipt(dearer, keySet, publishedAs({ [model]: { [version]: { unit_prices_pico_usd } } }));
    expect(verdict).toMatchObject({ valid: false, code: 'price_mismatch' });
  });

  test('the highest tier that the input exceeds is the one to apply', () => {
    const prices = publishedAs({ [model]: { [version]: { unit_prices_pico_usd, tiers } } });
    const inTier = issue(payloadWith({ price_tier_above_input_tokens: 1000, unit_prices_pico_usd: long, cost_nano_usd: '666000' }));
    expect(verifyReceipt(inTier, keySet, prices)).toMatchObject({ valid: true });
    expect(verifyReceipt(honest, keySet, prices)).toMatchObject({ valid: false, code: 'tier_mismatch' });
  });

  test('of two prices of one moment either is accepted: one replaced the other before any request was charged', () => {
    const at = { effective_from: '2026-11-01', unit_prices_pico_usd };
    const earlier = { effective_from: '2026-10-01', unit_prices_pico_usd };
    const verdict = (versions: Record<string, typeof at>) => verifyReceipt(honest, keySet, publishedAs({ [model]: versions }));
    for (const versions of [
      { [version]: at, replaced: at },
      { replaced: at, [version]: at },
    ])
      expect(verdict(versions)).toMatchObject({ valid: true });
    expect(verdict({ [version]: earlier, replaced: at })).toMatchObject({ valid: false, code: 'price_not_in_force' });
  });

  test('a model named like a member of every object is not found among the prices', () => {
    const odd = issue(payloadWith({ model_served: 'constructor', price_version: 'name' }));
    expect(verifyReceipt(odd, keySet, publishedAs({}))).toMatchObject({ valid: false, code: 'price_unpublished' });
  });
});

test('parsing alone gives the value or the reason', () => {
  expect(parseReceipt('{"a":[1,"x",null,true]}')).toEqual({ parsed: true, receipt: { a: [1, 'x', null, true] } });
  expect(parseReceipt('{"a":1,"a":2}')).toEqual({
    parsed: false,
    code: 'duplicate_member',
    reason: 'Line 1, column 8: a second member "a".',
  });
});

/** Keeps states of the log in files: an entry of its own. */
const ENTRY_FOR_NODE = 'node.ts';

test('the source needs nothing but tweetnacl, so that it runs wherever JavaScript runs', () => {
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' });
  const sources = files.filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && name !== ENTRY_FOR_NODE);
  const imported = sources.flatMap((name) =>
    [...readFileSync(join(import.meta.dirname, name), 'utf8').matchAll(/\bfrom '([^.'][^']*)'/g)].map(([, module]) => module),
  );
  expect(new Set(imported)).toEqual(new Set(['tweetnacl']));
});

test('a model that is in no price list is accepted as long as it costs nothing', () => {
  const free = { model_served: 'omni-moderation-latest', cost_nano_usd: '0' };
  const verdict = (unit_prices_pico_usd: Record<string, string>, changes = {}) =>
    verifyReceipt(issue(payloadWith({ ...free, unit_prices_pico_usd, ...changes })), keySet, { prices: {} });
  expect(verdict({})).toMatchObject({ valid: true, checks: { prices: 'ok' } });
  expect(verdict({ input_tokens: '0' })).toMatchObject({ valid: true });
  const priced = { usage: { ...payloadWith().usage, input_tokens: 0, output_tokens: 0 } };
  expect(verdict({ input_tokens: '150000' }, priced)).toMatchObject({ valid: false, code: 'price_unpublished' });
});
