import type { Command } from 'commander';
import type { CommandWorld, Perform, Typed } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { plainText } from '../print.ts';
import { logStatePath } from './kept-state.ts';
import { FINDINGS, lookAtLog, witnessesOf } from './look.ts';
import { type WitnessOptions, withWitnesses } from './witnesses.ts';

interface Options extends WitnessOptions {
  readonly full?: boolean;
  readonly entries?: boolean;
}

export const logAudit = (log: Command, perform: Perform): Command =>
  withWitnesses(
    log
      .command('audit')
      .description('Recompute the log’s root from its public hashes, and prove that it is append-only since the last audit; needs no login')
      .option('--full', 'from the first entry, not from the stored state of the last audit')
      .option('--entries', 'also compare the entries with the hashes')
      .addHelpText(
        'after',
        '\nExits with 0 when all is in order, with 3 when the log is not what it signed, with 7 when it contradicts a stored state.',
      ),
  ).action(perform(audit));

async function audit(world: CommandWorld, { options }: Typed<Options>): Promise<ExitCode> {
  world.finishUnread();
  const path = logStatePath(world);
  const { to, from, found, tilesRead } = await lookAtLog(world, options);
  if (found === 'other_log') {
    world.out.write(`not in order: this is the log ${to.origin}, the one that was kept is ${from?.origin}.\n`);
    world.err.write(`If that is another gateway's, use another --profile, or remove ${path}.\n`);
    return EXIT.receiptNotValid;
  }
  if (found !== 'ok') {
    world.out.write(`not in order: ${FINDINGS[found]}\n`);
    if (from) world.err.write(`The stored state stays in ${path}: it is the evidence.\n`);
    return EXIT.receiptNotValid;
  }
  const since = from ? `${to.size - from.size} new entries since the last audit` : 'from the first entry on';
  world.out.write(`in order: ${to.size} entries in ${to.origin}, ${since}, ${tilesRead} tiles read.\n`);
  const witnesses = witnessesOf(to);
  if (witnesses.length > 0) world.out.write(plainText(`cosigned by ${witnesses.join(', ')}\n`));
  world.err.write(`Stored the state in ${path}.\n`);
  return EXIT.ok;
}
