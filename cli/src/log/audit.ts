import type { LogGrowth, Tile } from '@tallygate/receipts';
import type { Command } from 'commander';
import type { CommandWorld, Perform, Typed } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { plainText } from '../print.ts';
import { type WitnessOptions, withWitnesses } from './checkpoint.ts';
import { fetchCheckpoint, logStatePath, type SignedCheckpoint } from './kept-state.ts';

interface Options extends WitnessOptions {
  readonly full?: boolean;
}

export const logAudit = (log: Command, perform: Perform): Command =>
  withWitnesses(
    log
      .command('audit')
      .description('Work the log’s root out again from its public hashes, and prove that it only grew since the last audit; needs no login')
      .option('--full', 'from the first entry on, and not from the state that the last audit kept')
      .addHelpText('after', '\nExits with 0 when all is in order, with 3 when the log was rewritten.'),
  ).action(perform(audit));

const FINDINGS: Record<Exclude<LogGrowth, 'ok'>, string> = {
  shrunk: 'The log has fewer entries than it had: it was cut or forked.',
  rewritten: 'The log does not begin with the state that was kept: entries were changed.',
  other_root: 'The log’s entries do not have the root that it signed.',
  tiles_disagree: 'The log’s tiles contradict each other.',
};

async function audit(world: CommandWorld, { options: { witness, full } }: Typed<Options>): Promise<ExitCode> {
  world.finishUnread();
  const path = logStatePath(world);
  const keptNote = await world.readFile(path);
  const to = await fetchCheckpoint(world, witness);
  const from = keptNote === undefined ? undefined : await keptState(keptNote);
  if (from && from.origin !== to.origin) {
    world.out.write(`not in order: this is the log ${to.origin}, the one that was kept is ${from.origin}.\n`);
    world.err.write(`If that is another gateway's, use another --profile, or remove ${path}.\n`);
    return EXIT.receiptNotValid;
  }
  const { auditGrowth, tilePath } = await import('@tallygate/receipts');
  const { createHash } = await import('node:crypto');
  const client = await world.connect('none');
  let tiles = 0;
  const readTile = async (tile: Tile): Promise<Uint8Array> => {
    tiles += 1;
    const response = await client.receipts.tile(tilePath(tile), { signal: world.signal });
    return new Uint8Array(await response.arrayBuffer());
  };
  const hash = (message: Uint8Array): Uint8Array => createHash('sha256').update(message).digest();
  const found = await auditGrowth({ from, to, readTile, hash });
  // A full audit also has to begin with what was kept, which `auditGrowth` has shown for `from` by then.
  const whole = found === 'ok' && full === true && from ? await auditGrowth({ to, readTile, hash }) : found;
  if (whole !== 'ok') {
    world.out.write(`not in order: ${FINDINGS[whole]}\n`);
    if (from) world.err.write(`The state that was kept stays in ${path}: it is the evidence.\n`);
    return EXIT.receiptNotValid;
  }
  await world.writeFile(path, to.note, { isPrivate: true });
  const since = from ? `${to.size - from.size} new entries since the last audit` : 'from the first entry on';
  world.out.write(`in order: ${to.size} entries in ${to.origin}, ${since}, ${tiles} tiles read.\n`);
  if (witness.length > 0) world.out.write(plainText(`${cosigned(to)}\n`));
  world.err.write(`Kept the state in ${path}.\n`);
  return EXIT.ok;
}

/** The log signs under its own name. */
function cosigned({ origin, signers }: SignedCheckpoint): string {
  const witnesses = signers.filter((name) => name !== origin);
  return witnesses.length > 0 ? `cosigned by ${witnesses.join(', ')}` : 'cosigned by none of the witnesses that were named';
}

/** It was checked when it was kept, and nobody else writes there. */
async function keptState(note: string) {
  const { parseCheckpoint, parseNote } = await import('@tallygate/receipts');
  const parsed = parseNote(note);
  return parsed && parseCheckpoint(parsed.text);
}
