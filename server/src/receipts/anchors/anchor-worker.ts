import type { Pool, PoolClient } from 'pg';
import * as z from 'zod';
import type { AnchorChain } from '../../adapters/chain/port.ts';
import { tryLock, unlock } from '../../kernel/advisory-lock.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { checkedRow } from '../../kernel/statements.ts';
import { HOW_TO_RESUME, LogStop, stopLog, stopsOf } from '../log/log-stops.ts';
import type { SigningKey } from '../signing-keys.ts';
import { unfinishedAnchors } from './anchor-rows.ts';
import { AnchoringFault, type AnchoringSettings, type AnchoringView, type AnchorStep } from './anchoring.ts';
import { beginAnchor, dueState } from './begin-anchor.ts';
import { followAnchors } from './follow-anchors.ts';

/** How often the chain is asked about anchors that stand in blocks already, until they are final. */
const SETTLED_LOOK_MS = 30_000;
const BALANCE_LOOK_MS = 300_000;

export interface AnchorWorkerDeps {
  readonly chain: AnchorChain;
  readonly settings: AnchoringSettings;
  readonly pool: Pool;
  readonly logKeys: readonly SigningKey[];
  readonly clock: Clock;
  readonly log: Log;
  /** Told after every look at the chain. */
  readonly onLook?: (view: AnchoringView) => void;
}

const Standing = z.object({ waiting: z.bigint().nullable(), fees: z.string() });

/** Brings the states of the log to one chain. Any number of processes may have one for it: a lock in the database lets one at a time work. */
export class AnchorWorker {
  readonly #deps: AnchorWorkerDeps;
  #nextSettledLook = 0;
  #nextBalanceLook = 0;
  #balanceWei: bigint | undefined;
  #fault: string | null = null;

  constructor(deps: AnchorWorkerDeps) {
    this.#deps = { ...deps, log: deps.log.child({ chain: deps.chain.chainId }) };
  }

  /** One step: to be repeated every few seconds. What hinders is logged and never thrown, for the next step begins anew. */
  async step(): Promise<void> {
    try {
      await this.#underLock(async (session) => {
        const step = { ...this.#deps, session };
        await this.#anchor(step);
        await this.#lookAtBalance();
        this.#fault = null;
        await this.#tell();
      });
    } catch (error) {
      await this.#failed(error);
    }
  }

  async #anchor(step: AnchorStep): Promise<void> {
    if ((await stopsOf(step.session)).length > 0) throw new AnchoringFault(`The log of receipts is stopped. ${HOW_TO_RESUME}`);
    const now = this.#deps.clock.now();
    const unfinished = await unfinishedAnchors(step.session, step.chain);
    const isOnlySettling = unfinished.every(({ state }) => state === 'included');
    const due = isOnlySettling ? await dueState(step) : undefined;
    if (isOnlySettling && !due && now < this.#nextSettledLook) return;
    this.#nextSettledLook = now + SETTLED_LOOK_MS;
    if (!(await followAnchors(step)) || !due) return;
    await beginAnchor(due, step);
    await followAnchors(step);
  }

  async #lookAtBalance(): Promise<void> {
    const { chain, settings, clock, log } = this.#deps;
    if (clock.now() < this.#nextBalanceLook) return;
    const { balanceWei } = await chain.account();
    this.#nextBalanceLook = clock.now() + BALANCE_LOOK_MS;
    this.#balanceWei = balanceWei;
    if (balanceWei < settings.lowBalance)
      log.error({ publisher: chain.publisher, balanceWei: `${balanceWei}` }, 'the account that pays for anchors is nearly empty');
  }

  /** The session that holds the lock is the one that writes: with it goes the right to do so. */
  async #underLock(work: (session: PoolClient) => Promise<void>): Promise<void> {
    const session = await this.#deps.pool.connect();
    let broken: Error | undefined;
    const name = `anchors/${this.#deps.chain.chainId}`;
    try {
      if (!(await tryLock(session, name))) return;
      try {
        await work(session);
      } finally {
        await unlock(session, name).catch((error: Error) => {
          broken = error;
        });
      }
    } finally {
      session.release(broken);
    }
  }

  /** The same fault is said aloud once, and shown in the metrics until it is gone. */
  async #failed(error: unknown): Promise<void> {
    const { log } = this.#deps;
    const fault = error instanceof Error ? error.message : String(error);
    const isNew = fault !== this.#fault;
    if (error instanceof LogStop) await stopLog(this.#deps, [{ reason: fault, seen: null }]);
    this.#fault = fault;
    if (isNew && error instanceof AnchoringFault) log.fatal({ err: error }, 'nothing is anchored on this chain until somebody sees to it');
    else if (isNew) log.error({ err: error }, 'anchoring cannot go on; it is tried again');
    await this.#tell().catch((cause: unknown) => log.warn({ err: cause }, 'what waits to be anchored cannot be counted'));
  }

  async #tell(): Promise<void> {
    const { chain, settings, pool, onLook } = this.#deps;
    if (!onLook) return;
    const standing = await checkedRow(
      pool,
      Standing,
      `select (select size from receipt_log) - coalesce(max(tree_size), 0) as waiting, coalesce(sum(fee_wei), 0)::text as fees
       from anchors where chain_id = $1 and contract = $2 and state in ('included', 'finalized')`,
      [chain.chainId, chain.contract],
    );
    onLook({
      chainId: chain.chainId,
      waiting: Number(standing?.waiting ?? 0),
      balanceWei: this.#balanceWei,
      isBalanceLow: this.#balanceWei !== undefined && this.#balanceWei < settings.lowBalance,
      fault: this.#fault,
      feesWei: BigInt(standing?.fees ?? 0),
    });
  }
}
