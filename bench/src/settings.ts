/** How long a run measures. Counts of rounds are of interleaved ones: every subject takes its turn in each. */
export interface Settings {
  readonly warmUpMs: number;
  readonly sequential: { readonly warmUp: number; readonly rounds: number; readonly requests: number };
  /** Of each kind of request. */
  readonly load: { readonly connections: number; readonly rounds: number; readonly ms: number };
  /** Of each kind of request. */
  readonly steady: { readonly perSecond: number; readonly rounds: number; readonly ms: number };
  readonly streams: { readonly together: number; readonly rounds: number };
  readonly memory: { readonly streams: number; readonly slowReaders: number; readonly slowMs: number };
  /** Of each kind of request. */
  readonly overspend: { readonly connections: number; readonly ms: number };
}

export const FULL: Settings = {
  warmUpMs: 3_000,
  sequential: { warmUp: 15, rounds: 7, requests: 25 },
  load: { connections: 64, rounds: 5, ms: 2_000 },
  steady: { perSecond: 100, rounds: 3, ms: 3_000 },
  streams: { together: 100, rounds: 5 },
  memory: { streams: 1_000, slowReaders: 50, slowMs: 4_000 },
  overspend: { connections: 64, ms: 2_000 },
};

export const QUICK: Settings = {
  warmUpMs: 1_000,
  sequential: { warmUp: 15, rounds: 7, requests: 5 },
  load: { connections: 64, rounds: 2, ms: 800 },
  steady: { perSecond: 100, rounds: 1, ms: 1_000 },
  streams: { together: 100, rounds: 1 },
  memory: { streams: 1_000, slowReaders: 50, slowMs: 2_000 },
  overspend: { connections: 64, ms: 1_000 },
};
