import type { Pool } from 'pg';
import type { Clock } from '../../../kernel/clock.ts';
import { RecentMap } from '../../../kernel/recent-map.ts';
import { firstOf } from '../../../kernel/statements.ts';
import type { ContentKeys } from '../../stored-content/index.ts';
import { tables } from '../tables.ts';
import type { AnswerAgain, CachedAnswer } from './call-cache.ts';

/** Whose answer it is, and to which request. */
export interface CachePlace {
  readonly accountId: string;
  /** The API key, or the user of a session. */
  readonly caller: string;
  /** Of the request. */
  readonly digest: Buffer;
}

interface CachedAnswersDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly content: ContentKeys;
  /** Of all answers of an account together. */
  readonly mostBytes: number;
}

/** What a row takes beside its answer, so that many small ones are bounded too. */
const ROW_BYTES = 1_024;
/** How much of its bound an account may exceed in each process before the oldest answers are deleted: looking at all of them each time would cost more. */
const SLACK = 20;
const REMEMBERED_ACCOUNTS = 10_000;
const SWEPT_AT_ONCE = 1_000;

/** The rows, each sealed with the key of its account for its place alone. */
export class CachedAnswers {
  readonly #deps: CachedAnswersDeps;
  /** Bytes that were kept since the last look at all of an account's answers. */
  readonly #sinceTrim = new RecentMap<string, number>(REMEMBERED_ACCOUNTS);

  constructor(deps: CachedAnswersDeps) {
    this.#deps = deps;
  }

  /** Undefined where there is none that is young enough. */
  async find(place: CachePlace, maxAgeMs: number): Promise<AnswerAgain | undefined> {
    const { pool, clock, content } = this.#deps;
    const { accountId, caller, digest } = place;
    const now = clock.now();
    const row = await firstOf(
      pool,
      tables
        .selectFrom('cached_answers')
        .select(['model', 'provider', 'content_type', 'answer', 'kept_at'])
        .where('account_id', '=', accountId)
        .where('caller', '=', caller)
        .where('digest', '=', digest)
        .where('kept_at', '>', new Date(now - maxAgeMs))
        .where('expires_at', '>', new Date(now)),
    );
    if (!row) return undefined;
    const { model, provider, content_type: contentType, kept_at: keptAt } = row;
    const body = await content.openSealedBytes(accountId, sealedAs(place), row.answer);
    return { model, provider, contentType, body, ageMs: Math.max(0, now - keptAt.getTime()) };
  }

  /** Takes the place of an older one. */
  async keep(place: CachePlace, { model, provider, contentType, body }: CachedAnswer, maxAgeMs: number): Promise<void> {
    const { pool, clock, content } = this.#deps;
    const { accountId, caller, digest } = place;
    const now = clock.now();
    const answer = await content.sealBytes(accountId, sealedAs(place), body);
    const bytes = answer.length + ROW_BYTES;
    await pool.query(
      `insert into cached_answers (account_id, caller, digest, model, provider, content_type, answer, bytes, kept_at, expires_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
       on conflict (account_id, caller, digest) do update set model = excluded.model, provider = excluded.provider,
         content_type = excluded.content_type, answer = excluded.answer, bytes = excluded.bytes, kept_at = excluded.kept_at,
         expires_at = excluded.expires_at`,
      [accountId, caller, digest, model, provider, contentType, answer, bytes, new Date(now), new Date(now + maxAgeMs)],
    );
    await this.#trim(accountId, bytes);
  }

  /** Deletes the oldest answers of an account that go beyond its bound. */
  async #trim(accountId: string, added: number): Promise<void> {
    const { pool, mostBytes } = this.#deps;
    const since = this.#sinceTrim.get(accountId);
    if (since !== undefined && since + added < mostBytes / SLACK) {
      this.#sinceTrim.set(accountId, since + added);
      return;
    }
    this.#sinceTrim.set(accountId, 0);
    await pool.query(
      `delete from cached_answers where account_id = $1 and kept_at <= (
         select max(kept_at) from (
           select kept_at, sum(bytes) over (order by kept_at desc) as together from cached_answers where account_id = $1
         ) by_age where together > $2)`,
      [accountId, mostBytes],
    );
  }

  /** @returns how many have expired and were deleted; to be called until none is left */
  async sweep(): Promise<number> {
    const { rowCount } = await this.#deps.pool.query(
      `delete from cached_answers where (account_id, caller, digest) in (
         select account_id, caller, digest from cached_answers where expires_at <= $1 limit ${SWEPT_AT_ONCE})`,
      [new Date(this.#deps.clock.now())],
    );
    return rowCount ?? 0;
  }
}

const sealedAs = ({ caller, digest }: CachePlace): string => `cached answer ${digest.toString('hex')} of ${caller}`;
