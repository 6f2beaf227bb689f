import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../kernel/ids.ts';
import { newCharacterId } from './stored-characters.ts';
import { newVideoId } from './stored-video.ts';
import { sweepExpiredVideos, sweepOrphanedVideos } from './sweep.ts';
import { type Answers, Death, openVideoWorld, PRICE, type VideoWorld } from './testing/videos.ts';

const HOUR_MS = 3_600_000;
let world: VideoWorld;

beforeAll(async () => {
  world = await openVideoWorld();
});
afterAll(() => world?.close());
beforeEach(async () => {
  world.provider.answers = 'well';
  world.provider.cuts = false;
  await world.pool.query('delete from videos');
});

const end = (jobId: string, status: string) => {
  const job = world.provider.jobs.get(jobId);
  if (job) job.status = status;
};

describe('a job that its provider completes', () => {
  test('is charged once, and its bytes and pictures can be downloaded after the provider has lost them', async () => {
    const { id, jobId, requestId } = await world.begin();
    expect(await world.api.get(world.owner, id)).toMatchObject({ status: 'queued', prompt: 'A \0 page' });
    end(jobId, 'completed');
    await world.settleDown();
    world.provider.jobs.clear();
    expect(await world.api.get(world.owner, id)).toMatchObject({ status: 'completed', progress: 100, error: null, refund: 'none' });
    for (const variant of ['video', 'thumbnail', 'spritesheet'] as const) {
      const { content, read } = await world.api.open(world.owner, id, variant);
      expect(await text((await read(undefined)).stream)).toBe(`bytes of /videos/${jobId}/content?variant=${variant}`);
      expect(content.bytes).toBeGreaterThan(10);
    }
    expect(await world.paid(requestId)).toBe(PRICE);
  });

  test('is not shown as completed before it was charged', async () => {
    const { id, jobId, requestId } = await world.begin('died');
    end(jobId, 'completed');
    world.clock.at += 2_000;
    await world.follow();
    expect(await world.api.get(world.owner, id)).toMatchObject({ status: 'queued' });
    await world.settleDown();
    expect(await world.api.get(world.owner, id)).toMatchObject({ status: 'failed', error: { code: 'interrupted' }, refund: 'not_charged' });
    expect(await world.paid(requestId)).toBe(0n);
  });

  test('is the only one of its request: one that an interrupted line of a batch had begun is called off, and not refunded', async () => {
    const first = await world.begin('died');
    const second = await world.begin();
    await world.pool.query('delete from videos where id = $1', [second.id]);
    const row = {
      deployment: 'sandbox',
      provider: 'sandbox',
      model: 'sora-2',
      seconds: 4,
      size: '720x1280',
      prompt: 'A',
      remixed_from: null,
    };
    const again = async (id: string, job_id: string) =>
      world.videos.insert(world.owner, {
        ...{
          ...row,
          id,
          job_id,
          status: 'queued',
          request_id: second.requestId,
          receipt_id: newId(),
          created_at: new Date(world.clock.at),
        },
      });
    const [lost, kept] = [newVideoId(), newVideoId()];
    await again(lost, first.jobId);
    await again(kept, second.jobId);
    end(second.jobId, 'completed');
    await expect(world.api.get(world.owner, lost)).rejects.toMatchObject({ code: 'not_found' });
    await world.settleDown();
    expect(await world.api.get(world.owner, kept)).toMatchObject({ status: 'completed', refund: 'none' });
    expect(world.provider.reads).toContainEqual(expect.objectContaining({ method: 'DELETE', path: `/videos/${first.jobId}` }));
    expect((await world.pool.query('select 1 from videos where id = $1', [lost])).rowCount).toBe(0);
    expect(await world.paid(second.requestId)).toBe(PRICE);
  });

  test('is given to nobody where its settlement had failed', async () => {
    const { id, jobId, requestId } = await world.begin('failed');
    end(jobId, 'completed');
    await world.settleDown();
    expect(await world.api.get(world.owner, id)).toMatchObject({ status: 'failed', refund: 'not_charged' });
    expect(await world.paid(requestId)).toBe(0n);
  });

  test('is downloaded again where a download breaks off, and nothing of it is left over', async () => {
    const before = (await world.stored()).length;
    const { id, jobId } = await world.begin();
    await world.writer.drain();
    end(jobId, 'completed');
    world.provider.cuts = true;
    world.clock.at += 2_000;
    await world.follow();
    expect((await world.stored()).length).toBe(before);
    world.provider.cuts = false;
    await world.settleDown();
    expect(await world.api.get(world.owner, id)).toMatchObject({ status: 'completed' });
    expect((await world.stored()).length).toBe(before + 3);
  });
});

