import type { CreateBatchRequest } from '@tallygate/contract';
import type { Principal } from '../../http/index.ts';
import { invalidInput } from '../../kernel/invalid-input.ts';
import { Problem } from '../../kernel/problem.ts';
import { asJson, firstOf, ifGiven, rowsOf, run } from '../../kernel/statements.ts';
import { requireFeature } from '../../money/plans/index.ts';
import { type InferenceHeaders, keyIdOf, requireEndpoint, requirePlanFor } from '../calls/index.ts';
import type { Owner, Reader } from '../files/index.ts';
import { ownerOf } from '../files/index.ts';
import type { BatchLocks } from './batch-locks.ts';
import type { BatchDeps } from './deps.ts';
import { SELECT_BATCHES } from './select-batches.ts';
import { batchOf, isBatchId, newBatchId, type StoredBatch, UNFINISHED } from './stored-batch.ts';
import { tables } from './tables.ts';
import type { BatchWork } from './work.ts';

export interface NewBatch extends CreateBatchRequest {
  readonly run: RunOfBatch;
}

/** What the order says of the agent run that the lines are steps of, and of their receipts. */
type RunOfBatch = Pick<InferenceHeaders, 'runId' | 'runCap' | 'parentRunId' | 'runCalls' | 'runDeadline' | 'anchorWished'>;

interface BatchPage {
  readonly batches: readonly StoredBatch[];
  readonly hasMore: boolean;
}

interface BatchQuery {
  readonly after?: string | undefined;
  /** The page in front of it. */
  readonly before?: string | undefined;
  /** Only those whose lines ask for it. */
  readonly endpoint?: StoredBatch['endpoint'] | undefined;
  readonly limit: number;
}

/** Batches. Somebody else's is missing, exactly as one that never was. */
export interface Batches {
  /** @throws Problem `not_found`, `validation_failed`, `endpoint_not_allowed`, `plan_required`; of files that are checked at once also `budget_exceeded`, `budget_in_flight` */
  create(principal: Principal, order: NewBatch): Promise<StoredBatch>;
  /** @throws Problem `not_found` */
  get(owner: Reader, batchId: string): Promise<StoredBatch>;
  list(owner: Owner, query: BatchQuery): Promise<BatchPage>;
  /** @throws Problem `not_found`, `conflict` */
  cancel(owner: Reader, batchId: string): Promise<StoredBatch>;
  /** One that has ended; its files are the caller's. @throws Problem `not_found`, `conflict` */
  delete(owner: Reader, batchId: string): Promise<void>;
}

const WINDOW_MS = 24 * 3_600_000;
const MOST_BYTES = 200 * 1024 * 1024;
/** What is read and held while the caller waits. */
const AT_ONCE_BYTES = 2 * 1024 * 1024;

interface BatchesDeps extends BatchDeps {
  readonly locks: BatchLocks;
  readonly work: BatchWork;
}

const batchesOf = ({ accountId, livemode }: Reader) =>
  SELECT_BATCHES.where('batches.account_id', '=', accountId).where((eb) => ifGiven(livemode, (mode) => eb('batches.livemode', '=', mode)));

