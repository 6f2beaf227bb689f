import { type Compilable, sql } from 'kysely';
import type { Pool } from 'pg';
import type { Clock } from '../../kernel/clock.ts';
import { Problem } from '../../kernel/problem.ts';
import { asJson, firstOf, ifGiven, rowsOf, run } from '../../kernel/statements.ts';
import type { Owner } from '../files/index.ts';
import type { ContentKeys } from '../stored-content/index.ts';
import { isVideoId, type Variant, type VideoError, type VideoRow } from './stored-video.ts';
import { tables } from './tables.ts';

/** What is known of a job when a provider has taken it. */
export interface NewVideo
  extends Pick<
    VideoRow,
    'id' | 'request_id' | 'deployment' | 'job_id' | 'model' | 'seconds' | 'size' | 'prompt' | 'remixed_from' | 'status' | 'created_at'
  > {
  readonly receipt_id: string;
  readonly provider: string;
}

/** Bytes that are stored of a video. */
export interface VideoContent {
  readonly variant: Variant;
  readonly key: string;
  readonly bytes: number;
  readonly contentType: string;
}

const FIRST_LOOK_MS = 2_000;
const SUPERSEDED: VideoError = { code: 'interrupted', message: 'The beginning of the job was interrupted; another took its place.' };
/** Its prompt is sealed for here. */
const promptPlaceOf = (id: string): string => `prompt of video ${id}`;
const RUNNING = `status in ('queued', 'in_progress')`;

/** What is left of an owner's. */
const videosOf = ({ accountId, livemode }: Owner) =>
  tables
    .selectFrom('videos')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('livemode', '=', livemode)
    .where('deleted_at', 'is', null);

const runningVideo = (id: string) => tables.updateTable('videos').where('id', '=', id).where('status', 'in', ['queued', 'in_progress']);

/**
 * The rows. Every change of state is one statement that names the state it goes out from, so of all who act on a job at once, one wins and
 * the others learn that they did not.
 */
export class StoredVideos {
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #content: ContentKeys;

  constructor(pool: Pool, clock: Clock, content: ContentKeys) {
    this.#pool = pool;
    this.#clock = clock;
    this.#content = content;
  }

