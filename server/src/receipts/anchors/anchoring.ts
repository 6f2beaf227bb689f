import type { Pool, PoolClient } from 'pg';
import type { AnchorChain } from '../../adapters/chain/port.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { NanoUsd } from '../../kernel/money.ts';
import type { SigningKey } from '../signing-keys.ts';

/** When the log is anchored on a chain, and what it may cost. */
export interface AnchoringSettings {
  /** At most so much time between two anchors of a log that grows. */
  readonly everyMs: number;
  /** A receipt that is to be anchored soon waits so long, for others to share its anchor. */
  readonly wishedWithinMs: number;
  /** In the chain's smallest unit, per unit of gas: never is more offered. */
  readonly maxFeePerGas: bigint;
  /** A transaction that is in no block after so long is replaced by one that pays more. */
  readonly raiseAfterMs: number;
  /** In the chain's smallest unit: below this somebody has to pay in. */
  readonly lowBalance: bigint;
  /** What one whole coin of the chain is worth; undefined: costs are shown in coins alone. */
  readonly coinPrice: NanoUsd | undefined;
}

/** What is known of one chain after a look at it, for the metrics. */
export interface AnchoringView {
  readonly chainId: number;
  /** Entries of the log that are in no anchor that stands in a block. */
  readonly waiting: number;
  readonly balanceWei: bigint | undefined;
  readonly isBalanceLow: boolean;
  /** Why there is no going on: nothing is anchored until somebody sees to it. */
  readonly fault: string | null;
  /** Paid for anchors that stand in blocks. */
  readonly feesWei: bigint;
}

/** What every step on a chain needs. What is written goes over the session that holds the chain's lock: who lost the lock cannot write. */
export interface AnchorStep {
  readonly chain: AnchorChain;
  readonly settings: AnchoringSettings;
  readonly session: PoolClient;
  readonly pool: Pool;
  /** What is anchored was signed with one of these. */
  readonly logKeys: readonly SigningKey[];
  readonly clock: Clock;
  readonly log: Log;
}

/** There is no going on until somebody sees to it. */
export class AnchoringFault extends Error {
  override readonly name = 'AnchoringFault';
}