export function createBatches({ pool, files, callerStatusOf, locks, work, inference: { clock, plans } }: BatchesDeps): Batches {
  async function find({ accountId, livemode }: Reader, batchId: string): Promise<StoredBatch> {
    if (!isBatchId(batchId)) throw noSuchBatch();
    const row = await firstOf(pool, batchesOf({ accountId, livemode }).where('batches.id', '=', batchId));
    if (!row) throw noSuchBatch();
    return batchOf(row);
  }

  async function insert(id: string, principal: Principal, plan: string, order: NewBatch): Promise<void> {
    const now = clock.now();
    const { accountId, livemode } = ownerOf(principal);
    await run(
      pool,
      tables.insertInto('batches').values({
        ...{ id, account_id: accountId, livemode, key_id: keyIdOf(principal), user_id: principal.userId },
        ...{
          session_id: principal.kind === 'session' ? principal.sessionId : null,
          endpoint: order.endpoint,
          input_file_id: order.input_file_id,
        },
        ...{
          metadata: order.metadata ? asJson(order.metadata) : null,
          output_lifetime_seconds: order.output_expires_after?.seconds ?? null,
        },
        ...{
          run_id: order.run.runId,
          run_cap_nano: order.run.runCap,
          status: 'validating',
          created_at: new Date(now),
          held_at: new Date(now),
        },
        ...{ held_plan: plan, expires_at: new Date(now + WINDOW_MS), run_parent_id: order.run.parentRunId ?? null },
        ...{ run_max_calls: order.run.runCalls ?? null, run_deadline_at: runDeadlineAt(order.run, now) },
        ...{ anchor_wished: order.run.anchorWished ?? false },
      }),
    );
  }

  return {
    async create(principal, order) {
      const owner = ownerOf(principal);
      const sessionId = principal.kind === 'session' ? principal.sessionId : null;
      const { caller } = await callerStatusOf({ ...owner, keyId: keyIdOf(principal), userId: principal.userId, sessionId });
      for (const endpoint of ['/v1/batches', order.endpoint]) requireEndpoint(caller, endpoint);
      if (owner.livemode) requireFeature(plans, plans.of(caller.plan), 'batches');
      requirePlanFor(caller, order.run, plans);
      const { file } = await files.open(owner, order.input_file_id).catch(missingInput);
      if (file.purpose !== 'batch') throw unfitInput('must be a file with the purpose "batch"');
      if (file.bytes > MOST_BYTES) throw unfitInput(`must have at most ${MOST_BYTES} bytes`);
      const id = newBatchId();
      // Under its lock from the beginning: no worker may take it up before it is known whether it is refused.
      await locks.under(id, async () => {
        await insert(id, principal, caller.plan, order);
        if (file.bytes > AT_ONCE_BYTES) return;
        try {
          await work.begin(id);
        } catch (refusal) {
          // Whoever is refused has no batch: there is nothing to be asked about later, and nothing to pay.
          await work.forget(id);
          throw refusal;
        }
      });
      return find(owner, id);
    },

    get: find,

    async list({ accountId, livemode }, { after, before, endpoint, limit }) {
      for (const [param, id] of Object.entries({ after, before })) if (id !== undefined && !isBatchId(id)) throw noSuchBatch(param);
      const rows = await rowsOf(
        pool,
        batchesOf({ accountId, livemode })
          .where((eb) => ifGiven(endpoint, (wanted) => eb('batches.endpoint', '=', wanted)))
          .where((eb) => ifGiven(after, (last) => eb('batches.id', '<', last)))
          .where((eb) => ifGiven(before, (first) => eb('batches.id', '>', first)))
          .orderBy('batches.id', before === undefined ? 'desc' : 'asc')
          .limit(limit + 1),
      );
      const page = rows.slice(0, limit).map(batchOf);
      return { batches: before === undefined ? page : page.reverse(), hasMore: rows.length > limit };
    },

    async delete(owner, batchId) {
      const { id, status } = await find(owner, batchId);
      if (UNFINISHED.includes(status)) throw new Problem('conflict', `The batch is ${status}: cancel it, and delete it once it has ended.`);
      await run(pool, tables.deleteFrom('batch_lines').where('batch_id', '=', id));
      await run(pool, tables.deleteFrom('batches').where('id', '=', id));
    },

    async cancel(owner, batchId) {
      const { id } = await find(owner, batchId);
      await run(
        pool,
        tables
          .updateTable('batches')
          .set({ status: 'cancelling', cancelling_at: new Date(clock.now()) })
          .where('id', '=', id)
          .where('status', 'in', ['validating', 'in_progress']),
      );
      const batch = await find(owner, id);
      if (batch.status !== 'cancelling' && batch.status !== 'cancelled')
        throw new Problem('conflict', `The batch is ${batch.status}: there is nothing to cancel any more.`);
      return batch;
    },
  };
}

/** A deadline of so many seconds counts from the order, whenever the lines come to run. */
function runDeadlineAt({ runDeadline }: RunOfBatch, now: number): Date | null {
  if (runDeadline === undefined) return null;
  return new Date('at' in runDeadline ? runDeadline.at : now + runDeadline.afterMs);
}

const noSuchBatch = (param = 'batch_id'): Problem => new Problem('not_found', 'There is no such batch.', { param });
const unfitInput = (msg: string): Problem => invalidInput([{ loc: ['body', 'input_file_id'], msg, type: 'invalid' }]);

function missingInput(thrown: unknown): never {
  if (thrown instanceof Problem && thrown.code === 'not_found')
    throw new Problem('not_found', 'There is no such file: upload the requests with the purpose "batch" first.', {
      param: 'input_file_id',
    });
  throw thrown;
}
