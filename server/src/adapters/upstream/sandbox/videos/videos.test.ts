import { hash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { VideoJobRequest } from '../../port.ts';
import { readImageHeader } from '../image-header.ts';
import { createSandboxProvider } from '../index.ts';
import { fileOf } from '../testing/files.ts';
import { NOW } from '../testing/sandbox.ts';
import { frame, type VideoSize } from './h264.ts';
import { idOf, jobOf } from './job.ts';

const clock = { at: NOW, now: () => clock.at };
const sandbox = createSandboxProvider({ clock });
const request: VideoJobRequest = { model: 'sora-2', prompt: 'A ledger turning its own pages', size: '96x64', seconds: '4' };
const begin = (fields: Partial<VideoJobRequest> = {}, overrides: { sandboxFault?: string; files?: ReturnType<typeof fileOf>[] } = {}) => {
  clock.at = NOW;
  const timeouts = { firstByteTimeoutMs: 5000, idleTimeoutMs: 5000, signal: new AbortController().signal };
  const call = { endpoint: '/v1/videos' as const, model: 'sora-2', stream: false, maxOutputTokens: null, ...timeouts };
  return sandbox.call({ ...call, request: { ...request, ...fields }, ...overrides });
};
const created = async (...asked: Parameters<typeof begin>) => {
  const outcome = await begin(...asked);
  if (!outcome.ok) throw new Error(outcome.message);
  return JSON.parse((await outcome.collect(1e6)).toString());
};
const read = async (path: string, afterMs = 0, method: 'GET' | 'DELETE' = 'GET') => {
  clock.at = NOW + afterMs;
  // A provider that has just been started knows every job all the same.
  const restarted = createSandboxProvider({ clock });
  const answer = await restarted.read?.({
    method,
    path,
    firstByteTimeoutMs: 5000,
    idleTimeoutMs: 5000,
    signal: new AbortController().signal,
  });
  if (!answer) throw new Error('The sandbox reads nothing.');
  return answer;
};
const found = async (...asked: Parameters<typeof read>) => {
  const answer = await read(...asked);
  if (!answer.ok) throw new Error(answer.message);
  return { contentType: answer.contentType, bytes: await answer.collect(1e8) };
};
const job = async (...asked: Parameters<typeof read>) => JSON.parse((await found(...asked)).bytes.toString());

/** Boxes of an MP4, by their path. */
function boxes(bytes: Buffer, within = ''): Map<string, Buffer> {
  const result = new Map<string, Buffer>();
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const path = `${within}/${bytes.toString('latin1', at + 4, at + 8)}`;
    const content = bytes.subarray(at + 8, at + length);
    result.set(path, content);
    if (/\/(moov|trak|mdia|minf|stbl)$/.test(path)) for (const [inner, box] of boxes(content, path)) result.set(inner, box);
    at += Math.max(8, length);
  }
  return result;
}

