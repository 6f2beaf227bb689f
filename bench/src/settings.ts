/** How long a run measures. Counts of rounds are of interleaved ones: every subject takes its turn in each. */
export interface Settings {
  readonly warmUpMs: number;
  readonly sequential: { readonly warmUp: number; readonly rounds: number; readonly requests: number };
  readonly throughput: { readonly connections: number; readonly rounds: number; readonly ms: number };
  readonly steady: { readonly perSecond: number; readonly rounds: number; readonly ms: number };
  readonly streams: { readonly together: number; readonly rounds: number };
  readonly overspend: { readonly connections: number; readonly ms: number };
}

export const FULL: Settings = {
  warmUpMs: 3_000,
  sequential: { warmUp: 15, rounds: 7, requests: 25 },
  throughput: { connections: 64, rounds: 5, ms: 3_000 },
  steady: { perSecond: 200, rounds: 3, ms: 4_000 },
  streams: { together: 100, rounds: 5 },
  overspend: { connections: 64, ms: 3_000 },
};

export const QUICK: Settings = {
  warmUpMs: 1_000,
  sequential: { warmUp: 15, rounds: 7, requests: 5 },
  throughput: { connections: 64, rounds: 2, ms: 1_000 },
  steady: { perSecond: 200, rounds: 1, ms: 1_000 },
  streams: { together: 100, rounds: 1 },
  overspend: { connections: 64, ms: 1_000 },
};
