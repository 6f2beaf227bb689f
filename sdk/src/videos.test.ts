import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { collect } from '../testing/collect.ts';
import { refusal, storedVideo } from '../testing/fixtures.ts';
import { type StubGateway, startStubGateway } from '../testing/stub-gateway.ts';
import { AbortError, BudgetExceededError, Tallygate } from './index.ts';

let gateway: StubGateway;
let tallygate: Tallygate;
beforeEach(async () => {
  gateway = await startStubGateway();
  tallygate = new Tallygate({ apiKey: 'tg_test_secret', baseUrl: gateway.baseUrl });
});
afterEach(() => gateway[Symbol.asyncDispose]());

describe('videos', () => {
  it('are begun once, in an agent run where they belong to one', async () => {
    gateway.script({ json: storedVideo('queued') });
    const request = { model: 'sora-2', prompt: 'A ledger', seconds: '4' };
    expect(await tallygate.videos.create(request, { agentRun: { id: 'run-1' } })).toEqual(storedVideo('queued'));
    expect(gateway.requests[0]?.body).toEqual(request);
    expect(gateway.requests[0]?.headers).toMatchObject({ 'x-agent-run-id': 'run-1', 'idempotency-key': expect.any(String) });
  });

  it('that begin with a picture are sent as a form', async () => {
    gateway.script({ json: storedVideo('queued') });
    await tallygate.videos.generate({ prompt: 'A ledger', input_reference: new Blob(['PNG'], { type: 'image/png' }) });
    expect(gateway.requests[0]).toMatchObject({ path: '/v1/video/generations', body: { prompt: 'A ledger', input_reference: 'PNG' } });
  });

  it('are created from others, in JSON', async () => {
    gateway.script({ json: storedVideo('queued') }, { json: storedVideo('queued') });
    const edit = { video: { id: 'video_1' }, prompt: 'At night' };
    await tallygate.videos.edit(edit, { agentRun: { id: 'run-1' } });
    await tallygate.videos.extend({ ...edit, seconds: '8' });
    expect(gateway.requests.map(({ path, body }) => [path, body])).toEqual([
      ['/v1/videos/edits', edit],
      ['/v1/videos/extensions', { ...edit, seconds: '8' }],
    ]);
    expect(gateway.requests[0]?.headers).toMatchObject({ 'x-agent-run-id': 'run-1', 'idempotency-key': expect.any(String) });
  });

  it('have characters, out of a file or out of a video', async () => {
    const ada = { id: 'char_1', name: 'Ada', created_at: 1763712000 };
    gateway.script({ json: ada }, { json: ada }, { json: ada });
    expect(await tallygate.videos.createCharacter({ name: 'Ada', video: new Blob(['MP4'], { type: 'video/mp4' }) })).toEqual(ada);
    await tallygate.videos.createCharacter({ name: 'Ada', video: { id: 'video_1' } });
    expect(await tallygate.videos.getCharacter('char_1')).toEqual(ada);
    expect(gateway.requests.map(({ path, body }) => [path, body])).toEqual([
      ['/v1/videos/characters', { name: 'Ada', video: 'MP4' }],
      ['/v1/videos/characters', { name: 'Ada', 'video[id]': 'video_1' }],
      ['/v1/videos/characters/char_1', undefined],
    ]);
  });

  it('that do not fit a budget are refused, and not asked for again', async () => {
    gateway.script(refusal('budget_exceeded'));
    await expect(tallygate.videos.create({ prompt: 'A ledger' })).rejects.toBeInstanceOf(BudgetExceededError);
    expect(gateway.requests).toHaveLength(1);
  });

  it('are listed over all pages', async () => {
    const page = (id: string, has_more: boolean) => ({
      json: { object: 'list', data: [{ ...storedVideo('completed'), id }], first_id: id, last_id: id, has_more },
    });
    gateway.script(page('video_2', true), page('video_1', false));
    expect((await collect(tallygate.videos.list({ limit: 1 }))).map(({ id }) => id)).toEqual(['video_2', 'video_1']);
    expect(gateway.requests[1]?.query).toEqual({ limit: '1', after: 'video_2' });
  });

  it('are waited for until they are made', async () => {
    gateway.script({ json: storedVideo('queued') }, { json: storedVideo('in_progress') }, { json: storedVideo('completed') });
    const seen: number[] = [];
    const video = await tallygate.videos.wait('video_1', { pollMs: 1, onProgress: ({ progress }) => seen.push(progress) });
    expect([video.status, seen]).toEqual(['completed', [0, 40, 100]]);
  });

  it('are waited for up to a time limit', async () => {
    gateway.script({ json: storedVideo('in_progress') });
    const abort = new AbortController();
    const waiting = tallygate.videos.wait('video_1', { signal: abort.signal, onProgress: () => abort.abort() });
    await expect(waiting).rejects.toBeInstanceOf(AbortError);
  });

  it('give their bytes and their pictures', async () => {
    gateway.script({ text: 'MP4' }, { text: 'WEBP' });
    expect(await (await tallygate.videos.content('video_1')).text()).toBe('MP4');
    expect(await (await tallygate.videos.content('video_1', { variant: 'thumbnail' })).text()).toBe('WEBP');
    expect(gateway.requests.map(({ path, query }) => [path, query])).toEqual([
      ['/v1/videos/video_1/content', {}],
      ['/v1/videos/video_1/content', { variant: 'thumbnail' }],
    ]);
  });
});
