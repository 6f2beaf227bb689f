import { InvalidArgumentError } from 'commander';

/** A moment as people write it: a time, or how long from now. */
export type Moment = { readonly at: string } | { readonly inSeconds: number };

/** Parser of an option that is a whole number from 1 on (or from `min` on). */
export const wholeNumber =
  (min = 1) =>
  (text: string): number => {
    const value = Number(text);
    if (!/^\d{1,10}$/.test(text) || value < min) throw new InvalidArgumentError(`Expected a whole number from ${min} on.`);
    return value;
  };

export function usdAmount(text: string): string {
  if (/^\d{1,9}(\.\d{1,9})?$/.test(text)) return text;
  throw new InvalidArgumentError('Expected an amount in USD such as 25 or 0.50.');
}

/** Parser of a day, or of how long ago it was. */
export function dayOrAgo(text: string): Moment {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text) || /^\d{1,7}[smhd]$/.test(text)) return moment(text);
  throw new InvalidArgumentError('Expected a day such as 2026-11-21, or how long ago it was, such as 7d.');
}

const SECONDS_OF_UNIT: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Parser of a duration in seconds: `30s`, `15m`, `1h`, `7d`; a bare number is seconds. */
export function seconds(text: string): number {
  const [, amount, unit = 's'] = /^(\d{1,7})([smhd]?)$/.exec(text) ?? [];
  if (amount === undefined) throw new InvalidArgumentError('Expected a duration such as 30m, 1h or 7d.');
  return Number(amount) * (SECONDS_OF_UNIT[unit || 's'] ?? 1);
}

/** The same, no longer than `most`. */
export const secondsUpTo =
  (most: string) =>
  (text: string): number => {
    const value = seconds(text);
    if (value > seconds(most)) throw new InvalidArgumentError(`Expected ${most} at most.`);
    return value;
  };

/** Parser of a moment: a time, a day (its first instant, UTC), or a duration. */
export function moment(text: string): Moment {
  if (/^\d{1,7}[smhd]$/.test(text)) return { inSeconds: seconds(text) };
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return { at: `${text}T00:00:00Z` };
  if (/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(text)) return { at: text };
  throw new InvalidArgumentError('Expected a time such as 2027-01-01T00:00:00Z, a day, or a duration such as 30d.');
}

/** The moment as the service wants it. `sign`: whether durations count on from now, or back. */
export const timeText = (wanted: Moment, now: Date, sign: 1 | -1 = 1): string =>
  'at' in wanted ? wanted.at : new Date(now.getTime() + sign * wanted.inSeconds * 1000).toISOString();

/** What a word that takes an option's value away is parsed into: of `null` commander makes an empty text. */
export const NONE = Symbol('none');
export type OrNone<T> = T | typeof NONE;

/** Parser of an option that a word takes away: `--expires never`. */
export const orNone =
  <T>(word: string, parse: (text: string, before?: T) => T) =>
  (text: string, before?: OrNone<T>): OrNone<T> =>
    text === word ? NONE : parse(text, before === NONE ? undefined : before);

/** As the service wants it. */
export const nullIfNone = <T>(value: OrNone<T> | undefined): T | null | undefined => (value === NONE ? null : value);

/** Parser of a comma-separated list. */
export const listOf = (text: string): string[] => text.split(',').map((item) => item.trim());

/** The same for a repeatable option. */
export const repeatedList = (text: string, before: readonly string[] = []): string[] => [...before, ...listOf(text)];

/** Parser of a repeatable `name=value`; the word `none` stands for no pairs. */
export function pairs(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  if (text === 'none') return {};
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Expected name=value, or none.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

/** Parser of alert thresholds: `50,80,100`, or `none`. */
export const percents = (text: string): number[] =>
  text === 'none' ? [] : listOf(text).map((item) => wholeNumber()(item.replace(/ ?%$/, '')));
