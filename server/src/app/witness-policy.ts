import { formatWitnessPolicy, toVerifierKey } from '@tallygate/receipts';
import type { Config } from './config.ts';

/** Whose cosignatures verifiers demand: the agent document lists it as the log declares it. */
export function witnessPolicyOf({
  logWitnesses,
  logWitnessQuorum: quorum,
}: Pick<Config, 'logWitnesses' | 'logWitnessQuorum'>): string | null {
  const keys = logWitnesses.map(({ key }) => toVerifierKey(key));
  return keys.length === 0 ? null : formatWitnessPolicy({ keys, quorum });
}
