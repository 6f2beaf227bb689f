import { ReceiptResponse, type ReceiptUsage } from '@tallygate/contract';
import { accountHash, foreignSubject, keyHash, verifyReceipt } from '@tallygate/receipts';
import fc from 'fast-check';
import { flattenedVerify, importJWK } from 'jose';
import { describe, expect, test } from 'vitest';
import { newId, newReceiptId, newRequestId } from '../kernel/ids.ts';
import { costOf, loadCatalog } from '../money/catalog/index.ts';
import { type IssuedReceipt, issueReceipt, type ReceiptFacts } from './issue-receipt.ts';
import { signReceipt } from './sign-receipt.ts';
import { newSigningSeed, signingKeyFromSeed } from './signing-keys.ts';

const COMPLETED_AT = '2026-11-21T10:00:00.500Z';
const key = signingKeyFromSeed(newSigningSeed());
const keys = {
  keys: [
    {
      kty: 'OKP',
      crv: 'Ed25519',
      x: key.x,
      kid: key.kid,
      use: 'sig',
      alg: 'EdDSA',
      purpose: 'receipt',
      not_before: '2026-11-20T00:00:00.000Z',
      not_after: null,
    },
  ],
};
const chats = loadCatalog().models.filter(({ kind }) => kind === 'chat');

/** Facts of a settled chat with that model and usage. */
function factsOf(model: (typeof chats)[number], usage: ReceiptUsage, wish: Partial<ReceiptFacts> = {}): ReceiptFacts {
  const price = model.priceAt(Date.parse(COMPLETED_AT));
  if (!price) throw new Error('no price');
  const cost = costOf(price, usage);
  return {
    kind: 'usage',
    receipt_id: newReceiptId(),
    request_id: newRequestId(),
    account_id: newId(),
    key_id: newId(),
    livemode: true,
    endpoint: '/v1/chat/completions',
    run_id: null,
    model_requested: model.id,
    model_served: model.id,
    provider: model.provider,
    fallback: 'none',
    outcome: 'completed',
    request_sha256: 'a'.repeat(64),
    response_sha256: 'b'.repeat(64),
    usage,
    estimated: false,
    price_version: price.version,
    price_entry: { index: 0, digest: 'c'.repeat(64) },
    price_tier_above_input_tokens: cost.tierAboveInputTokens,
    unit_prices_pico_usd: Object.fromEntries(Object.entries(cost.unit).map(([meter, each]) => [meter, each.toString()])),
    price_factor: '1',
    cost_nano_usd: cost.nanoUsd.toString(),
    payment:
      wish.livemode === false
        ? { plan: null, funding: 'test', covered: {}, charged_nano_usd: '0' }
        : { plan: 'pro@1', funding: 'balance', covered: {}, charged_nano_usd: cost.nanoUsd.toString() },
    refund_of: null,
    refund_reason: null,
    account_sequence: 1,
    started_at: '2026-11-21T10:00:00.000Z',
    completed_at: COMPLETED_AT,
    client_signature: null,
    ...wish,
  };
}

/** As `GET /v1/receipts/{id}` answers. */
const onTheWire = async ({ receiptId, payload, digest }: IssuedReceipt) => ({
  object: 'receipt',
  id: receiptId,
  payload: JSON.parse(payload),
  digest: digest.toString('hex'),
  jws: await signReceipt(payload, key),
  log: { state: 'pending' },
  price: null,
  anchor: null,
});

const anyUsage = fc
  .tuple(fc.oneof(fc.nat({ max: 5_000 }), fc.integer({ min: 199_000, max: 300_000 })), fc.nat({ max: 100_000 }))
  .chain(([input, output]) =>
    fc.nat({ max: input }).chain((cached) =>
      fc.record({
        input_tokens: fc.constant(input),
        cached_input_tokens: fc.constant(cached),
        cache_write_tokens: fc.nat({ max: input - cached }),
        output_tokens: fc.constant(output),
        reasoning_tokens: fc.nat({ max: output }),
      }),
    ),
  );
const [chat] = chats;
if (!chat) throw new Error('no chat model');
const USAGE: ReceiptUsage = { input_tokens: 9, cached_input_tokens: 2, cache_write_tokens: 0, output_tokens: 12, reasoning_tokens: 3 };

