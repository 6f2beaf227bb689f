import { isPlain } from './field-kinds.ts';
import type { FieldTable } from './settlement-fields.ts';

type Part<F, Method extends 'write' | 'read' | 'show' | 'sign'> = F extends Record<Method, (value: never) => infer Result> ? Result : never;
type Taken<F, Method extends 'write' | 'read'> = F extends Record<Method, (value: infer Value) => unknown> ? Value : never;
type Together<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void ? All : never;
/** The columns of fields that are spread over several. */
type Spread<Fields, Method extends 'write' | 'read'> = Together<
  {
    [N in keyof Fields]: Fields[N] extends { isSpread: true }
      ? Method extends 'write'
        ? Part<Fields[N], 'write'>
        : Taken<Fields[N], 'read'>
      : never;
  }[keyof Fields]
>;
type Named<F, Place extends 'column' | 'trace' | 'receipt'> = F extends Record<Place, infer Name extends string> ? Name : never;
/** Null where a record leaves the field out and its column says so. */
type OrAbsent<F, Value> = F extends { absent: null } ? Value | null : Value;

/** The fields of a record; those that may be left out are optional. */
export type RecordOf<Fields> = {
  readonly [N in keyof Fields as Fields[N] extends { absent: unknown } ? never : N]: Taken<Fields[N], 'write'>;
} & { readonly [N in keyof Fields as Fields[N] extends { absent: unknown } ? N : never]?: Taken<Fields[N], 'write'> | undefined };

/** A row as it is written. */
export type WrittenRow<Fields> = {
  readonly [N in keyof Fields as Named<Fields[N], 'column'>]: OrAbsent<Fields[N], Part<Fields[N], 'write'>>;
} & Spread<Fields, 'write'>;

/** A row as `pg` reads it. */
export type ReadRow<Fields> = {
  readonly [N in keyof Fields as Named<Fields[N], 'column'>]: OrAbsent<Fields[N], Taken<Fields[N], 'read'>>;
} & Spread<Fields, 'read'>;

export type Shown<Fields> = { readonly [N in keyof Fields as Named<Fields[N], 'trace'>]: OrAbsent<Fields[N], Part<Fields[N], 'show'>> };
export type Signed<Fields> = { readonly [N in keyof Fields as Named<Fields[N], 'receipt'>]: OrAbsent<Fields[N], Part<Fields[N], 'sign'>> };

/** The part of a record that its receipt is made of. */
type InReceipt<Fields> = Pick<
  RecordOf<Fields>,
  { [N in keyof Fields]: Fields[N] extends { receipt: string } ? N : never }[keyof Fields] & keyof RecordOf<Fields>
>;

/** What follows from a table of fields. */
export interface Projections<Fields> {
  /** A record as a row of the ledger. */
  toRow(record: RecordOf<Fields>): WrittenRow<Fields>;
  /** The record that a row was made from; without the fields that the ledger does not keep. */
  ofRow(row: ReadRow<Fields>): RecordOf<Fields>;
  /** What the trace of a request shows of a row. */
  toTrace(row: ReadRow<Fields>): Shown<Fields>;
  /** What a receipt says of a record. */
  toReceipt(record: InReceipt<Fields>): Signed<Fields>;
}

type Anything = Record<string, unknown>;

/** One member of what is made. */
interface Step {
  readonly to: string;
  /** Taken from this member, or from all of them. */
  readonly from: string | undefined;
  readonly absent: unknown;
  readonly convert: ((value: unknown) => unknown) | undefined;
  /** Whether several members are made, or none where the value is null. */
  readonly form: 'one' | 'spread' | 'unless null';
}

export function projectionsOf<Fields extends FieldTable>(fields: Fields): Projections<Fields> {
  const all = Object.entries(fields).map(([name, field]) => ({ ...field, name }));
  const made = {
    toRow: project(all.flatMap(writing)),
    ofRow: project(all.flatMap(reading)),
    toTrace: project(all.flatMap(showing)),
    toReceipt: project(all.flatMap(signing)),
  };
  // The types above say of each field what the steps below do with it.
  return made as unknown as Projections<Fields>;
}

/**
 * Compiled into the function that one would write by hand: the ledger makes a row and a receipt of every settlement, and a loop that sets
 * members by computed names takes twice as long as an object literal. The names are those of the table, never input.
 */
function project(steps: readonly Step[]): (from: Anything) => Anything {
  const members: string[] = [];
  const conditional: string[] = [];
  for (const [index, { to, from, absent, convert, form }] of steps.entries()) {
    const given = from === undefined ? 'from' : `from.${from}`;
    const value = absent === undefined ? given : `(${given} === undefined ? steps[${index}].absent : ${given})`;
    const converted = convert === undefined ? value : `steps[${index}].convert(${value})`;
    const made = absent === null && convert !== undefined ? `(${value} === null ? null : ${converted})` : converted;
    if (form === 'spread') members.push(`...${made}`);
    else if (form === 'one') members.push(`${to}: ${made}`);
    else conditional.push(`if (${given} !== null) result.${to} = ${converted};`);
  }
  const body = `return (from) => { const result = { ${members.join(', ')} }; ${conditional.join(' ')} return result; };`;
  return new Function('steps', body)(steps) as (from: Anything) => Anything;
}

type NamedField = FieldTable[string] & { readonly name: string };

/** Undefined where the value stays as it is. */
const converter = (field: NamedField, method: 'write' | 'read' | 'show' | 'sign'): Step['convert'] =>
  isPlain(field) ? undefined : (field[method] as Step['convert']);

const writing = (field: NamedField): Step[] => {
  const { name, column, absent, isSpread } = field;
  if (column === undefined && !isSpread) return [];
  return [{ to: column ?? name, from: name, absent, convert: converter(field, 'write'), form: isSpread ? 'spread' : 'one' }];
};

const reading = (field: NamedField): Step[] => {
  const { name, column, absent, isSpread } = field;
  if (column === undefined && !isSpread) return [];
  return [{ to: name, from: column, absent, convert: converter(field, 'read'), form: absent === null ? 'unless null' : 'one' }];
};

const showing = (field: NamedField): Step[] => {
  const { column, absent, trace } = field;
  return trace === undefined ? [] : [{ to: trace, from: column, absent, convert: converter(field, 'show'), form: 'one' }];
};

const signing = (field: NamedField): Step[] => {
  const { name, absent, receipt } = field;
  return receipt === undefined ? [] : [{ to: receipt, from: name, absent, convert: converter(field, 'sign'), form: 'one' }];
};
