import type { VerifyOptions, WitnessPolicy } from '@tallygate/receipts';
import type { Command } from 'commander';
import type { CommandWorld } from '../command.ts';
import { keySetPath, witnessPolicyPath } from '../credentials.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { wholeNumber } from '../option-values.ts';
import { plainText } from '../print.ts';

export interface WitnessOptions {
  readonly witness: readonly string[];
  readonly quorum?: number;
  /** False for `--no-witnesses`. */
  readonly witnesses?: boolean;
}

/** What the file has where there were witnesses once, and it was agreed to that there are none any more. */
const NONE = 'none';

/** The required witnesses: those that the command line names, or those of the policy that is stored for the profile. */
export const withWitnesses = (command: Command): Command =>
  command
    .option('--witness <key>', 'verifier key of a required witness; repeatable; default: those stored at login', collect, [])
    .option('--quorum <n>', 'this many of the named witnesses are enough; default: all of them', wholeNumber(0))
    .option('--no-witnesses', 'require no cosignature');

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

/** @throws Failure for more witnesses than are named */
export async function demandedWitnesses(
  world: CommandWorld,
  { witness, quorum, witnesses }: WitnessOptions,
): Promise<WitnessPolicy | undefined> {
  if (witnesses === false) return undefined;
  if (witness.length === 0 && quorum === undefined) return keptPolicy(world);
  const demanded = quorum ?? witness.length;
  if (demanded <= witness.length) return { keys: witness, quorum: demanded };
  throw new Failure('usage', `${demanded} witnesses are required, ${witness.length} are named.`, EXIT.usage, 'Name each with --witness.');
}

/** The same as `@tallygate/receipts` takes it. */
export const witnessTrust = (witnesses: WitnessPolicy | undefined): Pick<VerifyOptions, 'witnesses'> => (witnesses ? { witnesses } : {});

/** The stored ones are of another gateway. */
export async function forgetWitnesses(world: CommandWorld): Promise<void> {
  const path = witnessPolicyPath(world, world.profile);
  const kept = (await world.readFile(path))?.trim();
  if (kept === undefined || kept === NONE) return;
  await world.writeFile(path, `${NONE}\n`, { isPrivate: true });
  world.err.write(plainText(`The witnesses stored with them were ${kept}.\n`));
}

async function keptPolicy(world: CommandWorld): Promise<WitnessPolicy | undefined> {
  const path = witnessPolicyPath(world, world.profile);
  const text = await world.readFile(path);
  if (text === undefined || text.trim() === NONE) return undefined;
  const { parseWitnessPolicy } = await import('@tallygate/receipts');
  const policy = parseWitnessPolicy(text);
  if (policy) return policy;
  throw new Failure('witnesses_unreadable', `${path} has no witness policy.`, EXIT.failure, 'It is one line: 2 of KEY KEY KEY.');
}

/**
 * Stores the witnesses that the gateway lists in its agent document. Stored ones are never replaced by ones listed later: a gateway that
 * could name others could do without any. Where nothing can be fetched, nothing changes.
 *
 * @returns whether those that it lists contradict the stored ones
 */
export async function keepWitnesses(world: CommandWorld, { newWitnesses = false } = {}): Promise<boolean> {
  const path = witnessPolicyPath(world, world.profile);
  const kept = (await world.readFile(path))?.trim();
  const client = await world.connect('none');
  const published = await client.discovery.agent({ signal: world.signal, maxRetries: 0 }).then(
    ({ log }) => log.witness_policy,
    () => undefined,
  );
  if (published === undefined) return false;
  const declared = await isDeclared(world, published);
  if (declared !== true) return declared === false;
  if ((published ?? NONE) === (kept ?? NONE)) return false;
  if (kept !== undefined && kept !== NONE && !newWitnesses) {
    world.err.write(
      plainText(
        `The gateway lists other witnesses of its log than those stored in ${path}, which stay: ${published ?? NONE}. \`tallygate receipts keys --new-witnesses\` replaces them.\n`,
      ),
    );
    return true;
  }
  const { parseWitnessPolicy } = await import('@tallygate/receipts');
  if (published !== null && !parseWitnessPolicy(published)) {
    world.err.write('The gateway lists witnesses of its log in an unknown format; they were not stored.\n');
    return false;
  }
  await world.writeFile(path, `${published ?? NONE}\n`, { isPrivate: true });
  world.err.write(plainText(`Receipts must be cosigned from now on by ${published ?? 'no witness'} (${path}).\n`));
  return false;
}

/**
 * Whether the log declares the same: the agent document is one answer to one reader. Undefined where the log could not be asked. Says on stderr
 * why not.
 * @throws LogForkError where the log has shown two pasts
 * @throws DeclarationsContradictedError where the log leaves out a key or policy that it has declared
 */
async function isDeclared(world: CommandWorld, published: string | null): Promise<boolean | undefined> {
  const keys = await world.readFile(keySetPath(world, world.profile));
  if (keys === undefined) return undefined;
  const { DeclarationsContradictedError, LogForkError, WitnessesUndeclaredError } = await import('@tallygate/sdk');
  const { receipts } = await world.connect('none');
  try {
    await receipts.requireDeclared(published, JSON.parse(keys), { signal: world.signal, maxRetries: 0 });
    return true;
  } catch (error) {
    if (error instanceof LogForkError || error instanceof DeclarationsContradictedError) throw error;
    const said = error instanceof Error ? error.message : String(error);
    world.err.write(plainText(`The witnesses of the log were not stored. ${said}\n`));
    return error instanceof WitnessesUndeclaredError ? false : undefined;
  }
}
