import { CollectedBody } from '../collected-body.ts';
import { type UpstreamAnswer, UpstreamCut } from '../port.ts';
import type { Cancellation } from './cancellation.ts';
import { type Delivery, made } from './delivery.ts';

/** Delivers a body as if it came off a wire: piece by piece, a turn of the event loop apart, and only as fast as it is read. */
export function deliver(delivery: Delivery, idleTimeoutMs: number, cancellation: Cancellation): UpstreamAnswer {
  /** The gap before a piece; a gap longer than the timeout ends the body, as silence does. */
  async function gap(ms: number): Promise<void> {
    await cancellation.pause(Math.min(ms, idleTimeoutMs));
    if (ms > 0 && ms >= idleTimeoutMs) throw new UpstreamCut('idle_timeout');
  }

  async function pump(onChunk: (chunk: Buffer) => void | Promise<void>): Promise<void> {
    try {
      for (const [index, piece] of delivery.pieces.entries()) {
        await gap(index === 0 ? 0 : delivery.gapMs);
        const taken = onChunk(made(piece));
        if (taken !== undefined) await cancellation.during(taken);
        cancellation.throwIfCancelled();
      }
      if (delivery.ending === 'stall') await gap(Number.POSITIVE_INFINITY);
      if (delivery.ending === 'reset') throw new UpstreamCut('reset');
    } finally {
      cancellation.release();
    }
  }

  async function collect(maxBytes: number, onTooLarge?: () => void): Promise<Buffer> {
    const collected = new CollectedBody(maxBytes, onTooLarge);
    await pump((chunk) => collected.take(chunk));
    return collected.whole();
  }

  return { ok: true, status: 200, contentType: delivery.contentType, pump, collect, abort: () => cancellation.cancel() };
}
