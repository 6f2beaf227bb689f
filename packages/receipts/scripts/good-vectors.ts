import { LATER_SIZE } from './anchor-vectors.ts';
import { reversed } from './broken-vector.ts';
import { goodPriceEntryVectors } from './good-price-entry-vectors.ts';
import { anchored, type GoodVector, good, goodText, logged } from './good-vector.ts';
import { goodPayments } from './payment-vectors.ts';
import { toolPayloads } from './tool-vectors.ts';
import { entryAt, INDEX, leavesAround } from './vector-log.ts';
import {
  clientSignature,
  future,
  hashesOfNames,
  issue,
  logCurrent,
  logRetired,
  names,
  noUsage,
  payloadWith,
  refundWith,
  retired,
} from './vector-receipts.ts';

const free = payloadWith({ price_entry: null, unit_prices_pico_usd: { input_tokens: '0', output_tokens: '0' }, cost_nano_usd: '0' });
const ofJune = payloadWith({ started_at: '2026-06-30T23:59:59.000Z', completed_at: '2026-07-01T00:00:00.000Z' });

export const goodVectors: Readonly<Record<string, GoodVector>> = {
  ...Object.fromEntries(Object.entries({ ...goodPayments, ...toolPayloads }).map(([name, [why, payload]]) => [name, good(why, payload)])),
  ...goodPriceEntryVectors,
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
  abandoned: good(
    'A request whose gateway stopped while the provider was at work: charged at the most that it could use, with its input at the dearest of its prices. 500 × 3,750,000 + 64 × 15,000,000 pico-USD is 2,835,000 nano-USD.',
    payloadWith({
      outcome: 'abandoned',
      estimated: true,
      usage: { input_tokens: 500, cached_input_tokens: 0, cache_write_tokens: 500, output_tokens: 64, reasoning_tokens: 0 },
      unit_prices_pico_usd: { input_tokens: '3000000', cache_write_tokens: '3750000', output_tokens: '15000000' },
      cost_nano_usd: '2835000',
    }),
  ),
  'for-an-end-user': {
    ...good('It names project, end user and tags by hashes salted with its nonce.', payloadWith(hashesOfNames)),
    names,
  },
  'waived-in-part': good('Settled late, 84,000 did not fit a cap.', payloadWith({ cost_nano_usd: '300000', waived_nano_usd: '84000' })),
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
  'batch-line': good(
    'A line of a batch at half the price. 384,000 × 0.5.',
    payloadWith({ kind: 'batch_line', price_factor: '0.5', cost_nano_usd: '192000' }),
  ),
  'batch-line-rounded-up-once': good(
    'Two parts of 2,001 pico-USD, times 0.5, are 2,001 pico-USD: 3 nano-USD. Rounding each part up after the factor would give 4.',
    payloadWith({
      kind: 'batch_line',
      price_factor: '0.5',
      usage: { ...noUsage, input_tokens: 1, output_tokens: 1 },
      unit_prices_pico_usd: { input_tokens: '2001', output_tokens: '2001' },
      cost_nano_usd: '3',
    }),
  ),
  'hour-long-cache': good(
    'Writes to the cache for an hour and for five minutes, at two prices: 500 × 3,000,000 + 200 × 3,750,000 + 300 × 6,000,000 pico-USD.',
    payloadWith({
      model_requested: 'claude-sonnet-4-6',
      model_served: 'claude-sonnet-4-6',
      provider: 'anthropic',
      usage: { ...noUsage, input_tokens: 1000, cache_write_tokens: 200, cache_write_1h_tokens: 300 },
      unit_prices_pico_usd: {
        input_tokens: '3000000',
        cache_write_tokens: '3750000',
        cache_write_1h_tokens: '6000000',
        output_tokens: '15000000',
      },
      cost_nano_usd: '4050000',
    }),
  ),
  images: good(
    'Two images from a text and a picture, a part of it cached: 50 × 5,000,000 + 200 × 10,000,000 + 100 × 2,500,000 + 8,320 × 40,000,000 pico-USD. The images themselves are counted only.',
    payloadWith({
      endpoint: '/v1/images/edits',
      model_requested: 'gpt-image-1',
      model_served: 'gpt-image-1',
      usage: {
        ...noUsage,
        input_tokens: 350,
        image_input_tokens: 300,
        cached_image_input_tokens: 100,
        output_tokens: 8320,
        image_output_tokens: 8320,
        images: 2,
      },
      unit_prices_pico_usd: {
        input_tokens: '5000000',
        image_input_tokens: '10000000',
        cached_image_input_tokens: '2500000',
        image_output_tokens: '40000000',
      },
      cost_nano_usd: '335300000',
    }),
  ),
  speech: good(
    '250 characters to be spoken, at 15,000,000 pico-USD each.',
    payloadWith({
      endpoint: '/v1/audio/speech',
      model_requested: 'tts-1',
      model_served: 'tts-1',
      usage: { ...noUsage, input_characters: 250 },
      unit_prices_pico_usd: { input_characters: '15000000' },
      cost_nano_usd: '3750000',
    }),
  ),
  'transcription-by-seconds': good(
    '61 seconds of audio at 100,000,000 pico-USD each.',
    payloadWith({
      endpoint: '/v1/audio/transcriptions',
      model_requested: 'whisper-1',
      model_served: 'whisper-1',
      usage: { ...noUsage, audio_seconds: 61 },
      unit_prices_pico_usd: { audio_seconds: '100000000' },
      cost_nano_usd: '6100000',
    }),
  ),
  'transcription-by-tokens': good(
    'Audio tokens and the text of a prompt in, text out. The seconds have no price with this model and are counted only.',
    payloadWith({
      endpoint: '/v1/audio/transcriptions',
      model_requested: 'gpt-4o-transcribe',
      model_served: 'gpt-4o-transcribe',
      usage: { ...noUsage, input_tokens: 310, audio_input_tokens: 300, output_tokens: 80, audio_seconds: 30 },
      unit_prices_pico_usd: { audio_input_tokens: '2500000', input_tokens: '2500000', output_tokens: '10000000' },
      cost_nano_usd: '1575000',
    }),
  ),
  'realtime-response': good(
    'A response of a realtime session: 250 × 600,000 + 100 × 60,000 + 300 × 10,000,000 + 600 × 300,000 + 40 × 2,400,000 + 160 × 20,000,000 pico-USD.',
    payloadWith({
      endpoint: '/v1/realtime',
      model_requested: 'gpt-realtime-mini',
      model_served: 'gpt-realtime-mini',
      usage: {
        ...noUsage,
        input_tokens: 1250,
        cached_input_tokens: 100,
        audio_input_tokens: 900,
        cached_audio_input_tokens: 600,
        output_tokens: 200,
        audio_output_tokens: 160,
      },
      unit_prices_pico_usd: {
        input_tokens: '600000',
        cached_input_tokens: '60000',
        audio_input_tokens: '10000000',
        cached_audio_input_tokens: '300000',
        output_tokens: '2400000',
        audio_output_tokens: '20000000',
      },
      cost_nano_usd: '6632000',
    }),
  ),
  'video-job': good(
    'A media job: 8 seconds of video at 100,000,000,000 pico-USD each.',
    payloadWith({
      kind: 'media_job',
      endpoint: '/v1/videos',
      model_requested: 'sora-2',
      model_served: 'sora-2',
      usage: { ...noUsage, video_seconds: 8 },
      unit_prices_pico_usd: { video_seconds: '100000000000' },
      cost_nano_usd: '800000000',
    }),
  ),
  'free-of-charge': good(
    'A model that costs nothing: a price of zero is a price.',
    payloadWith({
      endpoint: '/v1/moderations',
      model_requested: 'omni-moderation-latest',
      model_served: 'omni-moderation-latest',
      usage: { ...noUsage, input_tokens: 12 },
      unit_prices_pico_usd: { input_tokens: '0' },
      cost_nano_usd: '0',
    }),
  ),
  refund: good('All that the plain request cost is given back.', refundWith()),
  'refund-in-part': good('A part of what the plain request cost is given back.', refundWith({ cost_nano_usd: '100000' })),
  'refund-of-batch-line': good(
    'A line of a batch is given back at the factor at which it was charged.',
    refundWith({ price_factor: '0.5', cost_nano_usd: '192000' }),
  ),
  correction: good(
    'Takes the place of an earlier receipt that had the counts wrong.',
    payloadWith({
      kind: 'correction',
      receipt_id: '7b2e3c74-9f5d-4a2b-9ca8-4d3b8e5f6071',
      refund_of: payloadWith().receipt_id,
      refund_reason: 'The cached tokens had been counted as fresh ones.',
      usage: { input_tokens: 1200, cached_input_tokens: 200, cache_write_tokens: 0, output_tokens: 340, reasoning_tokens: 0 },
      cost_nano_usd: '369000',
    }),
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
  cached: good(
    'Answered with an answer that was kept: zero usage, zero cost, at the prices that the model has now.',
    payloadWith({
      outcome: 'cached',
      usage: { input_tokens: 0, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 0, reasoning_tokens: 0 },
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
  'retired-key-in-its-time': good('Signed with a key that has been retired since: the receipt stays valid.', ofJune, retired),
  'signed-by-a-later-key': good('Signed when it was read, with a key that is newer than the receipt.', payloadWith(), future),
  'reordered-members': goodText('The order of members does not matter.', JSON.stringify(reversed(issue(payloadWith())))),
  'pretty-printed': goodText('White space does not matter.', `\n${JSON.stringify(issue(payloadWith()), null, '\t')}\r\n`),
  'escaped-text': goodText(
    'How a string is escaped does not matter.',
    JSON.stringify(issue(payloadWith())).replaceAll('openai', '\\u006fpen\\u0061i').replaceAll('/v1/chat', '\\/v1\\/chat'),
  ),
  'unsigned-extra-outside-payload': {
    ...good('What is beside the payload is not signed: an unknown member there is ignored.', payloadWith()),
    receipt: { ...issue(payloadWith()), note: 'added by a mail gateway' },
  },
  'log-null': {
    ...good('Receipts from before there was a log say null in the place of pending.', payloadWith()),
    receipt: { ...issue(payloadWith()), log: null },
  },
  logged: logged('Entry 5 of a log of 13, with its proof and the state of the log.', entryAt(leavesAround(), INDEX)),
  'logged-alone': logged(
    'The only entry of a log, and free, so without a price: the path is empty.',
    entryAt(leavesAround(free, 0, 1), 0),
    free,
  ),
  'logged-last': logged(
    'The last entry of a log of odd size: it has no neighbour on its level.',
    entryAt(leavesAround(payloadWith(), 12, 13), 12),
  ),
  'logged-by-two-keys': logged(
    'Two keys of the log signed its state, as while one takes the place of the other; either is enough.',
    entryAt(leavesAround(), INDEX, { keys: [logRetired, logCurrent] }),
  ),
  'logged-and-witnessed': logged(
    'A witness cosigned the state of the log. A reader who does not know the witness passes over its line.',
    entryAt(leavesAround(), INDEX, { isWitnessed: true }),
  ),
  'logged-by-retired-key-in-its-time': logged(
    'Receipt and state of the log were signed with keys that have been retired since: both stay valid.',
    entryAt(leavesAround(ofJune, 7, 8), 7, { keys: [logRetired] }),
    ofJune,
    retired,
  ),
  anchored: anchored('The very state of the log that its proof is against is on a chain.', 13),
  'anchored-in-a-later-state': anchored('A later state of the log is on a chain: the receipt has a path to that too.', LATER_SIZE),
  'anchored-in-an-earlier-state': anchored('An earlier state of the log is on a chain, which had the receipt already.', INDEX + 1),
};
