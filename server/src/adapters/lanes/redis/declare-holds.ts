import { randomUUID } from 'node:crypto';
import { drawOnHold } from '../lane-arithmetic.ts';
import type { JournalEntry } from '../port.ts';
import { ADOPT, CHECK, DECLARE, LEFT } from './epoch-scripts.ts';
import { type LaneLoader, MOST_LOADS } from './lane-loader.ts';
import { type OwnHold, type OwnHolds, ownEntry } from './own-holds.ts';
import type { PartitionScripts } from './partition-scripts.ts';
import { ALL_PARTITIONS, partitionKey } from './partitions.ts';
import { type RedisConnection, runScript } from './run-script.ts';
import { readInFlight, readUnits, readWrittenReserve, writtenInFlight, writtenRequest, writtenReserve } from './wire.ts';

/** Which of these the ledger does not have. */
export type UnwrittenAmong = (entries: readonly JournalEntry[]) => Promise<readonly JournalEntry[]>;

interface Under {
  readonly scripts: PartitionScripts;
  readonly loader: LaneLoader;
  readonly epoch: string;
  readonly unwrittenAmong: UnwrittenAmong;
}

/** Which of the holds that many draw from are still needed: others may have ended what they were taken for. */
export type NeededAmong = (holdIds: readonly string[]) => Promise<ReadonlySet<string>>;

export interface Declaring extends Under {
  readonly gateway: string;
  readonly neededAmong: NeededAmong;
}

/** A hold as the script takes it. */
interface WrittenHold {
  readonly holdId: string;
  readonly partition: number;
  /** Nothing: it is in doubt. */
  readonly owner: string;
  /** Whose it was, where it is in doubt. */
  readonly former: string;
  readonly request: string;
  readonly left: { readonly amount: string; readonly charge: string; readonly covered: string };
  readonly tokens: string;
  /** What settles it should its process die. */
  readonly inFlight: string;
  /** As it was before any part was settled, JSON. */
  readonly whole: string;
}

/**
 * Puts the holds of this process on the lanes, or fails where the partitions are not of that epoch any more. What was not begun is given up: it may
 * have been freed, and its room given away, and no provider was asked. What the ledger has a settlement of is settled, though the answer was lost.
 */
export async function declareOwn(own: OwnHolds, { gateway, neededAmong, ...under }: Declaring): Promise<void> {
  const kept = [...own].flatMap(([holdId, { request }]) => (request.keptUntil === undefined ? [] : [holdId]));
  const needed = kept.length > 0 ? await neededAmong(kept) : new Set();
  const declared: WrittenHold[] = [];
  for (const [holdId, hold] of [...own]) {
    if (!hold.inFlight && !needed.has(holdId)) own.forget(holdId);
    else if (!hold.uncopied && !hold.isLate) declared.push(writtenOwn(holdId, hold, gateway));
  }
  await declareUnsettled(declared, under);
}

/**
 * Others have opened that epoch without this process, and used its lanes. What they have found of its holds it takes back; what is in flight
 * besides is on no lane, and settled late. Fails where the partitions are not of that epoch any more.
 */
export async function missEpoch(own: OwnHolds, { gateway, scripts, epoch, unwrittenAmong }: Omit<Declaring, 'loader' | 'neededAmong'>) {
  await Promise.all(ALL_PARTITIONS.map((partition) => scripts.run(CHECK, partition, [], epoch)));
  const missing = new Map<JournalEntry, OwnHold>();
  for (const [holdId, hold] of [...own]) {
    const { inFlight, isBegun, uncopied, isLate, partition } = hold;
    if (!inFlight) own.forget(holdId);
    else if (!uncopied && !isLate && (await scripts.run(ADOPT, partition, [gateway, holdId], epoch)) === 0) {
      // Where nobody was asked yet, nobody will be.
      if (isBegun) missing.set(ownEntry(hold, inFlight), hold);
      else own.forget(holdId);
    }
  }
  const unsettled = new Set(await unwrittenAmong([...missing.keys()]));
  for (const [entry, hold] of missing) {
    if (unsettled.has(entry)) hold.isLate = true;
    else own.forget(hold.request.holdId);
  }
}

