/** `log_forked`: two states exclude each other. `log_not_consistent`: the log does not show that they do not, although it was asked. */
export type LogForkCode = 'log_forked' | 'log_not_consistent';

/** A log has shown two pasts, or does not prove that it has shown one. Both signed states are kept as evidence. */
export class LogForkError extends Error {
  override readonly name = 'LogForkError';
  readonly code: LogForkCode;
  /** Which log. */
  readonly origin: string;
  /** Where the evidence is: of a file store, the path of a file. */
  readonly evidence: string;
  /** The signed note that was kept. */
  readonly kept: string;
  /** The signed note that was met now, or what an anchor says. */
  readonly met: string;

  constructor(reason: string, of: Pick<LogForkError, 'code' | 'origin' | 'evidence' | 'kept' | 'met'>) {
    super(reason);
    this.code = of.code;
    this.origin = of.origin;
    this.evidence = of.evidence;
    this.kept = of.kept;
    this.met = of.met;
  }
}

/** The log could not be asked: nobody answered. To be thrown by whoever reads tiles. */
export class LogAwayError extends Error {
  override readonly name = 'LogAwayError';
}
