import { RequestTrace } from '@tallygate/contract';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Account } from './account.ts';
import { Gateway } from './gateway.ts';
import { openLedgerAudit } from './ledger-audit.ts';

const PATIENCE = { timeout: 120_000, interval: 500 };
const PROMPT = 'A ledger turning its own pages';
/** What `sora-2` costs for four seconds, USD. */
const PRICE = '0.4';

let gateway: Gateway;
let account: Account;
let openai: OpenAI;
let connect: () => OpenAI;

beforeAll(async () => {
  gateway = await Gateway.start();
  account = await Account.signUp(gateway);
  const { key } = await account.createKey({ livemode: false });
  connect = () => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 });
  openai = connect();
});
afterAll(() => gateway?.remove());

const ended = (id: string) =>
  vi.waitUntil(async () => {
    const video = await openai.videos.retrieve(id);
    return video.status === 'completed' || video.status === 'failed' ? video : undefined;
  }, PATIENCE);

/** The trace of the call that began a job, once it is written, and once it has this refund. */
async function trace(requestId: string, isRefunded = false): Promise<RequestTrace> {
  return vi.waitUntil(async () => {
    const answer = await fetch(`${gateway.url}/v1/requests/${requestId}`, { headers: account.session });
    if (answer.status === 404) return undefined;
    const found = RequestTrace.parse(await answer.json());
    return isRefunded && !found.refund ? undefined : found;
  }, PATIENCE);
}

async function receipt(receiptId: string): Promise<{ payload: Record<string, unknown> }> {
  const answer = await fetch(`${gateway.url}/v1/receipts/${receiptId}`);
  expect(answer.status).toBe(200);
  return await answer.json();
}

