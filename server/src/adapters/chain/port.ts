/** A state of the receipts' log: how many entries it has, and the root over them (32 bytes). */
export interface LogState {
  readonly size: number;
  readonly root: Uint8Array;
}

/** A state, and the path that shows it to begin with the one that the contract holds (RFC 9162, section 2.1.4); empty for its first. */
export interface NextState extends LogState {
  readonly path: readonly Uint8Array[];
}

/** In the chain's smallest unit, per unit of gas (EIP-1559). */
export interface Fees {
  readonly maxPerGas: bigint;
  readonly maxPriorityPerGas: bigint;
}

/** What a transaction is sent with. Two of one nonce: the chain takes at most one. */
export interface Terms {
  readonly nonce: number;
  readonly gasLimit: bigint;
  readonly fees: Fees;
}

export interface SignedTransaction {
  /** 0x and 64 hex digits: known before anything is sent. */
  readonly hash: string;
  /** What is broadcast, 0x and hex. */
  readonly raw: string;
}

/** A transaction that stands in a block of the chain as the node sees it now. */
export interface Inclusion {
  readonly blockNumber: number;
  readonly blockTime: Date;
  /** False: it was executed and refused. Its nonce is spent all the same, and its fee too. */
  readonly succeeded: boolean;
  readonly gasUsed: bigint;
  /** All that was paid, in the chain's smallest unit; on a layer 2 with the fee for its data on layer 1. */
  readonly feeWei: bigint;
}

/** `accepted`: the node has it, or had it already. `nonce_spent`: another of its nonce is in a block. `underpriced`: another of its nonce waits, and pays too much to be replaced by this one. */
export type Broadcast = 'accepted' | 'nonce_spent' | 'underpriced';

/**
 * A contract on one chain that holds states of the log, and the account that publishes there. It translates and decides nothing: what it
 * says is how the node sees its newest block. Every method throws where the node cannot be reached, has another chain id, or answers what
 * cannot be understood.
 */
export interface AnchorChain {
  readonly chainId: number;
  /** Addresses are spelled with the checksum of EIP-55. */
  readonly contract: string;
  readonly publisher: string;
  /** The newest state that the contract holds; undefined before the first. */
  newest(): Promise<LogState | undefined>;
  /** Undefined where the contract does not hold this root. */
  find(root: Uint8Array): Promise<{ readonly size: number; readonly time: Date } | undefined>;
  /** `nextNonce`: of what stands in blocks; what waits to be included does not count. */
  account(): Promise<{ readonly nextNonce: number; readonly balanceWei: bigint }>;
  /** What is paid at present. */
  fees(): Promise<Fees>;
  /** The gas that taking this state needs. @throws AnchorRefused where the contract would not take it */
  estimate(state: NextState): Promise<bigint>;
  sign(state: NextState, terms: Terms): Promise<SignedTransaction>;
  broadcast(raw: string): Promise<Broadcast>;
  inclusionOf(hash: string): Promise<Inclusion | undefined>;
  /** The transaction by which the contract came to hold a state; undefined where the node does not know. */
  transactionOf(state: LogState): Promise<string | undefined>;
  /** The number of the newest block that counts as settled. */
  settledBlock(): Promise<number>;
  close(): void;
}

/** The contract would not take the state, whoever pays. */
export class AnchorRefused extends Error {
  /** The name of the contract's error, such as `NotPublisher`. */
  readonly refusal: string;

  constructor(refusal: string, options?: ErrorOptions) {
    super(`The contract refuses the state of the log: ${refusal}`, options);
    this.name = 'AnchorRefused';
    this.refusal = refusal;
  }
}
