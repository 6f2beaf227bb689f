import type { HoldOutcome, HoldRequest, LaneStore, Settlement } from '../adapters/lanes/port.ts';
import type { NanoUsd } from '../kernel/money.ts';
import type { Metrics } from './metrics.ts';

/** The same lanes; what is held, and how long holding and settling take, is measured. */
export function measuredLanes(lanes: LaneStore, { laneTook, watchHeld }: Pick<Metrics, 'laneTook' | 'watchHeld'>): LaneStore {
  /** By the ids of the holds that this gateway has taken and that have not ended. */
  const held = new Map<string, NanoUsd>();
  watchHeld(() => [...held.values()].reduce((sum, amount) => sum + amount, 0n));
  const timed = <T>(
    operation: 'hold' | 'settle',
    result: T | Promise<T>,
    startedTick: number,
    then: (value: T) => void,
  ): T | Promise<T> => {
    const note = (value: T): T => {
      laneTook(operation, (performance.now() - startedTick) / 1_000);
      then(value);
      return value;
    };
    // What fails is counted by the refusal that it becomes. Without a promise nothing waits a turn.
    return result instanceof Promise ? result.then(note) : note(result);
  };
  const own: Pick<LaneStore, 'hold' | 'settle' | 'release' | 'abandon'> = {
    hold: (request: HoldRequest) =>
      timed<HoldOutcome>('hold', lanes.hold(request), performance.now(), (outcome) => {
        if (outcome.held) held.set(request.holdId, outcome.amount);
      }),
    settle: (settlement: Settlement) => timed('settle', lanes.settle(settlement), performance.now(), () => held.delete(settlement.holdId)),
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
