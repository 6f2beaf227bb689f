import type { ResponseItem } from '@tallygate/contract';
import type { Pool } from 'pg';
import type { Clock } from '../../kernel/clock.ts';
import { Problem } from '../../kernel/problem.ts';

type Json = Readonly<Record<string, unknown>>;

/** Whose objects: of an account, and there of live or of test mode, which never see each other. */
export interface Owner {
  readonly accountId: string;
  readonly livemode: boolean;
}

/** A response that is kept. */
export interface StoredResponse {
  readonly id: string;
  /** As the caller sees it. */
  readonly response: Json;
  /** What was new in its request, each item with an id. */
  readonly input: readonly ResponseItem[];
}

export interface NewStoredResponse extends StoredResponse {
  readonly previousResponseId: string | null;
  readonly conversationId: string | null;
  readonly keyId: string | null;
  /** Of a background response: what it has to ask. */
  readonly request?: Json | undefined;
}

/** OpenAI keeps responses for 30 days. */
export const KEPT_MS = 30 * 24 * 3600 * 1000;
/** Longer chains are cut off at their beginning, long before a model's window is full. */
const LONGEST_CHAIN = 1_000;

/** Responses that are kept, in PostgreSQL. */
export class StoredResponses {
  readonly #pool: Pool;
  readonly #clock: Clock;

  constructor(pool: Pool, clock: Clock) {
    this.#pool = pool;
    this.#clock = clock;
  }

  async save(owner: Owner, { id, response, input, previousResponseId, conversationId, keyId, request }: NewStoredResponse): Promise<void> {
    const now = this.#clock.now();
    await this.#pool.query(
      `insert into stored_responses
         (id, account_id, livemode, key_id, previous_response_id, conversation_id, status, input, response, request, created_at, expires_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
       on conflict (id) do update set status = excluded.status, response = excluded.response, request = excluded.request`,
      [
        id,
        owner.accountId,
        owner.livemode,
        keyId,
        previousResponseId,
        conversationId,
        response['status'],
        JSON.stringify(input),
        JSON.stringify(response),
        request === undefined ? null : JSON.stringify(request),
        new Date(now),
        new Date(now + KEPT_MS),
      ],
    );
  }

  /** @throws Problem `not_found`, also for somebody else's */
  async get(owner: Owner, id: string): Promise<StoredResponse> {
    const { rows } = await this.#pool.query<{ response: Json; input: ResponseItem[] }>(
      'select response, input from stored_responses where id = $1 and account_id = $2 and livemode = $3 and expires_at > $4',
      [id, owner.accountId, owner.livemode, new Date(this.#clock.now())],
    );
    const [row] = rows;
    if (!row) throw missing();
    return { id, response: row.response, input: row.input };
  }

  /** @throws Problem `not_found` */
  async delete(owner: Owner, id: string): Promise<void> {
    const { rowCount } = await this.#pool.query('delete from stored_responses where id = $1 and account_id = $2 and livemode = $3', [
      id,
      owner.accountId,
      owner.livemode,
    ]);
    if (rowCount === 0) throw missing();
  }

  /**
   * Everything that was said up to and with a response, oldest first.
   *
   * @throws Problem `previous_response_not_found`
   */
  async history(owner: Owner, id: string): Promise<ResponseItem[]> {
    const { rows } = await this.#pool.query<{ input: ResponseItem[]; output: ResponseItem[] | null }>(
      `with recursive chain as (
         select id, previous_response_id, input, response, 1 as depth from stored_responses
           where id = $1 and account_id = $2 and livemode = $3 and expires_at > $4
         union all
         select r.id, r.previous_response_id, r.input, r.response, chain.depth + 1 from stored_responses r
           join chain on r.id = chain.previous_response_id
           where r.account_id = $2 and r.livemode = $3 and chain.depth < ${LONGEST_CHAIN}
       )
       select input, response -> 'output' as output from chain order by depth desc`,
      [id, owner.accountId, owner.livemode, new Date(this.#clock.now())],
    );
    if (rows.length === 0)
      throw new Problem(
        'not_found',
        `There is no response ${id.slice(0, 100)} to go on from: it was not stored, or is older than 30 days.`,
        {
          param: 'previous_response_id',
        },
      );
    return rows.flatMap(({ input, output }) => [...input, ...(output ?? [])]);
  }

  async sweep(): Promise<number> {
    const { rowCount } = await this.#pool.query('delete from stored_responses where expires_at <= $1', [new Date(this.#clock.now())]);
    return rowCount ?? 0;
  }
}

const missing = (): Problem => new Problem('not_found', 'No such response: it was not stored, was deleted, or is older than 30 days.');
