import type { ServerResponse } from 'node:http';
import type { Cut, Step } from './step.ts';

/** What is known of an answer while it is written. */
export interface Progress {
  bytesSent: number;
  /** Pieces of the body written so far. */
  piecesSent: number;
  /** How many of them carry no token. */
  leadingPieces: number;
  /** The answer is being made: it was not refused. */
  hasBegun: boolean;
  isStream: boolean;
  /** The client went away before the answer ended. */
  aborted: boolean;
  /** The script ended the connection, not the client. */
  cut: boolean;
}

/** Lets what was written reach the client before a reset overtakes it. */
const RESET_AFTER_MS = 20;

/** Sent at once, in parts that are not concatenated, since it may be large. */
export type Piece = readonly Uint8Array[];

/** A body in the given sizes; the last size repeats. Without sizes: as it comes. */
export function* pieces(source: Iterable<Piece>, sizes: Step['pieceBytes']): Generator<Piece> {
  if (sizes === undefined) {
    for (const piece of source) if (piece.some(({ length }) => length > 0)) yield piece;
    return;
  }
  const whole = Buffer.concat([...source].flat());
  const list = typeof sizes === 'number' ? [sizes] : sizes;
  for (let at = 0, turn = 0; at < whole.length; turn++) {
    const size = Math.max(1, list[Math.min(turn, list.length - 1)] ?? 1);
    yield [whole.subarray(at, at + size)];
    at += size;
  }
}

/** Ends the connection in the scripted way instead of the response. */
export function breakOff(response: ServerResponse, how: Cut['how'], progress: Progress): void {
  const { socket } = response;
  progress.cut = how !== 'stall';
  switch (how) {
    case 'stall':
      return;
    case 'reset':
      setTimeout(() => socket?.resetAndDestroy(), response.headersSent ? RESET_AFTER_MS : 0);
      return;
    case 'fin':
      socket?.end();
      return;
    case 'garbage':
      socket?.end('this is no chunk size\r\n');
      return;
    default:
      how satisfies never;
  }
}

/** Writes one piece after another, `gapMs` apart, and waits for the client where it does not read. */
export function write(response: ServerResponse, source: Iterator<Piece>, step: Step, progress: Progress): void {
  const { cut, gapMs = 0 } = step;
  let { waits } = step;
  let written = 0;
  const next = (): void => {
    while (!response.destroyed) {
      if (cut && written === cut.at) {
        breakOff(response, cut.how, progress);
        return;
      }
      if (waits && written === waits.at) {
        void waits.until.then(next);
        waits = undefined;
        return;
      }
      const { value: piece, done } = source.next();
      if (done) {
        response.end();
        return;
      }
      written++;
      let hasRoom = true;
      for (const part of piece) {
        hasRoom = response.write(part);
        progress.bytesSent += part.length;
      }
      progress.piecesSent += 1;
      if (gapMs > 0) {
        setTimeout(next, gapMs);
        return;
      }
      if (!hasRoom) {
        response.once('drain', next);
        return;
      }
    }
  };
  next();
}
