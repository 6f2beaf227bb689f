import { Field, given } from '../ui/dialog.tsx';

const DEFAULT = [50, 80, 100] as const;

interface AlertsFieldProps {
  /** Percent of the cap; left out, the usual ones. */
  readonly percents: readonly number[] | undefined;
  readonly hint: string;
}

export const AlertsField = ({ percents = DEFAULT, hint }: AlertsFieldProps) => (
  <Field name="alerts" label="Alerts at, percent" hint={hint} inputMode="numeric" autoComplete="off" defaultValue={percents.join(', ')} />
);

/** In the order in which they are reached. */
export function alertsIn(fields: FormData): number[] {
  const words = (given(fields, 'alerts') ?? '').split(/[\s,%]+/).filter(Boolean);
  return [...new Set(words.map(Number))].sort((a, b) => a - b);
}
