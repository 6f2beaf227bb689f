import type { CommandWorld } from '../command.ts';
import { keySetPath } from '../credentials.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { readText } from '../given-file.ts';

const FETCH = 'Fetch the public keys with `tallygate receipts keys`, or name a copy with --keys.';

/** The trusted public keys: those of the file that the command line names, or those stored at login. */
export async function trustedKeys(world: CommandWorld, named: string | undefined): Promise<unknown> {
  const path = named ?? keySetPath(world, world.profile);
  const text = named === undefined ? await world.readFile(path) : await readText(world, named, FETCH);
  if (text === undefined) throw new Failure('no_keys', 'No public keys of the gateway are stored here.', EXIT.failure, FETCH);
  try {
    return JSON.parse(text);
  } catch {
    throw new Failure('keys_unreadable', `${path} is not valid JSON.`, EXIT.failure, 'Fetch the keys with `tallygate receipts keys`.');
  }
}
