import { storedVideo as video } from '@tallygate/sdk/testing/fixtures';
import { type StubGateway, startStubGateway } from '@tallygate/sdk/testing/stub-gateway';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Terminal } from '../../testing/terminal.ts';

let gateway: StubGateway;
let terminal: Terminal;
beforeEach(async () => {
  gateway = await startStubGateway();
  terminal = new Terminal(gateway);
});
afterEach(() => gateway[Symbol.asyncDispose]());

const { id } = video('queued');

describe('videos', () => {
  it('are begun, and waited for where that is wanted', async () => {
    gateway.script({ json: video('queued') }, { json: video('completed') });
    const typed = ['videos', 'create', 'A', 'ledger', '--seconds', '4', '--wait', '--json', 'status'];
    const { stdout, stderr, exitCode } = await terminal.type(typed);
    expect([stdout, exitCode]).toEqual(['{"status":"completed"}\n', 0]);
    expect(stderr).toContain('completed 100 %\n');
    expect(gateway.requests[0]?.body).toEqual({ model: 'sora-2', prompt: 'A ledger', seconds: '4' });
  });

  it('begin with a picture, which goes as a file', async () => {
    terminal.files.set('page.png', 'PNG');
    gateway.script({ json: video('queued') });
    expect((await terminal.type(['videos', 'create', 'A ledger', '--picture', 'page.png'])).exitCode).toBe(0);
    expect(gateway.requests[0]?.body).toEqual({ model: 'sora-2', prompt: 'A ledger', input_reference: 'PNG' });
    expect((await terminal.type(['videos', 'create', 'A ledger', '--picture', 'nowhere.png'])).exitCode).toBe(2);
  });

  it('are listed', async () => {
    gateway.script({ json: { object: 'list', data: [video('completed')], first_id: id, last_id: id, has_more: false } });
    expect((await terminal.type(['videos', 'list'])).stdout).toBe(`${id}\tcompleted\t100 %\tsora-2\t2025-11-21T08:00:00.000Z\n`);
  });

  it('are waited for, a line for each change', async () => {
    gateway.script({ json: video('queued') }, { json: video('in_progress') }, { json: video('in_progress') }, { json: video('completed') });
    const { stderr, exitCode } = await terminal.type(['videos', 'wait', id, '--every', '0.001', '--json', 'status']);
    expect([stderr, exitCode]).toEqual(['queued 0 %\nin_progress 40 %\ncompleted 100 %\n', 0]);
  });

  it('that failed have the reason and the refund', async () => {
    gateway.script({ json: video('failed') }, { json: video('failed') });
    const shown = await terminal.type(['videos', 'get', id]);
    expect(shown.stderr).toBe(
      `moderation_blocked: Not this.\nRefunded in full: tallygate receipts get ${video('failed').refund_receipt_id}\n`,
    );
    expect(shown.stdout).toContain(`Refund\t${video('failed').refund_receipt_id}\n`);
    expect((await terminal.type(['videos', 'wait', id])).exitCode).toBe(1);
  });

  it('are downloaded, and their pictures too', async () => {
    gateway.script({ text: 'WEBP' });
    const { stdout, exitCode } = await terminal.type(['videos', 'download', id, '--variant', 'thumbnail', '-o', '-']);
    expect([stdout, exitCode]).toEqual(['WEBP', 0]);
    expect(gateway.requests[0]).toMatchObject({ path: `/v1/videos/${id}/content`, query: { variant: 'thumbnail' } });
  });

  it('are edited and extended', async () => {
    gateway.script({ json: video('queued') }, { json: { ...video('queued'), seconds: '12' } });
    expect((await terminal.type(['videos', 'edit', id, 'At', 'night'])).exitCode).toBe(0);
    const { stdout } = await terminal.type(['videos', 'extend', id, 'On', '--seconds', '8', '--json', 'seconds']);
    expect(stdout).toBe('{"seconds":"12"}\n');
    expect(gateway.requests.map(({ path, body }) => [path, body])).toEqual([
      ['/v1/videos/edits', { video: { id }, prompt: 'At night' }],
      ['/v1/videos/extensions', { video: { id }, prompt: 'On', seconds: '8' }],
    ]);
  });

  it('have characters, created from a file or a video', async () => {
    terminal.files.set('ada.mp4', 'MP4');
    const ada = { id: 'char_1', name: 'Ada', created_at: 1763712000 };
    gateway.script({ json: ada }, { json: ada }, { json: ada }, { json: video('queued') });
    expect((await terminal.type(['videos', 'characters', 'create', 'Ada', '--file', 'ada.mp4', '--json', 'id'])).stdout).toBe(
      '{"id":"char_1"}\n',
    );
    await terminal.type(['videos', 'characters', 'create', 'Ada', '--video', id]);
    expect((await terminal.type(['videos', 'characters', 'get', 'char_1'])).stdout).toContain('Name\tAda\n');
    await terminal.type(['videos', 'create', 'Ada reads', '--character', 'char_1']);
    expect(gateway.requests.map(({ body }) => body)).toEqual([
      { name: 'Ada', video: 'MP4' },
      { name: 'Ada', 'video[id]': id },
      undefined,
      { model: 'sora-2', prompt: 'Ada reads', characters: [{ id: 'char_1' }] },
    ]);
    expect((await terminal.type(['videos', 'characters', 'create', 'Ada'])).exitCode).toBe(2);
  });

  it('are remixed and deleted', async () => {
    gateway.script({ json: { ...video('queued'), remixed_from_video_id: id } }, { json: { id, object: 'video.deleted', deleted: true } });
    const { stdout } = await terminal.type(['videos', 'remix', id, 'At night', '--json', 'remixed_from_video_id']);
    expect(stdout).toBe(`{"remixed_from_video_id":"${id}"}\n`);
    expect(gateway.requests[0]?.body).toEqual({ prompt: 'At night' });
    expect(await terminal.type(['videos', 'delete', id])).toEqual({ stdout: '', stderr: `Deleted ${id}.\n`, exitCode: 0 });
  });
});
