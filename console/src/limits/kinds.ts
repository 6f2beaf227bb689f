import type { SetLimitRequest } from '@tallygate/sdk';

export const KINDS = [
  ['account', 'The account'],
  ['project', 'Project'],
  ['member', 'Member'],
  ['key', 'API key'],
  ['run', 'Agent run'],
  ['end_user', 'End user'],
  ['tag', 'Tag'],
  ['model', 'Model'],
] as const satisfies readonly (readonly [SetLimitRequest['kind'], string])[];

export const PERIODS = [
  ['hour', 'an hour'],
  ['day', 'a day'],
  ['week', 'a week'],
  ['month', 'a month'],
  ['lifetime', 'for ever'],
] as const satisfies readonly (readonly [SetLimitRequest['period'], string])[];

export const kindName = (kind: string): string => KINDS.find(([name]) => name === kind)?.[1] ?? kind;
export const periodName = (period: string): string => PERIODS.find(([name]) => name === period)?.[1] ?? period;
