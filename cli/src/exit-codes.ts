/** What a script can branch on. Documented in README.md and in `--help`. */
export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2,
  receiptNotValid: 3,
  authenticationNeeded: 4,
  refusedOverBudgetOrRate: 5,
  /** 128 + SIGINT, as shells have it. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
