/** What a script can branch on. Documented in README.md, in `--help` and in the man page. */
export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2,
  receiptNotValid: 3,
  authenticationNeeded: 4,
  refusedOverBudgetOrRate: 5,
  receiptNotChecked: 6,
  logForked: 7,
  /** 128 + SIGINT, as shells have it. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** In the words of the help. */
export const EXIT_MEANINGS: readonly (readonly [code: ExitCode, meaning: string])[] = [
  [EXIT.ok, 'done'],
  [EXIT.failure, 'failed'],
  [EXIT.usage, 'wrong usage'],
  [EXIT.receiptNotValid, 'receipt or log not valid'],
  [EXIT.authenticationNeeded, 'authentication needed'],
  [EXIT.refusedOverBudgetOrRate, 'refused over budget or rate'],
  [EXIT.receiptNotChecked, 'receipt cannot be checked with what is at hand'],
  [EXIT.logForked, 'the log contradicts a stored state of it'],
  [EXIT.interrupted, 'interrupted with Ctrl-C'],
];
