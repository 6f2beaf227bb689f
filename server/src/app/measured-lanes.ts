import type { LaneStore } from '../adapters/lanes/port.ts';
import type { Metrics } from './metrics.ts';

/** The same lanes; how long they take to hold and to settle is measured. */
export function measuredLanes(lanes: LaneStore, { laneTook }: Pick<Metrics, 'laneTook'>): LaneStore {
  const measured = <Args extends unknown[], Result>(operation: 'hold' | 'settle', run: (...args: Args) => Result) => {
    return (...args: Args): Result => {
      const startedTick = performance.now();
      const note = () => laneTook(operation, (performance.now() - startedTick) / 1_000);
      const result = run(...args);
      // What fails is counted by the refusal that it becomes.
      if (result instanceof Promise) result.then(note, () => {});
      else note();
      return result;
    };
  };
  const own = {
    hold: measured('hold', (request: Parameters<LaneStore['hold']>[0]) => lanes.hold(request)),
    settle: measured('settle', (settlement: Parameters<LaneStore['settle']>[0]) => lanes.settle(settlement)),
  };
  const bound = new Map<string | symbol, unknown>(Object.entries(own));
  return new Proxy(lanes, {
    get(target, name) {
      if (!bound.has(name)) {
        const member: unknown = Reflect.get(target, name, target);
        bound.set(name, typeof member === 'function' ? member.bind(target) : member);
      }
      return bound.get(name);
    },
  });
}