describe('a job is given back in full, once,', () => {
  test.each([
    ['that fails, in the words of its provider', 'failed', 'moderation_blocked'],
    ['that its provider has let expire', 'expired', 'generation_failed'],
  ])('%s', async (_title, status, code) => {
    const { id, jobId, requestId } = await world.begin();
    end(jobId, status);
    await world.settleDown();
    expect(await world.api.get(world.owner, id)).toMatchObject({ status: 'failed', error: { code }, refund: 'made' });
    expect(await world.paid(requestId)).toBe(0n);
    const { rows } = await world.pool.query(`select count(*)::int as refunds from receipts where kind = 'refund' and request_id = $1`, [
      requestId,
    ]);
    expect(rows[0].refunds).toBe(1);
  });

  test('that vanishes from its provider', async () => {
    const { id, jobId, requestId } = await world.begin();
    world.provider.jobs.delete(jobId);
    await world.settleDown();
    expect(await world.api.get(world.owner, id)).toMatchObject({ status: 'failed', error: { code: 'vanished' }, refund: 'made' });
    expect(await world.paid(requestId)).toBe(0n);
  });

  test.each<[string, Answers]>([
    ['is never let in', 'busy'],
    ['is told nothing that makes sense', 'garbage'],
  ])('when who asks for it %s for a day', async (_title, answers) => {
    const { id, jobId, requestId } = await world.begin();
    world.provider.answers = answers;
    world.clock.at += 23 * HOUR_MS;
    await world.follow();
    expect(await world.videos.get(world.owner, id)).toMatchObject({ status: 'queued' });
    world.clock.at += 2 * HOUR_MS;
    await world.settleDown();
    end(jobId, 'completed');
    expect(await world.api.get(world.owner, id)).toMatchObject({ status: 'failed', error: { code: 'expired' } });
    expect(await world.paid(requestId)).toBe(0n);
  });

  test('before its settlement is in the ledger, and after', async () => {
    const { id, jobId, requestId } = await world.begin('died');
    end(jobId, 'failed');
    world.clock.at += 2_000;
    await world.follow();
    expect(await world.videos.get(world.owner, id)).toMatchObject({ status: 'failed', refund: 'due' });
    await world.settleDown();
    expect(await world.videos.get(world.owner, id)).toMatchObject({ refund: 'not_charged' });
    expect(await world.paid(requestId)).toBe(0n);
  });
});