describe('video jobs of the sandbox', () => {
  it('are queued, go on by the clock, and are completed, also for a provider that was started since', async () => {
    const begun = await created();
    expect(begun).toEqual({
      id: expect.stringMatching(/^video_[A-Za-z0-9_-]+$/),
      object: 'video',
      model: 'sora-2',
      status: 'queued',
      progress: 0,
      created_at: NOW / 1000,
      completed_at: null,
      expires_at: null,
      prompt: request.prompt,
      size: '96x64',
      seconds: '4',
      remixed_from_video_id: null,
      error: null,
    });
    const path = `/videos/${begun.id}`;
    expect(await job(path, 1000)).toMatchObject({ status: 'in_progress', progress: 50, completed_at: null });
    expect(await job(path, 2000)).toMatchObject({
      status: 'completed',
      progress: 100,
      completed_at: NOW / 1000 + 2,
      expires_at: NOW / 1000 + 86_402,
    });
    expect(await job(path, 0, 'DELETE')).toEqual({ id: begun.id, object: 'video.deleted', deleted: true });
  });

  it('take as long as is asked for, and fail where that is', async () => {
    const slow = await created({}, { sandboxFault: 'slow-job;ms=60000' });
    expect(await job(`/videos/${slow.id}`, 30_000)).toMatchObject({ status: 'in_progress', progress: 50 });
    for (const failing of [await created({}, { sandboxFault: 'failed-job' }), await created({ prompt: 'A cat [fail]' })]) {
      expect(await job(`/videos/${failing.id}`, 500)).toMatchObject({ status: 'in_progress', error: null });
      const failed = await job(`/videos/${failing.id}`, 1500);
      expect(failed).toMatchObject({ status: 'failed', completed_at: null, error: { code: 'sandbox_fault', message: expect.any(String) } });
      expect(await read(`/videos/${failing.id}/content`, 5000)).toMatchObject({ ok: false, status: 400, code: 'video_not_ready' });
    }
  });

  it('are wholly in their ids, remixes of remixes too', () => {
    const jobs = fc.record({
      model: fc.string({ maxLength: 40 }).map((text) => Buffer.from(text).toString()),
      createdAtMs: fc.nat(2 ** 31 - 1).map((seconds) => seconds * 1000),
      renderMs: fc.nat(600_000),
      seconds: fc.nat(60),
      width: fc.nat(4096),
      height: fc.nat(4096),
      seed: fc.uint8Array({ minLength: 6, maxLength: 6 }).map((bytes) => Buffer.from(bytes).toString('hex')),
      nonce: fc.nat(2 ** 31 - 1).map((bits) => bits.toString(16).padStart(8, '0')),
      outcome: fc.constantFrom('completed' as const, 'failed' as const),
    });
    fc.assert(
      fc.property(jobs, jobs, (one, other) => {
        const original = { ...one, madeOf: null };
        const remix = { ...other, madeOf: idOf(original) };
        expect(jobOf(idOf(original))).toEqual(original);
        expect(jobOf(idOf(remix))).toEqual(remix);
      }),
    );
  });

  it('are as many as were asked for, also alike and at once, and look alike', async () => {
    const [one, other] = [await created(), await created()];
    expect(one.id).not.toBe(other.id);
    const thumbnails = await Promise.all([one, other].map(({ id }) => found(`/videos/${id}/content?variant=thumbnail`, 2000)));
    expect(thumbnails[0]?.bytes).toEqual(thumbnails[1]?.bytes);
  });

  it('are not found by any other id', async () => {
    const { id } = await created();
    for (const other of ['video_1', 'video_', `${id}AAAA`, `${id.slice(0, -8)}AAAAAAAA`, '..%2F..', '%ff', 'x'.repeat(5000)]) {
      expect(await read(`/videos/${other}`)).toMatchObject({ ok: false, kind: 'rejected', status: 404 });
    }
    expect(await read('/files/1')).toMatchObject({ ok: false, status: 404 });
  });

  it('can be remixed, edited and extended, at the size of the first; an extension is as long as both', async () => {
    const { id } = await created({ size: '66x130' });
    for (const how of ['remix', 'edit', 'extension'] as const) {
      const made = await created({ prompt: 'Bluer', seconds: '8', madeOf: { how, id } });
      expect(made).toMatchObject({ remixed_from_video_id: id, seconds: how === 'extension' ? '12' : '4', size: '66x130' });
      expect((await job(`/videos/${made.id}`, 5000)).remixed_from_video_id).toBe(id);
      expect(await begin({ madeOf: { how, id: 'video_1' } })).toMatchObject({ ok: false, param: 'video' });
    }
    expect(await begin({ seconds: '117', madeOf: { how: 'extension', id } })).toMatchObject({ ok: false, param: 'seconds' });
  });

  it('have the characters that were taken from videos, and no others', async () => {
    const character = async (bytes: Buffer) => {
      const call = { endpoint: '/v1/videos/characters' as const, model: 'sora-2', stream: false, maxOutputTokens: null };
      const timeouts = { firstByteTimeoutMs: 5000, idleTimeoutMs: 5000, signal: new AbortController().signal };
      return sandbox.call({ ...call, ...timeouts, request: { model: 'sora-2', name: 'Ada' }, files: [fileOf('video', bytes)] });
    };
    const taken = await character(Buffer.from('\0\0\0\x18ftypmp42'));
    if (!taken.ok) throw new Error(taken.message);
    const { id, name } = JSON.parse((await taken.collect(1e4)).toString());
    expect(name).toBe('Ada');
    expect(await created({ characters: [{ id }] })).toMatchObject({ status: 'queued' });
    expect(await begin({ characters: [{ id }, { id: `${id.slice(0, -1)}?` }] })).toMatchObject({ ok: false, param: 'characters' });
    expect(await character(Buffer.from('no video at all'))).toMatchObject({ ok: false, param: 'video' });
  });

  it('are refused where size, length or the image to begin with cannot be', async () => {
    for (const size of ['1x1', '97x64', '9000x64'])
      expect(await begin({ size })).toMatchObject({ ok: false, kind: 'rejected', param: 'size' });
    expect(await begin({ seconds: '999' })).toMatchObject({ ok: false, param: 'seconds' });
    const files = [fileOf('input_reference', Buffer.from('no image'))];
    expect(await begin({}, { files })).toMatchObject({ ok: false, param: 'input_reference' });
  });
});

