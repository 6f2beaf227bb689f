import type { NanoUsd } from '../../kernel/money.ts';

/**
 * `logged`: meant for the chain, and written down before it is sent. `submitted`: a node has taken the transaction. `included`: it stands in
 * a block that the chain may still take back. `finalized`: in one that it will not. `superseded`: never got there, a later state did.
 */
export type AnchorState = 'logged' | 'submitted' | 'included' | 'finalized' | 'superseded';

/** A state of the log on its way to a chain, or there. */
export interface Anchor {
  readonly id: string;
  readonly chainId: number;
  readonly contract: string;
  readonly state: AnchorState;
  readonly size: number;
  /** 32 bytes. */
  readonly root: Uint8Array;
  /** Of the state that the contract held, or is to hold before this one; 0 for the contract's first. */
  readonly previousSize: number;
  /** The account whose nonce it is. */
  readonly publisher: string;
  /** Null where it was found on the chain and not sent from here. */
  readonly nonce: number | null;
  readonly gasLimit: bigint | null;
  /** What of its transactions stands in a block. */
  readonly inclusion: AnchorInclusion | null;
  readonly createdAt: Date;
  readonly submittedAt: Date | null;
  readonly includedAt: Date | null;
  readonly finalizedAt: Date | null;
}

export interface AnchorInclusion {
  readonly hash: string;
  readonly blockNumber: number;
  readonly blockTime: Date;
  readonly gasUsed: bigint;
  readonly feeWei: bigint;
  /** Undefined where no price of the chain's coin was configured. */
  readonly feeNanoUsd: NanoUsd | undefined;
}

/** One signed attempt at an anchor. Several of one nonce are the same call at other fees: a chain takes at most one of them. */
export interface AnchorTransaction {
  readonly hash: string;
  readonly raw: string;
  readonly nonce: number;
  readonly maxPerGas: bigint;
  readonly maxPriorityPerGas: bigint;
  readonly recordedAt: Date;
}
