import type { Month } from '../../kernel/clock.ts';

/** Names of the counters. What has a period carries it in its name; what the caller chose comes last. */
export const laneId = {
  run: (accountId: string, livemode: boolean, runId: string) => `run:${accountId}:${livemode ? 'live' : 'test'}:${runId}`,
  key: (keyId: string, month: Month) => `key:${keyId}:${month}`,
  balance: (accountId: string) => `balance:${accountId}`,
  invoice: (accountId: string, month: Month) => `invoice:${accountId}:${month}`,
  testFunds: (accountId: string, month: Month) => `test:${accountId}:${month}`,
  quota: (accountId: string, month: Month) => `quota:${accountId}:${month}`,
  limit: ({ accountId, livemode, period, start, kind, subject }: LimitLane) =>
    `limit:${accountId}:${livemode ? 'live' : 'test'}:${period}@${start === null ? '' : compactTime(start)}:${kind}:${subject}`,
};

/** What a limit is counted on: one of a kind, in one window of its period. */
export interface LimitLane {
  readonly accountId: string;
  readonly livemode: boolean;
  readonly period: string;
  /** When the window begins, epoch milliseconds; null for one without a beginning. */
  readonly start: number | null;
  readonly kind: string;
  readonly subject: string;
}

/** Without colons: `20261124T2300Z`. Windows begin on a minute. */
const compactTime = (at: number): string => new Date(at).toISOString().replaceAll(/[-:]|:?\d\d\.000/g, '');

const WINDOW = /^limit:[^:]+:[^:]+:(?:hour|day|week|month)@(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)Z:/;

/** When the window of a limit's lane begins, epoch milliseconds; undefined for other lanes and for windows without a beginning. */
export function windowStartOf(id: string): number | undefined {
  const [, year, month, day, hour, minute] = WINDOW.exec(id) ?? [];
  return year === undefined ? undefined : Date.parse(`${year}-${month}-${day}T${hour}:${minute}Z`);
}

const OF_LIMIT = /^(\w+)@[^:]*:(\w+):(.*)$/s;

/** What the part of a limit's lane behind account and mode says. @throws on what no such lane has */
export function parseLimit(of: string): Pick<LimitLane, 'period' | 'kind' | 'subject'> {
  const [, period, kind, subject] = OF_LIMIT.exec(of) ?? [];
  if (period === undefined || kind === undefined || subject === undefined) throw new Error(`No limit is counted on "${of}"`);
  return { period, kind, subject };
}

export type LaneName =
  | { readonly kind: 'run'; readonly accountId: string; readonly livemode: boolean; readonly runId: string }
  | { readonly kind: 'key'; readonly keyId: string; readonly month: Month }
  | { readonly kind: 'balance'; readonly accountId: string }
  | { readonly kind: 'invoice' | 'test' | 'quota'; readonly accountId: string; readonly month: Month }
  | { readonly kind: 'limit'; readonly accountId: string; readonly livemode: boolean; readonly of: string };

/** @throws on a name that no lane has */
export function parseLaneId(id: string): LaneName {
  const [kind = '', owner = '', period = '', ...rest] = id.split(':');
  switch (kind) {
    case 'run':
      return { kind, accountId: owner, livemode: period === 'live', runId: rest.join(':') };
    case 'key':
      return { kind, keyId: owner, month: period };
    case 'balance':
      return { kind, accountId: owner };
    case 'invoice':
    case 'test':
    case 'quota':
      return { kind, accountId: owner, month: period };
    case 'limit':
      return { kind, accountId: owner, livemode: period === 'live', of: rest.join(':') };
    default:
      throw new Error(`No lane is named "${id}"`);
  }
}
