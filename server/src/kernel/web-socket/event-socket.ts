/** How a connection has ended: the status of its close frame, 1006 where none came (RFC 6455, 7.4). */
export interface SocketEnd {
  readonly code: number;
  readonly reason: string;
}

/** Either side of a WebSocket whose frames are texts. What is not taken from it is not read from the network, so its memory is bounded. */
export interface EventSocket {
  /**
   * Hands over every frame in order, one at a time: the next when the promise of the last is done. To be called once. Resolves when the
   * connection has ended; rejects with what `take` throws, which ends the connection.
   */
  pump(take: (frame: Buffer, isText: boolean) => void | Promise<void>): Promise<SocketEnd>;
  /** Resolves at once, or where the other side does not keep up, when it does again. Nothing happens on a connection that has ended. */
  send(frame: string | Buffer): void | Promise<void>;
  /** Says that it ends, and why; cut after a few seconds where the other side does not agree. Harmless on one that has ended. */
  close(code: number, reason: string): void;
}

/** The longest reason that fits into a close frame, bytes. */
export const MOST_REASON_BYTES = 123;
