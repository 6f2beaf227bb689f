import { join } from 'node:path';
import type { Checkpoint, WitnessPolicy } from '@tallygate/receipts';
import type { CommandWorld } from '../command.ts';
import { keySetPath } from '../credentials.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { isOfOneHistory } from './history.ts';
import { demandedWitnesses, type WitnessOptions, witnessTrust } from './witnesses.ts';

/** A checkpoint of the log, with the note that the log signed. */
export interface SignedCheckpoint extends Checkpoint {
  readonly note: string;
  /** Names of the keys that have signed, witnesses included. */
  readonly signers: readonly string[];
}

/** The state that the last audit of this profile ended with. */
export const logStatePath = ({ env, profile }: CommandWorld): string => join(env.configDirectory, `${profile}.log-checkpoint`);

/** The newest state of the log, signed by a stored key, or by a published one if none are stored. */
export async function fetchCheckpoint(world: CommandWorld, options: WitnessOptions): Promise<SignedCheckpoint> {
  const client = await world.connect('none');
  const witnesses = await demandedWitnesses(world, options);
  // The very newest state is of this second, and the cosignatures follow it by some.
  const asked = { signal: world.signal, ...(witnesses && { witnesses: witnesses.quorum }) };
  const note = await (await client.receipts.checkpoint(asked)).text();
  const kept = await world.readFile(keySetPath(world, world.profile));
  if (kept === undefined)
    world.err.write('No keys are stored: the keys that the gateway publishes now are trusted. `tallygate receipts keys` stores them.\n');
  const keys: unknown = kept === undefined ? await client.receipts.keys({ signal: world.signal }) : JSON.parse(kept);
  const checked = await checkedCheckpoint(note, keys, witnesses);
  if (await isOfOneHistory(world, { checkpoint: note })) return checked;
  throw new Failure('log_not_compared', 'The log does not serve its tiles at the moment.', EXIT.receiptNotChecked, 'Try again later.');
}

/** @throws Failure for a note that no known key of the log has signed */
async function checkedCheckpoint(note: string, keys: unknown, witnesses: WitnessPolicy | undefined): Promise<SignedCheckpoint> {
  const { verifyCheckpoint } = await import('@tallygate/receipts');
  const found = verifyCheckpoint(note, keys, witnessTrust(witnesses));
  if (found.valid) return { ...found.checkpoint, note, signers: found.signers };
  const nextStep =
    found.code === 'unknown_log_key' ? 'If the log’s key has changed, `tallygate receipts keys` fetches the new one.' : undefined;
  throw new Failure('checkpoint_not_valid', `The checkpoint is not valid: ${found.reason}`, EXIT.receiptNotValid, nextStep);
}