describe('an issued receipt', () => {
  test('verifies offline: signature, cost and ids, for any model and usage, long contexts and cached tokens included', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...chats), anyUsage, fc.boolean(), async (model, usage, livemode) => {
        const facts = factsOf(model, usage, { livemode, run_id: livemode ? 'Zürich 😀' : null });
        const receipt = await onTheWire(issueReceipt(facts));
        expect(ReceiptResponse.parse(receipt)).toEqual(receipt);
        const found = verifyReceipt(receipt, keys);
        expect(found).toMatchObject({ valid: true, checks: { signature: 'ok', cost: 'ok' } });
        if (!found.valid) return;
        const { nonce } = found.payload;
        expect(found.payload).toMatchObject({
          receipt_id: facts.receipt_id,
          request_id: facts.request_id,
          usage,
          cost_nano_usd: facts.cost_nano_usd,
          account_hash: accountHash(nonce, facts.account_id),
          key_hash: keyHash(nonce, facts.key_id ?? ''),
        });
      }),
      { numRuns: 40 },
    );
  });

  test('is signed as any library for JWS checks it: with its payload, as canonical JSON, beside it', async () => {
    const { payload } = issueReceipt(factsOf(chat, USAGE));
    const [header = '', , signature = ''] = (await signReceipt(payload, key)).split('.');
    const publicKey = await importJWK({ kty: 'OKP', crv: 'Ed25519', x: key.x, alg: 'EdDSA' });
    const { protectedHeader } = await flattenedVerify(
      { protected: header, payload: Buffer.from(payload).toString('base64url'), signature },
      publicKey,
    );
    expect(protectedHeader).toEqual({ alg: 'EdDSA', kid: key.kid, typ: 'tallygate-receipt' });
  });

  test.each([
    ['cost', { cost_nano_usd: '1' }],
    ['usage', { usage: { ...USAGE, output_tokens: 1, reasoning_tokens: 0 } }],
    ['mode', { livemode: false }],
    ['request', { request_sha256: 'c'.repeat(64) }],
  ])('does not verify with another %s', async (_, change) => {
    const receipt = await onTheWire(issueReceipt(factsOf(chat, USAGE)));
    expect(verifyReceipt({ ...receipt, payload: { ...receipt.payload, ...change } }, keys)).toMatchObject({
      valid: false,
      code: 'bad_digest',
    });
  });

  test('names account and key by salted hashes alone, which differ from receipt to receipt', () => {
    const ids = { account_id: newId(), key_id: newId() };
    const [first, second] = [issueReceipt(factsOf(chat, USAGE, ids)), issueReceipt(factsOf(chat, USAGE, ids))];
    for (const { payload } of [first, second]) {
      expect(payload).not.toContain(ids.account_id);
      expect(payload).not.toContain(ids.key_id);
    }
    const [a, b] = [first, second].map(({ payload }) => JSON.parse(payload));
    expect(a.nonce).not.toBe(b.nonce);
    expect(a.account_hash).not.toBe(b.account_hash);
    expect(a.key_hash).not.toBe(b.key_hash);
  });

  test('names project, end user and tags by salted hashes alone, by which a reader who knows them tells', async () => {
    const named = { project_id: newId(), end_user: 'marie@example.com', tags: ['nightly', 'été'] };
    const said = issueReceipt(factsOf(chat, USAGE, named));
    for (const name of [named.project_id, named.end_user, ...named.tags]) expect(said.payload).not.toContain(name);
    const found = verifyReceipt(await onTheWire(said), keys);
    if (!found.valid) throw new Error(found.reason);
    const subjects = { projectId: named.project_id, endUser: named.end_user, tags: named.tags };
    expect(foreignSubject(found.payload, subjects)).toBeUndefined();
    expect(foreignSubject(found.payload, { ...subjects, projectId: newId() })).toBe('not of that project');
    expect(foreignSubject(found.payload, { ...subjects, endUser: 'somebody else' })).toBe('not for that end user');
    expect(foreignSubject(found.payload, { ...subjects, tags: ['nightly', 'daily'] })).toBe('without the tag daily');
  });

  test('of a request without project, end user and tags has no hash of any', () => {
    expect(issueReceipt(factsOf(chat, USAGE, { project_id: null, end_user: null, tags: [] })).payload).not.toMatch(/project|end_user|tag/);
  });

  test('of a session names no key', async () => {
    const receipt = await onTheWire(issueReceipt(factsOf(chat, USAGE, { key_id: null })));
    expect(receipt.payload.key_hash).toBeNull();
    expect(verifyReceipt(receipt, keys)).toMatchObject({ valid: true });
  });

  test('of a request that failed says that nothing was charged', async () => {
    const nothing = { input_tokens: 0, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 0, reasoning_tokens: 0 };
    const receipt = await onTheWire(issueReceipt(factsOf(chat, nothing, { outcome: 'failed' })));
    expect(verifyReceipt(receipt, keys)).toMatchObject({ valid: true, payload: { cost_nano_usd: '0' } });
  });
});
