import type { Units } from '../../adapters/lanes/port.ts';

/** What settles a line, as JSON. */
export interface WrittenSettlement {
  readonly cost: string;
  readonly units: Readonly<Record<string, string>>;
  readonly record: string;
}

export const settlementOf = ({ cost, units, record }: WrittenSettlement) => ({ cost: BigInt(cost), units: readUnits(units), record });

export const writtenUnits = (units: Units): Record<string, string> =>
  Object.fromEntries(Object.entries(units).map(([meter, count]) => [meter, count.toString()]));
export const readUnits = (units: Readonly<Record<string, string>>): Units =>
  Object.fromEntries(Object.entries(units).map(([meter, count]) => [meter, BigInt(count)]));
