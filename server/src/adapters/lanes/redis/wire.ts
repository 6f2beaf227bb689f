import { costAt, type Reserve, unitsAt } from '../lane-arithmetic.ts';
import { type MoneyCounts, type QuotaCounts, quotaLeft, refusalOf, type Standing, statesOf } from '../passage.ts';
import {
  type HoldOutcome,
  type HoldRequest,
  type InFlight,
  LARGEST_UNITS,
  type LaneState,
  type MoneyLane,
  type MoneyOnRecord,
  type RateLane,
  type Settled,
  type Units,
} from '../port.ts';
import { type RateLevel, refusalAt, statusAt } from '../rate-lanes.ts';
import { LARGEST_AMOUNT } from './exact-integers.lua.ts';

/**
 * The request as the script reads it, and as the hold keeps it.
 * @throws RangeError where an amount is beyond what the script counts exactly
 */
export function writtenRequest(request: HoldRequest): string {
  const { holdId, at, keptUntil, cost, outputTokens, units, unitsPerOutputToken, lanes, funds, quota, rates, isForDebt } = request;
  requireExact(request);
  return JSON.stringify({
    id: holdId,
    at,
    keptUntil,
    fixed: cost.fixed.toString(),
    perToken: cost.perOutputToken.toString(),
    wanted: outputTokens.wanted,
    least: outputTokens.least,
    units: writtenUnits(units),
    unitsPerToken: unitsPerOutputToken,
    lanes: lanes.map(writtenLane),
    funds: funds ? writtenLane(funds) : undefined,
    quota: quota ? { id: quota.id, caps: writtenAmounts(quota.caps) } : undefined,
    rates: rates
      ? {
          draw: rates.tokens,
          lanes: rates.lanes.map(writtenRateLane),
        }
      : undefined,
    isForDebt,
  });
}

/** Lua's null is no nil: what is not there is left out. */
export const writtenRateLane = ({ id, requestsPerMinute, tokensPerMinute, concurrency }: RateLane) => ({
  id,
  requests: requestsPerMinute ?? undefined,
  tokens: tokensPerMinute ?? undefined,
  concurrency: concurrency ?? undefined,
});

const writtenLane = ({ id, source, cap, capRule }: MoneyLane) => ({
  id,
  source,
  rule: capRule,
  cap: cap === null ? undefined : exactAmount(cap),
});

/** @throws RangeError beyond 64 bits */
export const writtenAmounts = (amounts: Units): Record<string, string> =>
  Object.fromEntries(Object.entries(amounts).map(([meter, amount]) => [meter, exactAmount(amount)]));

/** @throws RangeError beyond what a request can use */
export function writtenUnits(units: Units): Record<string, number> {
  const written: Record<string, number> = {};
  for (const meter in units) {
    const amount = units[meter] ?? 0n;
    if (amount > LARGEST_UNITS) throw new RangeError(`${amount} ${meter} are more than one request can use`);
    if (amount > 0n) written[meter] = Number(amount);
  }
  return written;
}

/** @throws RangeError beyond 64 bits, as the ledger's columns are */
export function exactAmount(amount: bigint): string {
  if (amount > LARGEST_AMOUNT || amount < -LARGEST_AMOUNT) throw new RangeError(`The amount ${amount} is out of range`);
  return amount.toString();
}

function requireExact(request: HoldRequest): void {
  const { wanted, least } = request.outputTokens;
  const { cost } = request;
  if (!Number.isSafeInteger(wanted) || !Number.isSafeInteger(least) || least < 0 || wanted < least)
    throw new RangeError(`${least} to ${wanted} is no range of tokens`);
  if ((unitsAt(request, wanted)['tokens'] ?? 0n) > LARGEST_UNITS)
    throw new RangeError(`${wanted} tokens are more than one request can use`);
  if (cost.fixed < 0n || cost.perOutputToken < 0n) throw new RangeError('A cost is not negative');
  exactAmount(costAt(cost, wanted));
}

/** The answer of the script to a hold, apart from lanes that are missing. Amounts are decimal texts; an empty cap is none. */
export type HoldAnswer =
  | readonly ['known']
  | readonly ['cancelled']
  | readonly ['held', states: readonly string[], levels: readonly string[], tokens: string, charge: string, covered: string]
  | readonly ['refused', states: readonly string[], levels: readonly string[], funds: readonly string[], used: string, held: string]
  | readonly ['too fast', levels: readonly string[]];

