import { setTimeout as delay } from 'node:timers/promises';
import type { JournalEntry, LaneSource } from '../adapters/lanes/port.ts';
import { setToLedger, untoldOf } from '../money/ledger/index.ts';
import type { LaneStores } from './lane-stores.ts';
import type { SetAside } from './quarantine.ts';

export interface ReplayDeps {
  readonly lanes: LaneStores['lanes'];
  readonly source: LaneSource;
  readonly unwrittenAmong: (entries: readonly JournalEntry[]) => Promise<readonly JournalEntry[]>;
  /** Returns once the ledger has all that was settled before. */
  readonly write: () => Promise<void>;
}

const TRIES = 40;
const AGAIN_MS = 250;

/**
 * Books what was set aside, as every settlement that comes late: on the lanes, as far as it fits, the rest waived. The lanes may count it already,
 * or not any more, since they have been loaded anew: so they are set to the ledger first.
 *
 * @returns what is not booked, since it cannot be read, or since its lanes do not come to rest
 */
export async function bookSetAside(
  { lanes, source, unwrittenAmong, write }: ReplayDeps,
  asides: readonly SetAside[],
): Promise<ReadonlySet<SetAside>> {
  await write();
  const unwritten = new Set(await unwrittenAmong(asides.map(({ entry }) => entry)));
  const untold = new Map(
    asides.filter(({ entry }) => unwritten.has(entry)).map((aside) => [aside, untoldOf(aside.entry, aside.id)] as const),
  );
  const unclear = await atRest({ lanes, source }, new Set([...untold.values()].flatMap(lanesOf)));
  const left = new Set<SetAside>();
  for (const [aside, one] of untold) {
    if (one === undefined || lanesOf(one).some((id) => unclear.has(id))) left.add(aside);
    else if ('refund' in one) await lanes.refund(one.refund);
    else await lanes.late.settle(one.settlement);
  }
  await write();
  return left;
}

function lanesOf(untold: ReturnType<typeof untoldOf>): string[] {
  if (untold === undefined) return [];
  const { lanes, funds, quota } = 'refund' in untold ? untold.refund : untold.settlement;
  return [...lanes, funds, quota].filter((id) => id !== null);
}

async function atRest({ lanes, source }: Pick<ReplayDeps, 'lanes' | 'source'>, ids: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  let unclear = await setToLedger(lanes.books, source, ids);
  for (let tries = 1; unclear.size > 0 && tries < TRIES; tries += 1) {
    await delay(AGAIN_MS);
    unclear = await setToLedger(lanes.books, source, unclear);
  }
  return unclear;
}
