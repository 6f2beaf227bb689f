/** What a time-stamping authority has signed: that it saw a hash at a time. */
export interface Timestamp {
  /** The token of RFC 3161: a CMS signature in DER, the certificate of the authority in it. */
  readonly token: Buffer;
  /** When, by the authority's clock. */
  readonly time: Date;
}

/** Somebody else with a clock, who signs hashes with the time. */
export interface TimestampAuthority {
  readonly url: string;
  /**
   * @param digest SHA-256 of what is to be stamped
   * @throws Error where it cannot be asked, refuses, or answers with a token for something else
   */
  stamp(digest: Uint8Array, signal: AbortSignal): Promise<Timestamp>;
}
