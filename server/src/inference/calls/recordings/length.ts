/** How long a recording is, by what is in it. */
export interface RecordingLength {
  /** What a decoder makes of its frames. */
  readonly seconds: number;
  /** Never less than that: what the container claims, and the longest that its frames can be, count too. */
  readonly mostSeconds: number;
}

export const atLeast = (seconds: number, ...others: readonly number[]): RecordingLength => ({
  seconds,
  mostSeconds: Math.max(seconds, ...others),
});
