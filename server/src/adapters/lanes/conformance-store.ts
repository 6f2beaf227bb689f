import { NOW, ScriptedSource } from './conformance-requests.ts';
import type { Held, HoldRequest, LaneSource, LaneStore, MoneyLane, Refused, SettlementFeed } from './port.ts';

/** A store under test. It starts empty: whatever it knows of a lane it has from its source. */
export interface StoreUnderTest {
  readonly store: LaneStore;
  /** What it made durable. */
  readonly feed: SettlementFeed;
  close(): Promise<void>;
}

/** @param now the store's clock, milliseconds */
export type MakeStore = (source: LaneSource, now: () => number) => Promise<StoreUnderTest>;

/** What the clock of the store shows, milliseconds. */
export interface StoreClock {
  at: number;
}

/** What the suite has in its hands beside the store. */
export interface Surroundings {
  readonly source: ScriptedSource;
  readonly feed: SettlementFeed;
  readonly clock: StoreClock;
}

/** Runs `body` on a fresh store whose source says what it is told to. */
export const withStore =
  (makeStore: MakeStore, body: (store: LaneStore, source: ScriptedSource, surroundings: Surroundings) => Promise<void>) => async () => {
    const source = new ScriptedSource();
    const clock = { at: NOW };
    const { store, feed, close } = await makeStore(source, () => clock.at);
    try {
      await body(store, source, { source, feed, clock });
    } finally {
      await close();
    }
  };

export async function held(store: LaneStore, request: HoldRequest): Promise<Held> {
  const outcome = await store.hold(request);
  if (!outcome.held) throw new Error(`Refused by ${'lane' in outcome ? outcome.lane.id : outcome.refusedBy.id}`);
  return outcome;
}

export async function refused(store: LaneStore, request: HoldRequest): Promise<Refused> {
  const outcome = await store.hold(request);
  if (outcome.held || !('lane' in outcome)) throw new Error(`${request.holdId} was not refused by a money lane`);
  return outcome;
}

export async function counters(store: LaneStore, lane: Pick<MoneyLane, 'id'>) {
  const state = (await store.inspect([lane.id])).get(lane.id);
  if (!state) throw new Error(`Nothing is known of ${lane.id}`);
  return state;
}
