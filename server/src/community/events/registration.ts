import type { RegistrationStatus } from '@tallygate/contract';
import type { SiteEvent } from './site-event.ts';

/** A row of `event_registrations`. */
export interface Registration {
  readonly registration_id: string;
  readonly event_id: string;
  /** As it was typed the first time; unique for the event, without regard to case. */
  readonly email: string;
  readonly name: string | null;
  readonly company: string | null;
  readonly message: string | null;
  readonly user_id: string | null;
  readonly status: RegistrationStatus;
  /** The smaller one came first. */
  readonly turn: bigint;
  readonly price_nano: bigint;
  readonly payment_status: 'not_required' | 'due' | 'paid' | 'refunded' | 'waived';
  /** Until when a place that awaits payment is held. */
  readonly pay_by: Date | null;
  readonly checkout_id: string | null;
  readonly payment_id: string | null;
  readonly admin_note: string;
  readonly attended_at: Date | null;
  readonly confirmed_at: Date | null;
  readonly canceled_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** How long a place is held for payment. */
export const PAYMENT_WINDOW_MS = 24 * 3_600_000;

/** What a registration is from now on. */
type Standing = Pick<Registration, 'status' | 'payment_status' | 'pay_by'>;

/** Assigns a place: confirmed at once if there is nothing to pay. */
export function withPlace(owed: Pick<Registration, 'price_nano' | 'payment_status'>, nowMs: number): Standing {
  const { price_nano, payment_status } = owed;
  if (price_nano === 0n) return { status: 'confirmed', payment_status: 'not_required', pay_by: null };
  if (payment_status === 'paid' || payment_status === 'waived') return { status: 'confirmed', payment_status, pay_by: null };
  return { status: 'awaiting_payment', payment_status: 'due', pay_by: new Date(nowMs + PAYMENT_WINDOW_MS) };
}

export const inLine = ({ price_nano }: Pick<Registration, 'price_nano'>): Standing => ({
  status: 'waitlisted',
  payment_status: price_nano === 0n ? 'not_required' : 'due',
  pay_by: null,
});

export const holdsPlace = ({ status }: Pick<Registration, 'status'>): boolean => status === 'confirmed' || status === 'awaiting_payment';

/** Whether a place is free for a new registration: the waitlist comes first. */
export const hasRoom = ({ capacity }: Pick<SiteEvent, 'capacity'>, { taken, waiting }: { taken: number; waiting: number }): boolean =>
  capacity === null || (waiting === 0 && taken < capacity);
