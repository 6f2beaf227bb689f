import { isFields } from './fields.ts';

/** The same usage, every count of it so many times: what a provider says and bills that counts wrong. */
export function inflated<T>(usage: T, { usageTimes = 1 }: { readonly usageTimes?: number }): T {
  if (usageTimes === 1) return usage;
  const times = (value: unknown): unknown => {
    if (typeof value === 'number') return value * usageTimes;
    return isFields(value) ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, times(one)])) : value;
  };
  return times(usage) as T;
}
