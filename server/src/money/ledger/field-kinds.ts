import type { ReceiptUsage } from '@tallygate/contract';
import { rfc3339 } from '../../kernel/clock.ts';
import { arrayText } from '../../kernel/copy-rows.ts';
import { formatUsd, type NanoUsd } from '../../kernel/money.ts';
import { priceSetId } from './price-sets.ts';

/** How the value of a field is written in each place that has it. */
export interface FieldKind<Value, Written, Read, Shown, Signed> {
  /** In a column: as text, or as what JSON can hold. */
  write(value: Value): Written;
  /** From a column, as `pg` reads it. */
  read(column: Read): Value;
  /** In the trace of a request, from a column. */
  show(column: Read): Shown;
  /** In the facts of a receipt. */
  sign(value: Value): Signed;
}

/** The same everywhere. */
export const plain = <T>(): FieldKind<T, T, T, T, T> => PLAIN as FieldKind<T, T, T, T, T>;
const same = (value: unknown): unknown => value;
const PLAIN = { write: same, read: same, show: same, sign: same };

export const isPlain = ({ write }: { readonly write: unknown }): boolean => write === same;

type UnitPrices = Readonly<Record<string, string>>;

/** Unit prices, named by the id of their set. A row has to be read with the prices themselves. */
export const frozenPrices: FieldKind<
  UnitPrices,
  { readonly price_set_id: string; readonly unit_prices: null },
  { readonly unit_prices: UnitPrices | null },
  UnitPrices | null,
  UnitPrices
> = {
  write: (prices) => ({ price_set_id: priceSetId(prices), unit_prices: null }),
  read: ({ unit_prices: prices }) => {
    if (!prices) throw new Error('A settlement was read without its prices');
    return prices;
  },
  show: ({ unit_prices: prices }) => prices,
  sign: (prices) => prices,
};

/** In a column of texts. */
export const texts: FieldKind<readonly string[], string, readonly string[], readonly string[], readonly string[]> = {
  write: arrayText,
  read: (column) => column,
  show: (column) => column,
  sign: (value) => value,
};

/** Epoch milliseconds in the record. */
export const time: FieldKind<number, string, Date, string, string> = {
  write: rfc3339,
  read: (column) => column.getTime(),
  show: rfc3339,
  sign: rfc3339,
};

export const timeOrNull: FieldKind<number | null, string | null, Date | null, string | null, string | null> = {
  write: (value) => (value === null ? null : rfc3339(value)),
  read: (column) => column?.getTime() ?? null,
  show: (column) => column && rfc3339(column),
  sign: (value) => (value === null ? null : rfc3339(value)),
};

/** Nano-USD as a decimal string, which is what a record can hold. */
export const nanoText: FieldKind<string, string, bigint, string, string> = {
  write: (value) => value,
  read: (column) => column.toString(),
  show: formatUsd,
  sign: (value) => value,
};

export const nano: FieldKind<NanoUsd, string, bigint, string, string> = {
  write: (value) => value.toString(),
  read: (column) => column,
  show: formatUsd,
  sign: (value) => value.toString(),
};

/** Whole units by meter. */
export const units: FieldKind<
  Readonly<Record<string, bigint>>,
  Readonly<Record<string, string>>,
  Readonly<Record<string, string>>,
  Readonly<Record<string, string>>,
  Readonly<Record<string, string>>
> = {
  write: written,
  read: (column) => Object.fromEntries(Object.entries(column).map(([meter, amount]) => [meter, BigInt(amount)])),
  show: (column) => column,
  sign: written,
};

function written(amounts: Readonly<Record<string, bigint>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(amounts).map(([meter, amount]) => [meter, amount.toString()]));
}

/** A duration, shown in milliseconds and thousandths of them. */
export const duration: FieldKind<number, number, number, number, number> = {
  write: (value) => value,
  read: (column) => column,
  show: (column) => Math.round(column * 1000) / 1000,
  sign: (value) => value,
};

/** The columns of usage: five counts that every request has, and the others by name, without zeros. */
export interface UsageColumns extends Readonly<Record<Exclude<keyof ReturnType<typeof countsOf>, 'meters'>, bigint>> {
  readonly meters: Readonly<Record<string, number>>;
}

export function countsOf({
  input_tokens,
  cached_input_tokens,
  cache_write_tokens,
  output_tokens,
  reasoning_tokens,
  ...others
}: ReceiptUsage) {
  const meters = Object.fromEntries(Object.entries(others).filter(([, count]) => count));
  return { input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, meters };
}

/** The usage of a row, as receipts have it. */
export const usageOfRow = (row: UsageColumns): ReceiptUsage => ({
  input_tokens: Number(row.input_tokens),
  cached_input_tokens: Number(row.cached_input_tokens),
  cache_write_tokens: Number(row.cache_write_tokens),
  output_tokens: Number(row.output_tokens),
  reasoning_tokens: Number(row.reasoning_tokens),
  ...row.meters,
});

/** The counts that only some requests have are left out when they are zero: a zero would be a second spelling. */
export function withoutZeros(usage: ReceiptUsage): ReceiptUsage {
  const { meters, ...counts } = countsOf(usage);
  return { ...counts, ...meters };
}

export const usage: FieldKind<ReceiptUsage, ReturnType<typeof countsOf>, UsageColumns, ReceiptUsage, ReceiptUsage> = {
  write: countsOf,
  read: usageOfRow,
  show: usageOfRow,
  sign: withoutZeros,
};
