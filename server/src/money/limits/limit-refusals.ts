import { LimitKind, LimitPeriod } from '@tallygate/contract';
import type { Pool } from 'pg';
import type { Refused } from '../../adapters/lanes/port.ts';
import { rfc3339 } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { formatUsd } from '../../kernel/money.ts';
import { NotedOnce } from '../../kernel/noted-once.ts';
import { recordEvent } from '../../webhooks/index.ts';
import { parseLaneId, parseLimit } from '../ledger/index.ts';

/** Tells webhooks of each cap of a limit that refused a request, once a window and cap. */
export class LimitRefusals {
  readonly #pool: Pool;
  readonly #notes: NotedOnce;

  constructor({ pool, log }: { readonly pool: Pool; readonly log: Log }) {
    this.#pool = pool;
    this.#notes = new NotedOnce(log, 'webhooks could not be told that a limit refused a request');
  }

  /** Of every refused call; most are refused for something else. */
  note({ lane: { id, cap, spent }, required, resetsAt, mayFitLater }: Refused): void {
    if (cap === null || mayFitLater || !id.startsWith('limit:')) return;
    const name = `limit.cap_hit:${id}:${cap}`;
    this.#notes.note(name, () => {
      const figures = { spent_usd: formatUsd(spent), cap_usd: formatUsd(cap), required_usd: formatUsd(required) };
      const { accountId, ...lane } = readLimitLane(id);
      const data = { ...lane, ...figures, resets_at: resetsAt === null ? null : rfc3339(resetsAt) };
      return recordEvent(this.#pool, { accountId, type: 'limit.cap_hit', data, dedupeKey: name });
    });
  }

  settled(): Promise<void> {
    return this.#notes.settled();
  }
}

/** Whose spending a lane counts, as events say it. @throws on the name of another lane */
export function readLimitLane(id: string) {
  const lane = parseLaneId(id);
  if (lane.kind !== 'limit') throw new Error(`${id} is not the lane of a limit`);
  const { kind, period, subject } = parseLimit(lane.of);
  return {
    ...{ accountId: lane.accountId, livemode: lane.livemode, kind: LimitKind.parse(kind), period: LimitPeriod.parse(period) },
    subject: subject === '' ? null : subject,
  };
}
