import { monthOf } from '../../kernel/clock.ts';
import { laneId } from './lane-ids.ts';
import type { SettlementRecord } from './settlement-record.ts';

type Charged = Pick<
  SettlementRecord,
  'accountId' | 'livemode' | 'runId' | 'ancestorRunIds' | 'keyId' | 'funding' | 'startedAt' | 'limitLanes'
>;

/** The runs that a settled request counts in: its own, then those above it. */
export const runsOf = ({ runId, ancestorRunIds = [] }: Pick<SettlementRecord, 'runId' | 'ancestorRunIds'>): readonly string[] =>
  runId === null ? [] : [runId, ...ancestorRunIds];

/** The lanes that a settled request was held on: the same that admission had given it, in the period in which it started. */
export function lanesOfRecord({ accountId, livemode, runId, ancestorRunIds, keyId, funding, startedAt, limitLanes }: Charged) {
  const month = monthOf(startedAt);
  const fundsOf = {
    test: laneId.testFunds(accountId, month),
    balance: laneId.balance(accountId),
    invoice: laneId.invoice(accountId, month),
    none: null,
  };
  return {
    lanes: [
      ...runsOf({ runId, ancestorRunIds }).map((id) => laneId.run(accountId, livemode, id)),
      ...(keyId === null ? [] : [laneId.key(keyId, month)]),
      ...(limitLanes ?? []),
    ],
    quota: funding === 'test' ? null : laneId.quota(accountId, month),
    funds: fundsOf[funding],
  };
}