const writtenOwn = (holdId: string, { partition, request, reserve, left, tokens, inFlight }: OwnHold, owner: string): WrittenHold => ({
  holdId,
  partition,
  owner,
  former: '',
  request: writtenRequest(request),
  left: writtenReserve(left ?? reserve),
  tokens: `${tokens}`,
  inFlight: inFlight ? writtenInFlight(inFlight) : '',
  whole: left ? JSON.stringify(writtenReserve(reserve)) : '',
});

interface Salvage extends Under {
  readonly redis: RedisConnection;
  readonly prefix: string;
  readonly older: readonly string[];
  /** Gateways that have said which holds they have. */
  readonly living: ReadonlySet<string>;
}

/** Holds of gateways that do not live, as far as Redis still has them: they stay counted, in doubt. */
export async function salvageHolds({ redis, prefix, older, living, ...under }: Salvage): Promise<void> {
  for (const epoch of older) {
    const found = await Promise.all(
      ALL_PARTITIONS.map(async (partition) => {
        const left = (await runScript(redis, LEFT, partitionKey(prefix, partition), [epoch])) as [string, string[]][];
        return left.flatMap(([holdId, fields]) => writtenLeft(holdId, partition, fieldsOf(fields)) ?? []);
      }),
    );
    const orphans = found.flat().filter(({ owner }) => !living.has(owner));
    await declareUnsettled(
      orphans.map((hold) => ({ ...hold, owner: '', former: hold.owner || hold.former })),
      under,
    );
  }
}

/** Undefined where the hold ends with its process. */
function writtenLeft(holdId: string, partition: number, fields: Record<string, string>): WrittenHold | undefined {
  const { request = '', amount = '0', charge = '0', covered = '{}', tokens = '0', inFlight = '', owner = '', former = '' } = fields;
  const { wholeAmount, wholeCharge, wholeCovered } = fields;
  if (inFlight === '' && (JSON.parse(request) as { keptUntil?: number }).keptUntil === undefined) return undefined;
  const whole = wholeAmount === undefined ? '' : JSON.stringify({ amount: wholeAmount, charge: wholeCharge, covered: wholeCovered });
  return { holdId, partition, owner, former, request, left: { amount, charge, covered }, tokens, inFlight, whole };
}

async function declareUnsettled(holds: readonly WrittenHold[], under: Under): Promise<void> {
  const entries = new Map<JournalEntry, WrittenHold>();
  for (const hold of holds) if (hold.inFlight !== '') entries.set(bookedBy(hold), hold);
  const unsettled = new Set(entries.size === 0 ? [] : await under.unwrittenAmong([...entries.keys()]));
  const settled = new Set([...entries].flatMap(([entry, hold]) => (unsettled.has(entry) ? [] : [hold])));
  await Promise.all(holds.filter((hold) => !settled.has(hold)).map((hold) => declare(hold, under)));
}

/** What the ledger would have of it, had it been settled at its bound. */
function bookedBy({ left, inFlight }: WrittenHold): JournalEntry {
  const [cost, units, record] = readInFlight(inFlight);
  return { ...drawOnHold(readWrittenReserve(left), { cost: BigInt(cost), units: readUnits(units) }), record };
}

async function declare(
  { partition, owner, former, request, left, tokens, inFlight, whole }: WrittenHold,
  { scripts, loader, epoch }: Under,
) {
  const { quota } = JSON.parse(request) as { quota?: { id: string } };
  const args = [owner, request, left.amount, left.charge, left.covered, tokens, inFlight, whole, former];
  for (let loads = 0; loads < MOST_LOADS; loads += 1) {
    const answer = (await scripts.run(DECLARE, partition, [...args, randomUUID()], epoch)) as
      | ['known' | 'declared']
      | ['missing', string, string[]];
    if (answer[0] !== 'missing') return;
    await loader.load(answer[2], quota?.id, { partition, stamp: answer[1], isForUse: true, epoch });
  }
  throw new Error('The lanes of a hold are forgotten faster than they can be loaded');
}

function fieldsOf(list: readonly string[]): Record<string, string> {
  const fields: Record<string, string> = {};
  for (let index = 0; index + 1 < list.length; index += 2) fields[list[index] ?? ''] = list[index + 1] ?? '';
  return fields;
}