describe('a running job that its owner deletes', () => {
  test('is gone at once, called off, and given back', async () => {
    const { id, jobId, requestId } = await world.begin('settled', { deletable: true });
    await world.api.delete(world.owner, id);
    await expect(world.api.get(world.owner, id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(world.api.delete(world.owner, id)).rejects.toMatchObject({ code: 'not_found' });
    await world.settleDown();
    expect(world.provider.jobs.has(jobId)).toBe(false);
    expect(await world.paid(requestId)).toBe(0n);
  });

  test('is given back where it was still queued, with a receipt, whatever its provider makes of it', async () => {
    const { id, jobId, requestId } = await world.begin();
    await world.api.delete(world.owner, id);
    end(jobId, 'completed');
    await world.settleDown();
    expect(await world.paid(requestId)).toBe(0n);
    const { rows } = await world.pool.query('select receipt_id from refunds where request_id = $1', [requestId]);
    expect(rows).toEqual([{ receipt_id: expect.any(String) }]);
  });

  test('is charged where its provider lets nobody call it off and completes it', async () => {
    const before = (await world.stored()).length;
    const { id, jobId, requestId } = await world.begin();
    world.clock.at += 2_000;
    expect(await world.api.get(world.owner, id)).toMatchObject({ status: 'in_progress' });
    await world.api.delete(world.owner, id);
    await world.follow();
    end(jobId, 'completed');
    await world.settleDown();
    expect(await world.paid(requestId)).toBe(PRICE);
    expect((await world.stored()).length).toBe(before);
    expect((await world.pool.query('select 1 from videos where id = $1', [id])).rowCount).toBe(0);
  });
});

test('what somebody wrote for a video, and the name of a character, are in no column in the clear', async () => {
  const { id } = await world.begin();
  const character = { id: newCharacterId(), deployment: 'sandbox', upstream_id: 'c', name: 'Ada \0 Lovelace', created_at: new Date() };
  await world.characters.insert(world.owner, character);
  expect(await world.characters.get(world.owner, character.id)).toMatchObject({ name: 'Ada \0 Lovelace' });
  const { rows } = await world.pool.query<{ row: string }>(
    'select to_jsonb(v)::text as row from videos v where id = $1 union all select to_jsonb(c)::text from video_characters c where id = $2',
    [id, character.id],
  );
  expect(rows).toHaveLength(2);
  for (const { row } of rows) expect(row).not.toMatch(/page|Lovelace/);
});

describe('who asks', () => {
  test('is told how far it is, at most every two seconds anew', async () => {
    const { id, jobId } = await world.begin();
    const job = world.provider.jobs.get(jobId);
    if (job) job.progress = 55;
    expect(await world.api.get(world.owner, id)).toMatchObject({ progress: 0 });
    world.clock.at += 2_000;
    expect(await world.api.get(world.owner, id)).toMatchObject({ status: 'in_progress', progress: 55 });
    if (job) job.progress = 40;
    world.clock.at += 2_000;
    expect(await world.api.get(world.owner, id)).toMatchObject({ progress: 55 });
    world.provider.answers = 'busy';
    world.clock.at += 2_000;
    expect(await world.api.get(world.owner, id)).toMatchObject({ progress: 55 });
  });

  test('is answered for somebody else’s and the other mode’s exactly as for a missing one', async () => {
    const { id } = await world.begin();
    const refusal = (owner: typeof world.owner, of: string) => world.api.get(owner, of).catch(({ code, message }) => [code, message]);
    const missing = await refusal(world.owner, `video_${newId().replaceAll('-', '')}`);
    expect(missing).toEqual(['not_found', 'There is no such video.']);
    expect(await refusal({ accountId: newId(), livemode: false }, id)).toEqual(missing);
    expect(await refusal({ ...world.owner, livemode: true }, id)).toEqual(missing);
    expect(await refusal(world.owner, 'video_\0')).toEqual(missing);
  });

  test('sees every video once, page by page, in either order', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) ids.push((await world.begin()).id);
    for (const order of ['asc', 'desc'] as const) {
      const seen: string[] = [];
      for (let after: string | undefined, more = true; more; ) {
        const page = await world.api.list(world.owner, { after, limit: 2, order });
        seen.push(...page.videos.map(({ id }) => id));
        after = seen.at(-1);
        more = page.hasMore;
      }
      expect(seen).toEqual(order === 'asc' ? ids : ids.toReversed());
    }
  });
});

describe('the sweep', () => {
  test('takes the bytes of a video whose time is over, and leaves the video', async () => {
    const { id, jobId } = await world.begin();
    end(jobId, 'completed');
    await world.settleDown();
    expect(await sweepExpiredVideos(world.deps)).toBe(0);
    world.clock.at += world.deps.keptMs + 1_000;
    expect(await sweepExpiredVideos(world.deps)).toBe(3);
    expect(await world.api.get(world.owner, id)).toMatchObject({ status: 'completed' });
    await expect(world.api.open(world.owner, id, 'video')).rejects.toMatchObject({ code: 'not_found' });
  });

  test('takes blobs that no video knows, when they are old, and no other', async () => {
    const { jobId } = await world.begin();
    end(jobId, 'completed');
    await world.settleDown();
    const known = await world.stored();
    await world.blobs.put(`videos/${world.owner.accountId}/${newId()}`, oneByte(), { maxBytes: 10 });
    expect((await world.stored()).length).toBeGreaterThan(known.length);
    expect(await sweepOrphanedVideos({ ...world.deps, clock: { now: () => Date.now() } })).toBe(0);
    await sweepOrphanedVideos({ ...world.deps, clock: { now: () => Date.now() + 25 * HOUR_MS } });
    const rows = await world.pool.query<{ key: string }>('select key from video_contents');
    expect((await world.stored()).sort()).toEqual(rows.rows.map(({ key }) => key).sort());
  });
});

