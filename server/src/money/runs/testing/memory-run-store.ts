import { laneId } from '../../ledger/index.ts';
import type { RunBounds, RunOwner } from '../run.ts';
import type { RunStore } from '../run-store.ts';

interface Kept {
  bounds: RunBounds;
  calls: number;
}

/** Runs in memory, read in a later turn as from a database. It tells nobody of changes: the test does. */
export function memoryRunStore(): RunStore & { reads: number; callsOf(owner: RunOwner, runId: string): number | undefined } {
  const runs = new Map<string, Kept>();
  const keyOf = ({ accountId, livemode }: RunOwner, runId: string) => laneId.run(accountId, livemode, runId);
  const tick = () => new Promise(setImmediate);
  const least = (a: number | null, b: number | null) => (a === null ? b : b === null ? a : Math.min(a, b));
  const store = {
    reads: 0,
    callsOf: (owner: RunOwner, runId: string) => runs.get(keyOf(owner, runId))?.calls,

    async read(owner: RunOwner, runId: string) {
      store.reads += 1;
      await tick();
      return runs.get(keyOf(owner, runId))?.bounds;
    },

    async begin(wish: Parameters<RunStore['begin']>[0], ancestors: readonly string[]) {
      await tick();
      const { runId, maxCalls, deadlineAt } = wish;
      const key = keyOf(wish, runId);
      if (!runs.has(key)) runs.set(key, { bounds: { runId, ancestors, maxCalls, deadlineAt, closedAt: null }, calls: 0 });
    },

    async tighten(wish: Parameters<RunStore['tighten']>[0]) {
      const kept = runs.get(keyOf(wish, wish.runId));
      if (!kept) return;
      const { maxCalls, deadlineAt } = kept.bounds;
      kept.bounds = { ...kept.bounds, maxCalls: least(maxCalls, wish.maxCalls), deadlineAt: least(deadlineAt, wish.deadlineAt) };
    },

    async countCall(owner: RunOwner, chain: readonly string[]) {
      await tick();
      const kept = chain.flatMap((runId) => runs.get(keyOf(owner, runId)) ?? []);
      const counted = kept.every(({ bounds, calls }) => bounds.maxCalls === null || calls < bounds.maxCalls);
      if (counted) for (const one of kept) one.calls += 1;
      return { counted, runs: kept.map(({ bounds: { runId, maxCalls }, calls }) => ({ runId, maxCalls, calls })) };
    },

    async uncountCall(owner: RunOwner, chain: readonly string[]) {
      for (const runId of chain) {
        const kept = runs.get(keyOf(owner, runId));
        if (kept) kept.calls -= 1;
      }
    },

    async close(owner: RunOwner, runId: string, now: number) {
      const kept = runs.get(keyOf(owner, runId));
      if (!kept) return undefined;
      if (kept.bounds.closedAt !== null) return false;
      for (const one of runs.values()) {
        if (one === kept || one.bounds.ancestors.includes(runId)) one.bounds = { ...one.bounds, closedAt: one.bounds.closedAt ?? now };
      }
      return true;
    },
  };
  return store;
}
