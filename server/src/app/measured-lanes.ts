import type { HoldOutcome, HoldRequest, LaneStore, Settled, Settlement } from '../adapters/lanes/port.ts';
import type { NanoUsd } from '../kernel/money.ts';
import { andThen } from '../kernel/soon.ts';
import type { Metrics } from './metrics.ts';

/** The same lanes; what is held, and how long holding and settling take, is measured. */
export function measuredLanes(lanes: LaneStore, { laneTook, watchHeld }: Pick<Metrics, 'laneTook' | 'watchHeld'>): LaneStore {
  /** By the ids of the holds that this gateway has taken and that have not ended. Those that many draw from may end in another process. */
  const held = new Map<string, { readonly projectId: string | undefined; readonly amount: NanoUsd }>();
  watchHeld(() => held.values());
  const secondsSince = (tick: number): number => (performance.now() - tick) / 1_000;
  // What fails is counted by the refusal that it becomes. Without a promise nothing waits a turn.
  const own: Pick<LaneStore, 'hold' | 'settle' | 'release' | 'abandon'> = {
    hold: (request: HoldRequest) => {
      const { holdId, projectId, keptUntil } = request;
      const startedTick = performance.now();
      return andThen(lanes.hold(request), (outcome: HoldOutcome) => {
        laneTook('hold', secondsSince(startedTick), projectId);
        if (outcome.held && keptUntil === undefined) held.set(holdId, { projectId, amount: outcome.amount });
        return outcome;
      });
    },
    settle: (settlement: Settlement) => {
      const projectId = held.get(settlement.holdId)?.projectId;
      const startedTick = performance.now();
      return andThen(lanes.settle(settlement), (settled: Settled | undefined) => {
        laneTook('settle', secondsSince(startedTick), projectId);
        held.delete(settlement.holdId);
        return settled;
      });
    },
    release: (holdId) => {
      held.delete(holdId);
      return lanes.release(holdId);
    },
    abandon: (holdId) => {
      held.delete(holdId);
      return lanes.abandon(holdId);
    },
  };
  const members = new Map<string | symbol, unknown>(Object.entries(own));
  return new Proxy(lanes, {
    get(target, name) {
      if (!members.has(name)) {
        const member: unknown = Reflect.get(target, name, target);
        members.set(name, typeof member === 'function' ? member.bind(target) : member);
      }
      return members.get(name);
    },
  });
}
