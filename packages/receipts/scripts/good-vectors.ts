import { signingInput } from '../src/digest.ts';
import type { ReceiptPayload } from '../src/receipt.ts';
import { clientSignature, issue, payloadWith, retired, type VectorKey } from './vector-receipts.ts';

export interface GoodVector {
  readonly why: string;
  readonly receipt?: unknown;
  readonly text?: string;
  /** What is hashed for the digest, to find the first byte that differs. */
  readonly signing_input: string;
  readonly cost_nano_usd: string;
}

const good = (why: string, payload: ReceiptPayload, key?: VectorKey): GoodVector => ({
  why,
  receipt: issue(payload, key),
  signing_input: signingInput(payload),
  cost_nano_usd: payload.cost_nano_usd,
});

const goodText = (why: string, text: string): GoodVector => ({
  why,
  text,
  signing_input: signingInput(payloadWith()),
  cost_nano_usd: payloadWith().cost_nano_usd,
});

/** The same value with the members of every object in reverse order. */
function reversed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(reversed);
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reversed(member)]),
  );
}

export const goodVectors: Readonly<Record<string, GoodVector>> = {
  plain: good('A chat completion, 1,200 tokens in and 340 out.', payloadWith()),
  'streamed-estimated': good(
    'A stream that the client broke off; the provider reported no usage, so the counts are the gateway’s. 7 × 150,000 + 1 × 600,000 pico-USD is 1,650 nano-USD.',
    payloadWith({
      outcome: 'cancelled',
      estimated: true,
      usage: { input_tokens: 7, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 1, reasoning_tokens: 0 },
      cost_nano_usd: '1650',
    }),
  ),
  'cached-tokens': good(
    'Cached, cache-write and fresh input at three prices, reasoning at the price of the output.',
    payloadWith({
      model_requested: 'claude-sonnet-5',
      model_served: 'claude-sonnet-5',
      provider: 'anthropic',
      usage: { input_tokens: 1000, cached_input_tokens: 600, cache_write_tokens: 300, output_tokens: 50, reasoning_tokens: 20 },
      unit_prices_pico_usd: {
        input_tokens: '3000000',
        cached_input_tokens: '300000',
        cache_write_tokens: '3750000',
        output_tokens: '15000000',
      },
      cost_nano_usd: '2355000',
    }),
  ),
  'cached-tokens-without-own-price': good(
    'Where the model has no price for cached or cache-write tokens, they cost the input price.',
    payloadWith({
      usage: { input_tokens: 1000, cached_input_tokens: 600, cache_write_tokens: 300, output_tokens: 50, reasoning_tokens: 0 },
      unit_prices_pico_usd: { input_tokens: '150000', output_tokens: '600000' },
      cost_nano_usd: '180000',
    }),
  ),
  'rounded-up-once': good(
    'Three times 400 pico-USD is 1,200, rounded up to 2 nano-USD. Rounding each part up would give 3, rounding the sum down or to the nearest 1.',
    payloadWith({
      usage: { input_tokens: 2, cached_input_tokens: 1, cache_write_tokens: 0, output_tokens: 1, reasoning_tokens: 0 },
      unit_prices_pico_usd: { input_tokens: '400', output_tokens: '400' },
      cost_nano_usd: '2',
    }),
  ),
  'long-context-tier': good(
    'More than 272,000 input tokens: the whole request is priced at the tier, and the receipt names it.',
    payloadWith({
      model_requested: 'gpt-5.6-sol',
      model_served: 'gpt-5.6-sol',
      usage: { input_tokens: 272001, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 10, reasoning_tokens: 0 },
      price_tier_above_input_tokens: 272000,
      unit_prices_pico_usd: { input_tokens: '10000000', cached_input_tokens: '1000000', output_tokens: '45000000' },
      cost_nano_usd: '2720460000',
    }),
  ),
  'test-mode': good('A test key: the sandbox answered, no real money moved.', payloadWith({ livemode: false, provider: 'sandbox' })),
  run: good(
    'One step of an agent run, paid by a session (no key), answered by a fallback model.',
    payloadWith({ key_hash: null, run_id: 'nightly-42', model_requested: 'gpt-5.6-sol', fallback: 'model' }),
  ),
  'failed-uncharged': good(
    'No provider answered: zero usage, zero cost. A price may be missing where nothing was charged at it.',
    payloadWith({
      outcome: 'failed',
      usage: { input_tokens: 0, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 0, reasoning_tokens: 0 },
      unit_prices_pico_usd: {},
      cost_nano_usd: '0',
    }),
  ),
  'non-ascii': good(
    'Escapes, control characters, line separators and characters beyond the BMP in strings: only RFC 8785 gives these bytes.',
    payloadWith({ run_id: 'Zürich/東京/😀/\u2028\u0007\t"\\\u007f', model_requested: 'modèle-ﬁ' }),
  ),
  'largest-count': good(
    'The largest integer that JSON carries without loss.',
    payloadWith({
      usage: {
        input_tokens: Number.MAX_SAFE_INTEGER,
        cached_input_tokens: 0,
        cache_write_tokens: 0,
        output_tokens: 0,
        reasoning_tokens: 0,
      },
      cost_nano_usd: '1351079888211148650',
    }),
  ),
  'client-signature': good(
    'The caller signed the request (RFC 9421) over what the receipt states: method (POST), path (endpoint) and content digest.',
    payloadWith({ client_signature: clientSignature() }),
  ),
  'client-signature-of-more': good(
    'The caller’s signature also covers "@authority", which is not in the receipt: it verifies with api.example.com in its place.',
    payloadWith({
      client_signature: clientSignature({
        input: '("@method" "@authority" "@path" "content-digest");created=1795248000',
        components: { '@authority': 'api.example.com' },
      }),
    }),
  ),
  'retired-key-in-its-time': good(
    'Signed with a key that has been retired since: the receipt stays valid.',
    payloadWith({ started_at: '2026-06-30T23:59:59.000Z', completed_at: '2026-07-01T00:00:00.000Z' }),
    retired,
  ),
  'reordered-members': goodText('The order of members does not matter.', JSON.stringify(reversed(issue(payloadWith())))),
  'pretty-printed': goodText('White space does not matter.', `\n${JSON.stringify(issue(payloadWith()), null, '\t')}\r\n`),
  'escaped-text': goodText(
    'How a string is escaped does not matter.',
    JSON.stringify(issue(payloadWith())).replaceAll('openai', '\\u006fpen\\u0061i').replaceAll('/v1/chat', '\\/v1\\/chat'),
  ),
  'unsigned-extra-outside-payload': {
    ...good('What stands beside the payload is not signed: an unknown member there is ignored.', payloadWith()),
    receipt: { ...issue(payloadWith()), note: 'added by a mail gateway' },
  },
};
