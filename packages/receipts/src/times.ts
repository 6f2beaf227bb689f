import type { ReceiptPayload } from './receipt.ts';
import { Refused } from './refusal.ts';

/** How far the clock of a witness, of a chain or of another gateway may differ from that of the service: five minutes. */
export const CLOCKS_APART_MS = 300_000;

/** Throws `Refused` with `completed_before_started`. */
export function checkOrder({ started_at: startedAt, completed_at: completedAt }: ReceiptPayload): void {
  // Times have one spelling of fixed width, and so sort as text.
  if (completedAt < startedAt)
    throw new Refused('completed_before_started', `payload.completed_at is ${completedAt}, payload.started_at ${startedAt}.`);
}

/**
 * Whoever saw a state of the log saw the receipt in it, and so saw it after its completion: otherwise one of the two times is made up.
 *
 * Throws `Refused` with `seen_before_completed`.
 */
export function checkSeenAfter(completedAt: string, by: string, time: string): void {
  if (Date.parse(time) < Date.parse(completedAt) - CLOCKS_APART_MS)
    throw new Refused('seen_before_completed', `It is of ${completedAt}, ${by} had it at ${time} already.`);
}
