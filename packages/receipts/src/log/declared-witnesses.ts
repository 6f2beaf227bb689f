import type { VaasKeySet } from '../receipt.ts';
import { entriesOf, loggedBy } from './logged-declarations.ts';

/** A service lists other witnesses than its log declares, or none are declared there: others may have been shown another list. */
export class WitnessesUndeclaredError extends Error {
  override readonly name = 'WitnessesUndeclaredError';
  readonly code = 'witnesses_undeclared';
}

/**
 * Compares the witnesses that an agent document lists with the newest policy in the log. The document is one answer to one reader, the log is the
 * same for all who compare its states.
 *
 * @param listed `log.witness_policy` of the agent document
 * @param log answers of `GET /v1/log/declarations?kind=policy`, all pages
 * @returns the state of the log that the newest policy is proven against, a signed note: for `rememberCheckpoint`
 * @throws WitnessesUndeclaredError where the log declares others, or does not prove what it declares
 */
export function requireDeclaredWitnesses(listed: string | null, log: readonly unknown[], { keys }: Pick<VaasKeySet, 'keys'>): string {
  const policies = entriesOf(log).filter(({ declaration }) => declaration.kind === 'policy');
  const newest = policies.sort((a, b) => a.index - b.index).at(-1);
  if (newest?.declaration.kind !== 'policy' || !loggedBy(keys)(newest))
    throw new WitnessesUndeclaredError('The log does not prove a policy: which witnesses it has is not known.');
  const { witness_policy: declared } = newest.declaration;
  if (declared === listed) return newest.checkpoint;
  throw new WitnessesUndeclaredError(
    `The agent document lists other witnesses (${listed ?? 'none'}) than entry ${newest.index} of the log declares (${declared ?? 'none'}).`,
  );
}
