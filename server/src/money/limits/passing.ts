import type { LimitKind } from '@tallygate/contract';
import type { MoneyLane, RateLane } from '../../adapters/lanes/port.ts';
import { laneId } from '../ledger/index.ts';
import { windowAt } from './period.ts';
import type { SpendingRules } from './spending-rules.ts';

/** Whose spending a call is. What it has none of is undefined. */
export interface CallNames {
  readonly accountId: string;
  readonly livemode: boolean;
  readonly project?: string | null | undefined;
  readonly member: string;
  readonly key: string | null;
  /** Its agent run and the runs above it, the nearest first. */
  readonly runs?: readonly string[] | undefined;
  readonly endUser?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly model?: string | undefined;
}

/** The kinds of limits, the widest first: of several that are full, the first one refuses. */
const SPENDING_KINDS: readonly LimitKind[] = ['account', 'project', 'member', 'key', 'run', 'end_user', 'tag', 'model'];

/** The lanes that a call passes through by the limits of its account, at the time at which it came. */
export function limitLanes(rules: SpendingRules, names: CallNames, at: number): MoneyLane[] {
  const { accountId, livemode } = names;
  return passed(rules, names).map(({ kind, subject, limit: { period, cap } }) => {
    const { start, end } = windowAt(period, rules.timeZone, at);
    const id = laneId.limit({ accountId, livemode, period, start, kind, subject });
    return { id, source: kind, cap, capRule: 'given', resetsAt: end };
  });
}

/** Those of them that limit how fast. */
export function limitRates(rules: SpendingRules, names: CallNames): RateLane[] {
  const { accountId, livemode } = names;
  return passed(rules, names).flatMap(({ kind, subject, limit: { period, requestsPerMinute, tokensPerMinute } }) =>
    requestsPerMinute === null && tokensPerMinute === null
      ? []
      : {
          id: `rate:${accountId}:limit:${livemode ? 'live' : 'test'}:${period}:${kind}:${subject}`,
          owner: kind,
          ...{ requestsPerMinute, tokensPerMinute, concurrency: null },
        },
  );
}

function passed(rules: SpendingRules, names: CallNames) {
  return SPENDING_KINDS.flatMap((kind) =>
    subjectsOf(kind, names).flatMap((subject) => rules.of(kind, subject).map((limit) => ({ kind, subject, limit }))),
  );
}

function subjectsOf(kind: LimitKind, names: CallNames): readonly string[] {
  switch (kind) {
    case 'account':
      return [''];
    case 'project':
      return one(names.project);
    case 'member':
      return [names.member];
    case 'key':
      return one(names.key);
    case 'run':
      return names.runs ?? [];
    case 'end_user':
      return one(names.endUser);
    case 'tag':
      return names.tags ?? [];
    case 'model':
      return one(names.model);
    default:
      return kind satisfies never;
  }
}

const one = (subject: string | null | undefined): readonly string[] => (subject == null ? [] : [subject]);
