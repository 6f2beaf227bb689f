/** A state of the log with the proof that it grew out of an older one. */
export interface Submission {
  /** What the witness is believed to have seen last; 0: nothing. */
  readonly oldSize: number;
  readonly path: readonly Uint8Array[];
  /** The signed note. */
  readonly note: string;
}

/**
 * `stale`: the witness has seen another size last. `refused`: it does not accept the proof, the signature or the log, which somebody has to
 * look into; `contradicts` where it says that the log is not the one that it has seen. `away`: it could not be asked just now.
 */
export type WitnessAnswer =
  | { readonly state: 'cosigned'; readonly lines: string }
  | { readonly state: 'stale'; readonly size: number }
  | { readonly state: 'refused'; readonly reason: string; readonly contradicts: boolean }
  | { readonly state: 'away'; readonly reason: string };

/** Somebody else, who cosigns states of the log that do not contradict those they have seen. */
export interface Witness {
  submit(submission: Submission, signal: AbortSignal): Promise<WitnessAnswer>;
}
