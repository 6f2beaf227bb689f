import type { NameTexts } from './packed-column.ts';
import { type Columns, DIMENSIONS, type Dimension, recordOf, SEGMENT_SUMS, type SegmentSum } from './segment.ts';

/** Above it a number of JavaScript is no longer exact. Rows that would come to more stay apart. */
export const MOST_EXACT = 2 ** 52;
const FREE = -1;
const FIRST_SLOTS = 64;

/** What a row is told apart by. */
export interface RowKey {
  readonly quarter: number;
  readonly names: Readonly<Record<Dimension, string>>;
}

/** Adds up rows of the same key, one by one. */
export class SegmentBuilder {
  readonly #quarters: number[] = [];
  readonly #codes = DIMENSIONS.map((): number[] => []);
  readonly #sums = SEGMENT_SUMS.map((): number[] => []);
  readonly #lists = DIMENSIONS.map(() => new Map<string, number>());
  /** Rows by their keys: the place of each, or {@link FREE}. */
  #slots = new Int32Array(FIRST_SLOTS).fill(FREE);

  get rows(): number {
    return this.#quarters.length;
  }

  addRow({ quarter, names }: RowKey, sums: Readonly<Record<SegmentSum, number>>): void {
    const codes = DIMENSIONS.map((name, at) => codeOf(this.#lists[at], names[name]));
    this.#add(
      quarter,
      codes,
      SEGMENT_SUMS.map((name) => sums[name]),
    );
  }

  /** The rows that come to anything: of a request whose money was given back nothing is left. */
  columns(): Columns {
    const kept = this.#quarters.flatMap((_, row) => (this.#sums.some((sums) => sums[row] !== 0) ? row : []));
    const codesOf = (at: number) => Uint32Array.from(kept, (row) => this.#codes[at]?.[row] ?? 0);
    return {
      quarters: Float64Array.from(kept, (row) => this.#quarters[row] ?? 0),
      codes: recordOf(DIMENSIONS, (name) => codesOf(DIMENSIONS.indexOf(name))),
      lists: recordOf(DIMENSIONS, (name) => textsOf([...(this.#lists[DIMENSIONS.indexOf(name)]?.keys() ?? [])])),
      sums: recordOf(SEGMENT_SUMS, (name) => Float64Array.from(kept, (row) => this.#sums[SEGMENT_SUMS.indexOf(name)]?.[row] ?? 0)),
    };
  }

  #add(quarter: number, codes: readonly number[], sums: readonly number[]): void {
    let slot = this.#slotOf(quarter, codes);
    for (let row = this.#slots[slot] ?? FREE; row !== FREE; row = this.#slots[slot] ?? FREE) {
      if (this.#isSame(row, quarter, codes) && this.#sums.every((column, at) => isExact((column[row] ?? 0) + (sums[at] ?? 0)))) {
        for (const [at, column] of this.#sums.entries()) column[row] = (column[row] ?? 0) + (sums[at] ?? 0);
        return;
      }
      slot = (slot + 1) % this.#slots.length;
    }
    this.#slots[slot] = this.rows;
    this.#quarters.push(quarter);
    for (const [at, column] of this.#codes.entries()) column.push(codes[at] ?? 0);
    for (const [at, column] of this.#sums.entries()) column.push(sums[at] ?? 0);
    if (this.rows * 2 > this.#slots.length) this.#grow();
  }

  #isSame(row: number, quarter: number, codes: readonly number[]): boolean {
    if (this.#quarters[row] !== quarter) return false;
    for (let at = 0; at < codes.length; at += 1) if (this.#codes[at]?.[row] !== codes[at]) return false;
    return true;
  }

  #slotOf(quarter: number, codes: readonly number[]): number {
    let hash = quarter;
    for (const code of codes) hash = Math.imul(hash ^ code, 0x9e3779b1) ^ (hash >>> 15);
    return (hash >>> 0) % this.#slots.length;
  }

  #grow(): void {
    this.#slots = new Int32Array(this.#slots.length * 2).fill(FREE);
    for (let row = 0; row < this.rows; row += 1) {
      let slot = this.#slotOf(
        this.#quarters[row] ?? 0,
        this.#codes.map((column) => column[row] ?? 0),
      );
      while (this.#slots[slot] !== FREE) slot = (slot + 1) % this.#slots.length;
      this.#slots[slot] = row;
    }
  }
}

export const isExact = (sum: number): boolean => Math.abs(sum) <= MOST_EXACT;

function codeOf(list: Map<string, number> | undefined, name: string): number {
  const known = list?.get(name);
  if (known !== undefined) return known;
  const code = list?.size ?? 0;
  list?.set(name, code);
  return code;
}

function textsOf(names: readonly string[]): NameTexts {
  const bytes = names.map((name) => Buffer.from(name));
  const offsets = new Uint32Array(names.length + 1);
  for (const [at, { length }] of bytes.entries()) offsets[at + 1] = (offsets[at] ?? 0) + length;
  return { count: names.length, offsets, bytes: Buffer.concat(bytes) };
}