  /**
   * One request has one job: where it had begun another and died before it could say so, as a line of a batch may that is asked again,
   * that one is called off and never was charged.
   */
  async insert(owner: Owner, video: NewVideo): Promise<void> {
    const prompt = await this.#content.seal(owner.accountId, promptPlaceOf(video.id), video.prompt);
    await this.#pool.query(
      `with superseded as (
         update videos set status = 'failed', error = $17, refund = 'not_charged', deleted_at = $15, next_step_at = $15
          where request_id = $4 and account_id = $2
       )
       insert into videos (id, account_id, livemode, request_id, receipt_id, deployment, provider, job_id, model, seconds, size, prompt,
                           remixed_from, status, created_at, looked_at, next_step_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $15, $16)`,
      [
        ...[video.id, owner.accountId, owner.livemode, video.request_id, video.receipt_id, video.deployment, video.provider, video.job_id],
        ...[video.model, video.seconds, video.size, JSON.stringify(prompt), video.remixed_from, video.status],
        ...[video.created_at, new Date(this.#clock.now() + FIRST_LOOK_MS), JSON.stringify(SUPERSEDED)],
      ],
    );
  }

  /** @throws Problem `not_found`, for a deleted one and somebody else's alike */
  async get(owner: Owner, id: string, param = 'video_id'): Promise<VideoRow> {
    const row = isVideoId(id) ? await this.#one(videosOf(owner).where('id', '=', id)) : undefined;
    if (!row) throw noSuchVideo(param);
    return row;
  }

  async list(owner: Owner, { after, limit, order }: { after?: string | undefined; limit: number; order: 'asc' | 'desc' }) {
    // Ids are in the order of creation, so what is gone can be gone on from all the same.
    if (after !== undefined && !isVideoId(after)) throw noSuchVideo('after');
    const rows = await rowsOf(
      this.#pool,
      videosOf(owner)
        .where((eb) => ifGiven(after, (last) => eb('id', order === 'asc' ? '>' : '<', last)))
        .orderBy('id', order)
        .limit(limit + 1),
    );
    return { videos: await Promise.all(rows.slice(0, limit).map((row) => this.#opened(row))), hasMore: rows.length > limit };
  }

  /** Gone for its owner; what its provider and its money still need is done behind that. @throws Problem `not_found` */
  async delete(owner: Owner, id: string): Promise<void> {
    await this.get(owner, id);
    const now = new Date(this.#clock.now());
    const deleted = tables.updateTable('videos').set({ deleted_at: now, next_step_at: now });
    const rowCount = await run(this.#pool, deleted.where('id', '=', id).where('deleted_at', 'is', null));
    if (rowCount === 0) throw noSuchVideo();
  }

  /** What there is to be done now, the longest overdue first. */
  async due(limit: number): Promise<string[]> {
    const rows = await rowsOf(
      this.#pool,
      tables
        .selectFrom('videos')
        .select('id')
        .where('next_step_at', '<=', new Date(this.#clock.now()))
        .orderBy('next_step_at')
        .limit(limit),
    );
    return rows.map(({ id }) => id);
  }

  /** Takes the next step of a video for so long, unless somebody else has taken it or there is none. */
  claim(id: string, leaseMs: number): Promise<VideoRow | undefined> {
    const now = this.#clock.now();
    return this.#one(
      tables
        .updateTable('videos')
        .set({ next_step_at: new Date(now + leaseMs) })
        .where('id', '=', id)
        .where('next_step_at', '<=', new Date(now))
        .returningAll(),
    );
  }

  /** Its provider is at work. A job never goes back. */
  running(id: string, { status, progress }: Pick<VideoRow, 'status' | 'progress'>): Promise<VideoRow | undefined> {
    return this.#one(
      runningVideo(id)
        .set({
          status: sql<VideoRow['status']>`case when status = 'queued' and deleted_at is null then ${status} else status end`,
          progress: sql<number>`greatest(progress, ${progress}::real)`,
          looked_at: new Date(this.#clock.now()),
        })
        .returningAll(),
    );
  }

  /** The step is to be taken again, whether or not anything was learnt. */
  async again(id: string, afterMs: number): Promise<void> {
    const now = this.#clock.now();
    await run(
      this.#pool,
      tables
        .updateTable('videos')
        .set({ next_step_at: new Date(now + afterMs), looks: sql<number>`looks + 1` })
        .where('id', '=', id),
    );
  }

  /** Its step is to be taken as soon as possible: somebody has seen that there is one. */
  async hurry(id: string): Promise<void> {
    const now = new Date(this.#clock.now());
    await run(this.#pool, runningVideo(id).set({ next_step_at: sql<Date>`least(next_step_at, ${now})` }));
  }

  /** With its bytes, in one statement. Whether it was still running; if not, the bytes are nobody's. */
  async complete(id: string, contents: readonly VideoContent[], keptMs: number): Promise<boolean> {
    const now = this.#clock.now();
    const { rowCount } = await this.#pool.query(
      `with done as (
         update videos set status = 'completed', progress = 100, completed_at = $2, expires_at = $3, looked_at = $2, looks = 0,
                           next_step_at = case when deleted_at is null then null else $2::timestamptz end
          where id = $1 and ${RUNNING} and (deleted_at is null or cardinality($4::text[]) = 0) returning id
       ), stored as (
         insert into video_contents (video_id, variant, key, bytes, content_type)
         select done.id, made.* from done, unnest($4::text[], $5::text[], $6::bigint[], $7::text[]) made
       )
       select id from done`,
      [
        ...[id, new Date(now), new Date(now + keptMs)],
        ...[contents.map(({ variant }) => variant), contents.map(({ key }) => key)],
        ...[contents.map(({ bytes }) => bytes), contents.map(({ contentType }) => contentType)],
      ],
    );
    return rowCount === 1;
  }

  /** From here on its cost is to be given back. Whether it was still running. */
  async fail(id: string, error: VideoError): Promise<VideoRow | undefined> {
    const now = new Date(this.#clock.now());
    return this.#one(
      runningVideo(id)
        .set({ status: 'failed', error: asJson(error), refund: 'due', looked_at: now, looks: 0, next_step_at: now })
        .returningAll(),
    );
  }

  async refunded(id: string, refund: 'made' | 'not_charged', receiptId: string | null): Promise<void> {
    await this.#pool.query(
      `update videos set refund = $2, refund_receipt_id = $3, looks = 0,
                         next_step_at = case when deleted_at is null then null else $4::timestamptz end
        where id = $1 and refund = 'due'`,
      [id, refund, receiptId, new Date(this.#clock.now())],
    );
  }

  async contents(id: string): Promise<VideoContent[]> {
    const rows = await rowsOf(
      this.#pool,
      tables.selectFrom('video_contents').select(['variant', 'key', 'bytes', 'content_type']).where('video_id', '=', id),
    );
    return rows.map(({ variant, key, bytes, content_type }) => ({ variant, key, bytes: Number(bytes), contentType: content_type }));
  }

  /** Nothing is left to do about a deleted one. Its blobs come after their rows. */
  async purge(id: string): Promise<string[]> {
    const keys = (await this.contents(id)).map(({ key }) => key);
    const { rowCount } = await this.#pool.query(
      `delete from videos where id = $1 and deleted_at is not null and (status = 'completed' or refund in ('made', 'not_charged'))`,
      [id],
    );
    return rowCount === 1 ? keys : [];
  }

  async #one(statement: Compilable<VideoRow>): Promise<VideoRow | undefined> {
    const row = await firstOf(this.#pool, statement);
    return row && this.#opened(row);
  }

  async #opened(row: VideoRow): Promise<VideoRow> {
    return { ...row, prompt: await this.#content.open(row.account_id, promptPlaceOf(row.id), row.prompt) };
  }
}

const noSuchVideo = (param = 'video_id'): Problem => new Problem('not_found', 'There is no such video.', { param });
