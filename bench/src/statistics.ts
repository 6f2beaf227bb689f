/** The value below which `share` (0 to 1) of the sorted values lie, by nearest rank. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  if (value === undefined) throw new Error('There is nothing to take a quantile of');
  return value;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);
