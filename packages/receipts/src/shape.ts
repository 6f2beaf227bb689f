import { isPlainObject, isWellFormed } from './canonical.ts';
import { type RefusalCode, Refused } from './refusal.ts';

/** Where a value stands, for the message, and the code with which it is refused. */
export interface Place {
  readonly path: string;
  readonly code: RefusalCode;
}

/**
 * Reads a value into a T, or refuses it with a message that names the field. What is read is a copy: it has the fields
 * of T and no other, and nothing that is done with it can be changed from outside.
 */
export type Shape<T> = (value: unknown, at: Place) => T;

type Fields<T> = { readonly [Name in keyof T]-?: Shape<T[Name]> };

const refuse = (at: Place, expected: string): never => {
  throw new Refused(at.code, `${at.path} must be ${expected}.`);
};

export const string: Shape<string> = (value, at) =>
  typeof value === 'string' && isWellFormed(value) ? value : refuse(at, 'a string without lone surrogates');

export const boolean: Shape<boolean> = (value, at) => (typeof value === 'boolean' ? value : refuse(at, 'true or false'));

/** A count: beyond 2^53 − 1 a JSON number is not the same in every reader. */
export const count: Shape<number> = (value, at) =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : refuse(at, 'an integer from 0 to 2^53 − 1');

/** A count that is left out when it is zero: a zero would be a second spelling. */
export const moreThanNone: Shape<number> = (value, at) => (count(value, at) > 0 ? count(value, at) : refuse(at, 'absent when it is zero'));

/** A place in a row that begins with 1. */
export const ordinal: Shape<number> = (value, at) =>
  count(value, at) > 0 ? count(value, at) : refuse(at, 'an integer from 1 to 2^53 − 1');

export const matching =
  (pattern: RegExp, expected: string): Shape<string> =>
  (value, at) =>
    typeof value === 'string' && pattern.test(value) ? value : refuse(at, expected);

export const oneOf =
  <const T extends string>(...allowed: readonly T[]): Shape<T> =>
  (value, at) =>
    allowed.find((candidate) => candidate === value) ?? refuse(at, allowed.map((candidate) => `"${candidate}"`).join(' or '));

export const nullable =
  <T>(shape: Shape<T>): Shape<T | null> =>
  (value, at) =>
    value === null ? null : shape(value, at);

const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/** One spelling for every instant, so that times compare as text; 30 February is not one. */
export const timestamp: Shape<string> = (value, at) =>
  typeof value === 'string' && TIMESTAMP.test(value) && isInstant(value)
    ? value
    : refuse(at, 'an RFC 3339 time in UTC with milliseconds, such as 2026-11-21T08:00:00.000Z');

const isInstant = (text: string): boolean => {
  const epochMs = Date.parse(text);
  return !Number.isNaN(epochMs) && new Date(epochMs).toISOString() === text;
};

export const record =
  (name: RegExp, shape: Shape<string>): Shape<Record<string, string>> =>
  (value, at) => {
    if (!isPlainObject(value)) return refuse(at, 'an object');
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => {
        if (!name.test(key)) refuse(at, `an object whose names match ${name.source}`);
        return [key, shape(member, within(at, key))];
      }),
    );
  };

/** Of a list that says nothing of its length: nobody can make the verifier sweat. */
export const LONGEST_LIST = 1_000;

export const listOf =
  <T>(shape: Shape<T>, most: number): Shape<T[]> =>
  (value, at) =>
    Array.isArray(value) && value.length <= most
      ? value.map((item: unknown, index) => shape(item, { ...at, path: `${at.path}[${index}]` }))
      : refuse(at, `a list of at most ${most}`);

/** An object with these fields; others are left unread. */
export const object =
  <T extends object>(fields: Fields<T>): Shape<T> =>
  (value, at) => {
    if (!isPlainObject(value)) return refuse(at, 'an object');
    const read: Partial<T> = {};
    for (const name of namesOf(fields)) {
      // Own members only: a value inherited from a polluted prototype is not part of the text that was signed.
      if (!Object.hasOwn(value, name)) refuse(within(at, name), 'present');
      read[name] = fields[name](value[name], within(at, name));
    }
    return read as T;
  };

/** The members of `required`, all of them, and those of `optional` that are there; no other. */
export const strictObjectWith =
  <R extends object, O extends object>(required: Fields<R>, optional: Fields<O>): Shape<R & Partial<O>> =>
  (value, at) => {
    const there = isPlainObject(value) ? namesOf(optional).filter((name) => Object.hasOwn(value, name)) : [];
    const fields = { ...required, ...Object.fromEntries(there.map((name) => [name, optional[name]])) };
    return strictObject(fields as Fields<R & Partial<O>>)(value, at);
  };

/** An object with these fields and no other: an unknown one could say anything, and a reader might believe it. */
export const strictObject = <T extends object>(fields: Fields<T>): Shape<T> => {
  const shape = object(fields);
  return (value, at) => {
    const read = shape(value, at);
    const unknown = isPlainObject(value) ? Object.keys(value).find((name) => !Object.hasOwn(fields, name)) : undefined;
    if (unknown !== undefined) throw new Refused('unknown_field', `${within(at, unknown).path} is not a field of this version.`);
    return read;
  };
};

const namesOf = <T extends object>(fields: Fields<T>) => Object.keys(fields) as (keyof T & string)[];

const within = (at: Place, name: string): Place => ({ path: `${at.path}.${name}`, code: at.code });