async function* oneByte(): AsyncGenerator<Uint8Array> {
  yield Uint8Array.of(1);
}

test('whatever the order of looks, ends, deaths, deletions and refunds, what was charged and not given back is the price or nothing', async () => {
  const pick = fc.nat({ max: 3 });
  const step = fc.oneof(
    fc.record({
      kind: fc.constant('begin' as const),
      charge: fc.constantFrom('settled', 'settled', 'died', 'failed'),
      deletable: fc.boolean(),
    }),
    fc.record({ kind: fc.constant('end' as const), pick, status: fc.constantFrom('completed', 'completed', 'failed', 'expired', 'gone') }),
    fc.record({ kind: fc.constant('delete' as const), pick }),
    fc.record({ kind: fc.constant('get' as const), pick }),
    fc.record({ kind: fc.constant('refund' as const), pick }),
    fc.record({
      kind: fc.constant('answers' as const),
      answers: fc.constantFrom<Answers>('well', 'well', 'busy', 'garbage'),
      cuts: fc.boolean(),
    }),
    fc.record({ kind: fc.constant('follow' as const), afterMs: fc.constantFrom(0, 2_000, 30_000, 700_000, 13 * HOUR_MS) }),
    fc.record({ kind: fc.constant('die' as const), steps: fc.nat({ max: 6 }) }),
    fc.record({ kind: fc.constant('drain' as const) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      await world.pool.query('delete from videos');
      const jobs: Awaited<ReturnType<VideoWorld['begin']>>[] = [];
      const outlive = (work: Promise<unknown>) =>
        work.catch((error: unknown) => {
          if (!(error instanceof Death) && !(error instanceof Error && 'code' in error && error.code === 'not_found')) throw error;
        });
      for (const one of steps) {
        const job = 'pick' in one ? jobs[one.pick % Math.max(1, jobs.length)] : undefined;
        switch (one.kind) {
          case 'begin':
            if (jobs.length < 4) jobs.push(await world.begin(one.charge as 'settled', { deletable: one.deletable }));
            break;
          case 'end':
            if (job && one.status === 'gone') world.provider.jobs.delete(job.jobId);
            else if (job && world.provider.jobs.get(job.jobId)?.status === 'in_progress') end(job.jobId, one.status);
            break;
          case 'delete':
            if (job) await outlive(world.api.delete(world.owner, job.id));
            break;
          case 'get':
            if (job) await outlive(world.api.get(world.owner, job.id));
            break;
          case 'refund':
            // An administrator gives back what failed; asking for it twice makes no difference.
            if (job && (await statusOf(job.id)) === 'failed')
              await outlive(world.deps.refunds.refund(world.owner.accountId, job.requestId, null, { reason: 'Goodwill.' }));
            break;
          case 'answers':
            world.provider.answers = one.answers;
            world.provider.cuts = one.cuts;
            break;
          case 'follow':
            world.clock.at += one.afterMs;
            await outlive(world.follow());
            break;
          case 'die':
            world.life.endsAfter(one.steps);
            break;
          case 'drain':
            await world.writer.drain();
            break;
          default:
            one satisfies never;
        }
      }
      world.life.endsAfter(Number.POSITIVE_INFINITY);
      world.provider.answers = 'well';
      world.provider.cuts = false;
      for (const { jobId } of jobs) if (world.provider.jobs.get(jobId)?.status === 'in_progress') end(jobId, 'failed');
      await world.settleDown();
      for (const { id, requestId } of jobs)
        expect([id, await world.paid(requestId)]).toEqual([id, world.videos.completed.has(id) ? PRICE : 0n]);
    }),
    { numRuns: 25 },
  );
});

async function statusOf(id: string): Promise<string | undefined> {
  const { rows } = await world.pool.query<{ status: string }>('select status from videos where id = $1', [id]);
  return rows[0]?.status;
}
