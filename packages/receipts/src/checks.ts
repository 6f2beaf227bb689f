/** `pending`: the receipt carries none. `unchecked`: it carries one that cannot be checked here, and that proves nothing. */
export type ProofState = 'pending' | 'unchecked';

/** What was found in order. */
export interface Checks {
  readonly signature: 'ok';
  readonly cost: 'ok';
  /** Present where published prices were given. */
  readonly prices?: 'ok';
  /** Present where the receipt names the entry of its price. `ok`: it was shown to stand in the log before the receipt, with these prices. */
  readonly price_entry?: 'ok' | 'unchecked';
  /** Present where the caller signed the request. `unchecked`: it covers parts of the request that are not known here. */
  readonly client_signature?: 'ok' | 'unchecked';
  /** `unchecked`: there is a proof, and no key of the log at hand to check it with. One that does not hold refuses the receipt. */
  readonly log: 'ok' | ProofState;
  /** `unconfirmed`: the receipt is in the state of the log that its anchor names; whether that is on the chain, `confirmAnchor` asks. */
  readonly anchor: 'unconfirmed' | ProofState;
}
