import type { SiteEventStatus } from '@tallygate/contract';
import { Problem } from '../../kernel/problem.ts';

/** A row of `site_events`. */
export interface SiteEvent {
  readonly event_id: string;
  readonly slug: string;
  readonly title: string;
  readonly summary: string;
  readonly description: string;
  readonly status: SiteEventStatus;
  readonly starts_at: Date;
  readonly ends_at: Date;
  /** IANA name. */
  readonly time_zone: string;
  readonly venue_name: string | null;
  readonly venue_address: string | null;
  readonly online_url: string | null;
  readonly image_url: string | null;
  /** Null: any number. */
  readonly capacity: number | null;
  readonly price_nano: bigint;
  /** Null: with the event. */
  readonly registration_closes_at: Date | null;
  readonly revision: number;
  /** The first time. */
  readonly published_at: Date | null;
  readonly archived_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** The counts of an event's places. */
export interface Places {
  /** Assigned, paid or held for payment. */
  readonly taken: number;
  readonly waiting: number;
}

/** What is done to an event's state, the states it is done from, and the one it leads to. */
const TRANSITIONS = {
  publish: { from: ['draft'], to: 'published', done: 'published' },
  unpublish: { from: ['published'], to: 'draft', done: 'taken back' },
  archive: { from: ['draft', 'published'], to: 'archived', done: 'archived' },
} as const satisfies Record<string, { from: readonly SiteEventStatus[]; to: SiteEventStatus; done: string }>;
export type Transition = keyof typeof TRANSITIONS;

/** The state after a step. @throws Problem `invalid_transition` where the step does not lead anywhere */
export function stateAfter(step: Transition, { status }: Pick<SiteEvent, 'status'>): SiteEventStatus {
  const { from, to, done } = TRANSITIONS[step];
  const allowed: readonly SiteEventStatus[] = from;
  if (allowed.includes(status)) return to;
  throw new Problem(
    'invalid_transition',
    `The event is ${nameOf[status]}: only ${from.map((state) => nameOf[state]).join(' or ')} can be ${done}.`,
  );
}

const nameOf: Readonly<Record<SiteEventStatus, string>> = {
  draft: 'a draft',
  published: 'a published event',
  archived: 'an archived event',
};

export const closingTime = ({ registration_closes_at, ends_at }: SiteEvent): Date => registration_closes_at ?? ends_at;

export const takesRegistrations = (event: SiteEvent, nowMs: number): boolean =>
  event.status === 'published' && nowMs < closingTime(event).getTime();

export const placesLeft = ({ capacity }: Pick<SiteEvent, 'capacity'>, { taken }: Places): number | null =>
  capacity === null ? null : Math.max(0, capacity - taken);
