import { monthOf } from '../kernel/clock.ts';
import { laneId } from './lane-ids.ts';
import type { SettlementRecord } from './settlement-record.ts';

type Charged = Pick<SettlementRecord, 'accountId' | 'livemode' | 'runId' | 'keyId' | 'funding' | 'startedAt'>;

/** The lanes that a settled request was held on: the same that admission had given it, in the period in which it started. */
export function lanesOfRecord({ accountId, livemode, runId, keyId, funding, startedAt }: Charged) {
  const month = monthOf(startedAt);
  const fundsOf = {
    test: laneId.testFunds(accountId, month),
    balance: laneId.balance(accountId),
    invoice: laneId.invoice(accountId, month),
    none: null,
  };
  return {
    lanes: [...(runId === null ? [] : [laneId.run(accountId, livemode, runId)]), ...(keyId === null ? [] : [laneId.key(keyId, month)])],
    quota: funding === 'test' ? null : laneId.quota(accountId, month),
    funds: fundsOf[funding],
  };
}
