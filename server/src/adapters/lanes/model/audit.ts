import { BOUND, CAP, type State, totalOf } from './state.ts';

const ENDED = ['answered', 'refused', 'withheld', 'cut', 'stopped'];

/** The cap holds at every moment: by the ledger, and by what the providers bill but for the margin of gateways that were taken for dead. */
export function overspent({ requests, ledger, granted }: State): string | undefined {
  const margin = BOUND * granted.filter(Boolean).length;
  const [billed, charged] = [totalOf(requests.map(({ bill }) => bill)), totalOf(ledger)];
  if (billed > CAP + margin) return `providers bill ${billed} where ${CAP + margin} may be spent`;
  return charged > CAP ? `the ledger has ${charged} where ${CAP} may be spent` : undefined;
}

/** In the end each bill is charged once, an answer at what it said, and nothing is held. */
export function unsettled({ requests, ledger, waived, redis }: State): string | undefined {
  for (const [index, { phase, bill }] of requests.entries()) {
    const charged = (ledger[index] ?? 0) + (waived[index] ?? 0);
    if (!ENDED.includes(phase)) return `a request stays ${phase}`;
    if (bill > charged) return `a call is billed ${bill}, and settled at ${charged}`;
    if (phase === 'stopped' && charged > 0) return `a call that nobody was asked for is settled at ${charged}`;
    if (phase === 'answered' && charged !== bill) return `an answer costs ${bill}, and is settled at ${charged}`;
  }
  if (redis.holds.some((hold) => hold !== null)) return 'a hold is left';
  const inLedger = totalOf(ledger);
  return redis.spent === null || redis.spent === inLedger ? undefined : `the lane has ${redis.spent}, and the ledger ${inLedger}`;
}