/** Judges what the script has counted by the rules that every store shares. */
export function readOutcome(request: HoldRequest, answer: HoldAnswer): HoldOutcome {
  const [kind] = answer;
  switch (kind) {
    case 'known':
      throw new Error(`There is a hold ${request.holdId} already`);
    case 'cancelled':
      throw new Error(`The hold ${request.holdId} was given up before it was taken`);
    case 'too fast': {
      const refusal = request.rates && refusalAt(request.rates, readLevels(answer[1]));
      if (!refusal) throw new Error('The script refuses a rate that is within its limits');
      return refusal;
    }
    case 'held': {
      const [, states, levels, written] = answer;
      const outputTokens = Number(written);
      const amount = costAt(request.cost, outputTokens);
      const taken = { held: true, outputTokens, amount, lanes: statesOf({ request, money: readMoney(states) }) } as const;
      return request.rates ? { ...taken, rates: statusAt(request.rates.lanes, readLevels(levels)) } : taken;
    }
    case 'refused': {
      const [, states, levels, funds, used, held] = answer;
      const quota: QuotaCounts | undefined = request.quota ? { used: readAmounts(used), held: readAmounts(held) } : undefined;
      const standing: Standing = { request, money: readMoney(states), funds: readMoney(funds)[0], quota };
      const left = quotaLeft(standing, unitsAt(request, request.outputTokens.wanted));
      const refusal = refusalOf(standing, request.outputTokens.least, left);
      if (!refusal) throw new Error('The script refuses what fits');
      return {
        ...refusal,
        lanes: statesOf(standing),
        ...(request.rates && { rates: statusAt(request.rates.lanes, readLevels(levels)) }),
      };
    }
    default:
      return kind satisfies never;
  }
}

/** What is held of each lane, where something is. */
export const readReserve = (request: HoldRequest, answer: HoldAnswer): Reserve | undefined =>
  answer[0] === 'held'
    ? { amount: costAt(request.cost, Number(answer[3])), charge: BigInt(answer[4]), covered: readAmounts(answer[5]) }
    : undefined;

/** The answer to a settlement. */
export interface SettleAnswer {
  readonly charged: string;
  readonly debt: string;
  /** JSON: amounts by meter. */
  readonly covered: string;
  readonly waived: string;
  /** Spent, held and cap of each lane, by spaces. */
  readonly states: string;
  /** What is left of a hold that a part was settled out of. */
  readonly left?: WrittenReserve;
}

/** As the scripts write it; the cover is JSON. */
export interface WrittenReserve {
  readonly amount: string;
  readonly charge: string;
  readonly covered: string;
}

export const readWrittenReserve = ({ amount, charge, covered }: WrittenReserve): Reserve => ({
  amount: BigInt(amount),
  charge: BigInt(charge),
  covered: readAmounts(covered),
});

export const writtenReserve = ({ amount, charge, covered }: Reserve): WrittenReserve => ({
  amount: exactAmount(amount),
  charge: exactAmount(charge),
  covered: JSON.stringify(writtenAmounts(covered)),
});

export function readSettled(lanes: readonly Pick<MoneyLane, 'id' | 'source'>[], answer: SettleAnswer): Settled {
  const money = answer.states === '' ? [] : readMoney(answer.states.split(' '));
  const states: LaneState[] = lanes.flatMap(({ id, source }, index) => {
    const counts = money[index];
    return counts ? { id, source, ...counts } : [];
  });
  const waived = answer.waived === '0' ? {} : { waived: BigInt(answer.waived) };
  return { charged: BigInt(answer.charged), debt: BigInt(answer.debt), covered: readAmounts(answer.covered), ...waived, lanes: states };
}

/** Amounts by meter, in decimal texts. */
export function readAmounts(json: string): Record<string, bigint> {
  const written = JSON.parse(json) as Record<string, string>;
  const amounts: Record<string, bigint> = {};
  for (const meter in written) amounts[meter] = BigInt(written[meter] ?? 0);
  return amounts;
}

function readMoney(states: readonly string[]): MoneyCounts[] {
  const money: MoneyCounts[] = [];
  for (let index = 0; index + 2 < states.length; index += 3) money.push(moneyCounts(states[index], states[index + 1], states[index + 2]));
  return money;
}

export const moneyCounts = (spent: string | null = '0', held: string | null = '0', cap: string | null = ''): MoneyCounts => ({
  spent: BigInt(spent ?? 0),
  held: BigInt(held ?? 0),
  cap: cap === '' || cap === null ? null : BigInt(cap),
});

export function readLevels(levels: readonly string[]): RateLevel[] {
  const read: RateLevel[] = [];
  for (let index = 0; index + 2 < levels.length; index += 3) {
    read.push({ requests: Number(levels[index]), tokens: Number(levels[index + 1]), running: Number(levels[index + 2]) });
  }
  return read;
}

/** What settles a hold in flight, as it is kept with the hold. */
export const writtenInFlight = ({ cost, units, record }: InFlight): string =>
  JSON.stringify([exactAmount(cost), JSON.stringify(writtenUnits(units)), record]);

/** Cost, units and record, as the script that settles takes them. */
export function readInFlight(written: string): readonly [cost: string, units: string, record: string] {
  const [cost, units, record] = JSON.parse(written) as [string, string, string];
  return [cost, units, record];
}

/** As {@link readInFlight} has them. */
export const readUnits = (written: string): Units =>
  Object.fromEntries(Object.entries(JSON.parse(written) as Record<string, number>).map(([meter, amount]) => [meter, BigInt(amount)]));

/** A lane as the ledger has it, in the fields that it is kept in. */
export const moneyFields = (id: string, { spent, cap, credits = 0 }: MoneyOnRecord) => ({
  kind: 'money',
  id,
  fields: ['spent', spent.toString(), 'held', '0', 'cap', cap?.toString() ?? '', 'credits', String(credits)],
});

export const quotaFields = (id: string, used: Units) => ({
  kind: 'quota',
  id,
  fields: Object.entries(used).flatMap(([meter, amount]) => [`used:${meter}`, amount.toString()]),
});
