import type { PriceTerms } from '@tallygate/contract';
import { rfc3339 } from '../../kernel/clock.ts';
import type { GivenPrice } from './entry.ts';
import type { Source } from './model.ts';
import { textOfTerms } from './price.ts';

export interface PriceRow {
  readonly model_id: string;
  readonly version: string;
  readonly source: Source;
  readonly cited: string | null;
  readonly terms: PriceTerms;
  readonly effective_from: Date;
}

/**
 * Later prices take effect after this, milliseconds, so that every gateway knows of them by then and all change at the same moment: a change is
 * told within a second, and where the listening connection is lost, that is noticed within one, and the database asked from then on.
 */
export const LEAD_MS = 2_000;

/** Of `effective_from`, wherever a price is set. */
export const NOT_DATED_BACK = 'is in the past, and no price is dated back: leave it out, and the price starts now';
export const FIRST_STARTS_NOW = 'is not for the first price of a model, which starts now: leave it out';

/** The prices of a model, as they are and will be charged. */
export class PriceTimeline {
  readonly #rows: readonly PriceRow[];
  /** What is set now is charged from here on, and so is what is to be charged before. */
  readonly #from: number;
  readonly #now: number;

  constructor(rows: readonly PriceRow[], now: number) {
    this.#rows = rows;
    this.#now = now;
    this.#from = now + LEAD_MS;
  }

  get isEmpty(): boolean {
    return this.#rows.length === 0;
  }

  get isAdmins(): boolean {
    return this.#rows.some(({ source }) => source === 'admin');
  }

  /** Whether that price is charged now or will be. */
  charges(price: GivenPrice): boolean {
    const rows = this.#announced(price) ? this.#rows.filter((row) => startOf(row) === startOf(price)) : [this.#inForce];
    return rows.some((row) => row !== undefined && isSame(row.terms, price));
  }

  /** Of a price of one's own, as an administrator is told it, too. The date of one that is charged by now may stay where it is written. */
  faultOfMoment(price: GivenPrice): string | undefined {
    if (price.effective_from === undefined) return undefined;
    if (startOf(price) > this.#now) return this.isEmpty ? FIRST_STARTS_NOW : undefined;
    return this.charges(price) ? undefined : NOT_DATED_BACK;
  }

  /** What makes it what a list says: of the prices that have begun the last, those that are announced, and none of those that were. */
  changesTo(given: readonly GivenPrice[]): GivenPrice[] {
    const announced = given.filter((price) => this.#announced(price));
    const current = given.filter((price) => !announced.includes(price)).at(-1) ?? (this.isEmpty ? announced.shift() : undefined);
    const charged = this.#inForce;
    const isNews = current !== undefined && (charged === undefined || !isSame(charged.terms, current));
    const wanted = [current ?? (charged && { ...charged.terms, cited: charged.cited }), ...announced].filter(
      (price) => price !== undefined,
    );
    const withdrawn = this.#rows
      .filter((row) => startOf(row) > this.#from && !announced.some((price) => startOf(price) === startOf(row)))
      .flatMap((row) => {
        const before = wanted.findLast((price) => price.effective_from === undefined || startOf(price) < startOf(row));
        return before ? { ...before, version: undefined, effective_from: rfc3339(startOf(row)) } : [];
      });
    const later = [...announced, ...withdrawn].filter((price) => !this.charges(price));
    return [...(isNews ? [current] : []), ...later];
  }

  #announced(price: GivenPrice): boolean {
    return price.effective_from !== undefined && startOf(price) > this.#from;
  }

  get #inForce(): PriceRow | undefined {
    return this.#rows.findLast((row) => startOf(row) <= this.#from) ?? this.#rows[0];
  }
}

/**
 * What an administrator's price becomes at moments after it: it holds against what lists have announced, and goes on where a moment changed
 * nothing, such as that of a price that was withdrawn. What an administrator has announced stays.
 */
export function carriedOn(price: GivenPrice, from: number, rows: readonly PriceRow[]): GivenPrice[] {
  let charged: PriceTerms | undefined = rows.findLast((row) => startOf(row) <= from)?.terms;
  let current = price;
  return rows
    .filter((row) => startOf(row) > from)
    .flatMap((row) => {
      const isOwnChange = row.source === 'admin' && !(charged && isSame(row.terms, charged));
      charged = row.terms;
      if (isOwnChange) current = { ...row.terms, cited: row.cited };
      const isCarried = !isOwnChange && !isSame(row.terms, current);
      return isCarried ? [{ ...current, version: undefined, effective_from: rfc3339(startOf(row)) }] : [];
    });
}

const startOf = ({ effective_from: from }: { readonly effective_from?: Date | string | undefined }): number =>
  from instanceof Date ? from.getTime() : Date.parse(from ?? '');

const isSame = (one: PriceTerms, other: PriceTerms): boolean => textOfTerms(one) === textOfTerms(other);