describe('the content of a video', () => {
  it('is an MP4 of the size and length asked for, whose index leads to every frame', async () => {
    for (const size of ['96x64', '66x130']) {
      const { id } = await created({ size });
      const { contentType, bytes } = await found(`/videos/${id}/content`, 2000);
      expect(contentType).toBe('video/mp4');
      const at = boxes(bytes);
      expect([...at.keys()].filter((path) => path.split('/').length === 2)).toEqual(['/ftyp', '/moov', '/mdat']);
      const box = (path: string) => at.get(path) ?? Buffer.alloc(0);
      expect(box('/moov/mvhd').readUInt32BE(16) / box('/moov/mvhd').readUInt32BE(12)).toBe(4);
      const track = box('/moov/trak/tkhd');
      expect(`${track.readUInt16BE(track.length - 8)}x${track.readUInt16BE(track.length - 4)}`).toBe(size);
      const sizes = box('/moov/trak/mdia/minf/stbl/stsz');
      expect(sizes.readUInt32BE(8)).toBe(32);
      let frameAt = box('/moov/trak/mdia/minf/stbl/stco').readUInt32BE(8);
      for (let index = 0; index < 32; index += 1) {
        const length = sizes.readUInt32BE(12 + index * 4);
        expect([bytes.readUInt32BE(frameAt), bytes[frameAt + 4]]).toEqual([length - 4, 0x65]);
        frameAt += length;
      }
      expect(frameAt).toBe(bytes.length);
      expect((await found(`/videos/${id}/content?variant=video`, 3000)).bytes.equals(bytes)).toBe(true);
    }
  });

  // ffmpeg has read these, each frame in the colour that it was given. A change of bytes has to be read again.
  it('is the bytes that another decoder has read', () => {
    const digest = (size: VideoSize) => hash('sha256', frame(size, [40, -20, 31], 1)).slice(0, 16);
    expect(digest({ width: 96, height: 64 })).toBe('aa715edd1dc89c33');
    expect(digest({ width: 66, height: 130 })).toBe('299fd225a282aa74');
  });

  it('has a thumbnail and a spritesheet, and no other variant', async () => {
    const { id } = await created();
    const thumbnail = await found(`/videos/${id}/content?variant=thumbnail`, 2000);
    expect(thumbnail.contentType).toBe('image/webp');
    expect(readImageHeader(thumbnail.bytes)).toEqual({ mediaType: 'image/webp', widthPixels: 96, heightPixels: 64 });
    const sheet = await found(`/videos/${id}/content?variant=spritesheet`, 2000);
    expect(readImageHeader(sheet.bytes)).toEqual({ mediaType: 'image/webp', widthPixels: 640, heightPixels: 321 });
    expect(await read(`/videos/${id}/content?variant=gif`, 2000)).toMatchObject({ ok: false, status: 400 });
  });

  it('is there from the end of the job until it expires', async () => {
    const { id } = await created();
    expect(await read(`/videos/${id}/content`, 1999)).toMatchObject({ ok: false, status: 400, code: 'video_not_ready' });
    expect(await read(`/videos/${id}/content`, 86_402_000)).toMatchObject({ ok: false, status: 404, code: 'video_expired' });
  });
});