describe('the OpenAI SDK', () => {
  test('begins a video, follows it, downloads it and its pictures, remixes and deletes it', async () => {
    const { data: begun, response } = await openai.videos
      .create({ model: 'sora-2', prompt: PROMPT, seconds: '4', size: '1280x720' })
      .withResponse();
    expect(begun).toMatchObject({
      object: 'video',
      model: 'sora-2',
      prompt: PROMPT,
      seconds: '4',
      size: '1280x720',
      error: null,
      completed_at: null,
      remixed_from_video_id: null,
    });
    expect(begun.id).toMatch(/^video_[0-9a-f]{32}$/);
    expect(response.headers.get('x-cost-usd')).toBe(PRICE);
    await expect(openai.videos.downloadContent(begun.id)).rejects.toBeInstanceOf(OpenAI.ConflictError);
    await expect(openai.videos.remix(begun.id, { prompt: 'At night' })).rejects.toBeInstanceOf(OpenAI.ConflictError);

    const video = await ended(begun.id);
    expect(video).toMatchObject({ id: begun.id, status: 'completed', progress: 100, prompt: PROMPT });
    expect(video.expires_at).toBeGreaterThan(video.completed_at ?? Number.POSITIVE_INFINITY);
    const whole = Buffer.from(await (await openai.videos.downloadContent(begun.id)).arrayBuffer());
    expect(whole.toString('latin1', 4, 8)).toBe('ftyp');
    for (const variant of ['thumbnail', 'spritesheet'] as const) {
      const picture = Buffer.from(await (await openai.videos.downloadContent(begun.id, { variant })).arrayBuffer());
      expect(picture.toString('latin1', 8, 12)).toBe('WEBP');
    }
    const part = await openai.videos.downloadContent(begun.id, {}, { headers: { range: 'bytes=4-7' } });
    expect([part.status, await part.text(), part.headers.get('content-range')]).toEqual([206, 'ftyp', `bytes 4-7/${whole.length}`]);

    const remix = await openai.videos.remix(begun.id, { prompt: 'The same, at night' });
    expect(remix).toMatchObject({ remixed_from_video_id: begun.id, prompt: 'The same, at night', seconds: '4', size: '1280x720' });
    expect(await ended(remix.id)).toMatchObject({ status: 'completed' });

    const seen: string[] = [];
    for await (const { id } of openai.videos.list({ limit: 1, order: 'asc' })) seen.push(id);
    expect(seen).toEqual([begun.id, remix.id]);
    expect(await openai.videos.delete(begun.id)).toEqual({ id: begun.id, object: 'video.deleted', deleted: true });
    await expect(openai.videos.retrieve(begun.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(openai.videos.downloadContent(begun.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);

    const charged = await trace(response.headers.get('x-request-id') ?? '');
    expect(charged).toMatchObject({ cost_usd: PRICE, refund: null });
    expect((await receipt(response.headers.get('x-receipt-id') ?? '')).payload).toMatchObject({
      kind: 'media_job',
      usage: { video_seconds: 4 },
      cost_nano_usd: '400000000',
    });
  });

  test('edits and extends a video, each at the price of its seconds, and gives back the ones that fail', async () => {
    const source = await openai.videos.create({ prompt: 'Day', seconds: '4', size: '1280x720' });
    const unfinished = openai.videos.edit({ prompt: 'Night', video: { id: source.id } });
    await expect(unfinished).rejects.toBeInstanceOf(OpenAI.ConflictError);
    await ended(source.id);
    const video = { id: source.id };
    const edit = await openai.videos.edit({ prompt: 'Night', video }).withResponse();
    const same = { size: '1280x720', remixed_from_video_id: source.id };
    expect(edit.data).toMatchObject({ ...same, prompt: 'Night', seconds: '4', status: 'queued' });
    const extension = await openai.videos.extend({ prompt: 'On', seconds: '8', video }).withResponse();
    expect(extension.data).toMatchObject({ ...same, prompt: 'On', seconds: '12' });
    const oddLength = openai.videos.extend({ prompt: 'On', seconds: '5' as '4', video });
    await expect(oddLength).rejects.toThrow('must be "4" or "8" or "12" or "16" or "20" for sora-2');
    const failing = await openai.videos.edit({ prompt: '[fail]', video }).withResponse();
    expect(await ended(edit.data.id)).toMatchObject({ status: 'completed', seconds: '4' });
    expect(await ended(extension.data.id)).toMatchObject({ status: 'completed', seconds: '12' });
    expect(await ended(failing.data.id)).toMatchObject({ status: 'failed' });
    const again = await openai.videos.edit({ prompt: 'Again', video: { id: extension.data.id } }).withResponse();
    expect(again.data).toMatchObject({ seconds: '12', remixed_from_video_id: extension.data.id });
    // For the extension, the eight added seconds; for its remix, all twelve.
    for (const [{ response }, cost_usd] of [
      [edit, '0.4'],
      [extension, '0.8'],
      [again, '1.2'],
    ] as const)
      expect(await trace(response.headers.get('x-request-id') ?? '')).toMatchObject({ cost_usd, refund: null });
    expect((await trace(failing.response.headers.get('x-request-id') ?? '', true)).refund).toMatchObject({ cost_usd: '0.4' });
  });

  test('makes characters of a file and of a video, and lets them appear', async () => {
    const shown = await toFile(Buffer.from('\0\0\0\x18ftypmp42 a cat'), 'cat.mp4', { type: 'video/mp4' });
    const cat = await openai.videos.createCharacter({ name: 'Mittens', video: shown });
    expect(cat).toEqual({ id: expect.stringMatching(/^char_[0-9a-f]{32}$/), name: 'Mittens', created_at: expect.any(Number) });
    expect(await openai.videos.getCharacter(cat.id ?? '')).toEqual(cat);
    const source = await openai.videos.create({ prompt: 'A dog' });
    await ended(source.id);
    const { data: dog, response } = await openai
      .post<typeof cat>('/videos/characters', { body: { name: 'Rex', video: { id: source.id } } })
      .withResponse();
    expect(response.headers.get('x-cost-usd')).toBe('0');
    const body = { prompt: 'Mittens meets Rex', characters: [{ id: cat.id }, { id: dog.id }] };
    expect(await ended((await openai.post<{ id: string }>('/videos', { body })).id)).toMatchObject({ status: 'completed' });
    const stranger = await account.createKey({});
    const other = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: stranger.key, maxRetries: 0 });
    await expect(other.videos.getCharacter(cat.id ?? '')).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  test('begins a video with a picture as a file, and under the alias', async () => {
    const { data: painted } = await openai.images.generate({ model: 'gpt-image-1', prompt: 'A page', size: '1024x1024' });
    const picture = await toFile(Buffer.from(painted?.[0]?.b64_json ?? '', 'base64'), 'page.png', { type: 'image/png' });
    expect(await openai.videos.create({ prompt: PROMPT, input_reference: picture })).toMatchObject({ seconds: '4', size: '720x1280' });
    expect(await openai.post('/video/generations', { body: { prompt: PROMPT, seconds: 8 } })).toMatchObject({ seconds: '8' });
  });

  test('is given a failed job back in full, with a receipt', async () => {
    const { data: begun, response } = await openai.videos
      .create({ prompt: PROMPT }, { headers: { 'x-sandbox-fault': 'failed-job' } })
      .withResponse();
    expect(await ended(begun.id)).toMatchObject({ status: 'failed', error: { code: 'sandbox_fault' }, completed_at: null });
    await expect(openai.videos.downloadContent(begun.id)).rejects.toThrow('given back in full');
    const { refund } = await trace(response.headers.get('x-request-id') ?? '', true);
    expect(await openai.videos.retrieve(begun.id)).toMatchObject({ refund_receipt_id: refund?.receipt_id });
    expect((await receipt(refund?.receipt_id ?? '')).payload).toMatchObject({
      kind: 'refund',
      refund_of: response.headers.get('x-receipt-id'),
      cost_nano_usd: '400000000',
    });
  });

  test('gets an error for unavailable content, and pays nothing', async () => {
    const file = await toFile(Buffer.from('x'), 'x.mp4');
    const refusals: [() => Promise<unknown>, string][] = [
      [() => openai.videos.create({ prompt: PROMPT, seconds: '5' as '4' }), 'must be "4" or "8" or "12" for sora-2'],
      [() => openai.videos.create({ prompt: PROMPT, size: '64x64' as '720x1280' }), '`size` must be'],
      [() => openai.videos.edit({ prompt: PROMPT, video: file }), 'nothing says how long a file is'],
      [() => openai.videos.extend({ prompt: PROMPT, seconds: '4', video: file }), 'nothing says how long a file is'],
      [() => openai.post('/videos/characters', { body: { name: 'Ada' } }), 'must be one video'],
    ];
    for (const [refused, words] of refusals) {
      const error = await refused().then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(OpenAI.BadRequestError);
      expect(String(error)).toContain(words);
    }
    const noVideo = openai.videos.createCharacter({ name: 'Ada', video: file });
    await expect(noVideo).rejects.toBeInstanceOf(OpenAI.BadRequestError);
    const missing: (() => Promise<unknown>)[] = [
      () => openai.videos.getCharacter('char_1'),
      () => openai.videos.remix('video_0', { prompt: PROMPT }),
      () => openai.videos.edit({ prompt: PROMPT, video: { id: 'video_0' } }),
      () => openai.videos.extend({ prompt: PROMPT, seconds: '4', video: { id: 'video_0' } }),
      () => openai.post('/videos', { body: { prompt: PROMPT, characters: [{ id: 'char_1' }] } }),
    ];
    for (const ask of missing) await expect(ask()).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  test('gets one video for one Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'video-once' };
    const body = { prompt: 'Once', model: 'sora-2' };
    const first = await openai.post('/videos', { body, headers });
    expect(await openai.post('/videos', { body, headers })).toEqual(first);
  });
});

test('a failed job is refunded once, also when the gateway dies meanwhile', async () => {
  const { data: begun, response } = await openai.videos
    .create({ prompt: 'To nothing' }, { headers: { 'x-sandbox-fault': 'failed-job' } })
    .withResponse();
  await gateway.kill();
  await gateway.start();
  openai = connect();
  expect(await ended(begun.id)).toMatchObject({ status: 'failed' });
  const { refund } = await trace(response.headers.get('x-request-id') ?? '', true);
  await gateway.kill();
  await gateway.start();
  openai = connect();
  expect((await trace(response.headers.get('x-request-id') ?? '', true)).refund).toEqual(refund);
  await using ledger = await openLedgerAudit(gateway);
  await expect.poll(() => ledger.faults(), PATIENCE).toEqual([]);
});

test('a job outlives the gateway that began it', async () => {
  const begun = await openai.videos.create({ prompt: 'Through a crash' });
  await gateway.process.signal('SIGKILL');
  await gateway.start();
  openai = connect();
  expect(await ended(begun.id)).toMatchObject({ status: 'completed' });
  expect((await openai.videos.downloadContent(begun.id)).headers.get('content-type')).toBe('video/mp4');
});
