import type { Pool } from 'pg';
import type { Refused } from '../../adapters/lanes/port.ts';
import type { Log } from '../../kernel/log.ts';
import { NotedOnce } from '../../kernel/noted-once.ts';
import { recordEvent } from '../../webhooks/index.ts';
import { laneId, parseLaneId } from '../ledger/index.ts';
import type { RunOwner } from './run.ts';

type Reason = 'budget' | 'calls' | 'deadline';

/** Tells webhooks of each run that is exhausted, once for each of its bounds. */
export class ExhaustedRuns {
  readonly #pool: Pool;
  readonly #notes: NotedOnce;

  constructor({ pool, log }: { readonly pool: Pool; readonly log: Log }) {
    this.#pool = pool;
    this.#notes = new NotedOnce(log, 'webhooks could not be told of an exhausted run');
  }

  note({ accountId, livemode }: RunOwner, runId: string, reason: Reason): void {
    const name = `run.exhausted:${laneId.run(accountId, livemode, runId)}:${reason}`;
    const data = { run_id: runId, livemode, reason };
    this.#notes.note(name, () => recordEvent(this.#pool, { accountId, type: 'run.exhausted', data, dedupeKey: name }));
  }

  /** Of every refused call; most are refused for something else. */
  noteRefused({ lane: { id, source }, mayFitLater }: Pick<Refused, 'lane' | 'mayFitLater'>): void {
    if (source !== 'agent_run' || mayFitLater) return;
    const lane = parseLaneId(id);
    if (lane.kind === 'run') this.note(lane, lane.runId, 'budget');
  }

  settled(): Promise<void> {
    return this.#notes.settled();
  }
}
