import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { type FailureReport, reportOf } from '../failure.ts';
import { wholeNumber } from '../option-values.ts';
import { plainText, writeJsonLine } from '../print.ts';
import { lookAtDeclarations } from './declarations.ts';
import { FINDINGS, type Look, lookAtLog, witnessesOf } from './look.ts';
import { lookForReceipts } from './own-receipts.ts';
import { type WitnessOptions, withWitnesses } from './witnesses.ts';

interface Options extends WitnessOptions {
  readonly every: number;
  readonly patience: number;
  readonly once?: true;
  readonly receipts?: true;
  readonly full?: true;
}

/** What one look came to, as `--json` has it. */
interface Line {
  readonly time: string;
  readonly status: 'ok' | 'away' | 'fault';
  /** Of the fault, or of what hinders. */
  readonly code: string | null;
  readonly message: string | null;
  readonly origin: string | null;
  readonly size: number | null;
  /** Hex. */
  readonly root: string | null;
  readonly new_entries: number | null;
  readonly witnesses: readonly string[];
  /** With `--receipts`: how many of the account’s receipts were found in the log by this look. */
  readonly receipts: number | null;
}

const FIELDS: readonly (keyof Line)[] = [
  ...(['time', 'status', 'code', 'message', 'origin', 'size', 'root', 'new_entries', 'witnesses', 'receipts'] as const),
];

export const logWatch = (log: Command, perform: Perform): Command =>
  withJson(
    FIELDS,
    withWitnesses(
      log
        .command('watch')
        .description(
          'Monitor the log: checks that it is append-only, and that its entries match its tree; until Ctrl-C, or once for cron and CI',
        )
        .option('--every <seconds>', 'polling interval', wholeNumber(1), 60)
        .option('--once', 'check once and exit')
        .option('--receipts', 'also check that the account’s own receipts are in the log; needs a login or an API key')
        .option('--full', 'from the first entry, not from the stored state')
        .option('--patience <seconds>', 'give up when the log could not be reached for this long', wholeNumber(0), 900)
        .addHelpText(
          'after',
          `
Stores the newest state; the next run starts there. --json prints a line of JSON for every check.
Exits with 0 when all was in order, with 1 when the log could not be reached, with 3 when it is not what it signed, lacks a receipt or a declaration,
with 7 when it contradicts a stored state: then both states are stored in a file, whose name is printed.`,
        ),
    ),
  ).action(perform(watch));

async function watch(world: CommandWorld, { options }: Typed<Options>): Promise<ExitCode> {
  world.finishUnread();
  const { signal } = world;
  const since = { answered: world.now().getTime() };
  let isFirst = true;
  while (!signal.aborted) {
    const { line, code } = await lookOnce(world, { ...options, isFirst });
    if (signal.aborted) break;
    isFirst &&= line.status === 'away';
    show(world, line);
    if (line.status === 'fault' || options.once) return code;
    const now = world.now().getTime();
    if (line.status === 'ok') since.answered = now;
    else if (now - since.answered >= options.patience * 1000) return code;
    await pause(options.every * 1000, undefined, { signal }).catch(() => {});
  }
  // Ctrl-C is how a monitor ends.
  return EXIT.ok;
}

interface Outcome {
  readonly line: Line;
  readonly code: ExitCode;
}

async function lookOnce(world: CommandWorld, options: Options & { readonly isFirst: boolean }): Promise<Outcome> {
  const time = world.now().toISOString();
  try {
    const look = await lookAtLog(world, { ...options, entries: true });
    if (look.found !== 'ok') return faulty(lineOf(time, look), look.found, FINDINGS[look.found]);
    await lookAtDeclarations(world, { ...look, isFirst: options.isFirst });
    if (!options.receipts) return { line: lineOf(time, look), code: EXIT.ok };
    const own = await lookForReceipts(world, { after: options.full ? 0 : (look.from?.size ?? 0), to: look.to });
    const line = { ...lineOf(time, look), receipts: own.found };
    return own.fault ? faulty(line, own.fault.code, own.fault.message) : { line, code: EXIT.ok };
  } catch (error) {
    return hindered(time, await reportOf(error));
  }
}

/** The log itself was not at fault where it could not be asked. */
function hindered(time: string, { code, message, exit_code, next_step }: FailureReport): Outcome {
  const isFault = exit_code === EXIT.logForked || exit_code === EXIT.receiptNotValid;
  const said = { code, message: next_step === undefined ? message : `${message} ${next_step}` };
  return { line: { ...lineOf(time), status: isFault ? 'fault' : 'away', ...said }, code: exit_code };
}

const faulty = (line: Line, code: string, message: string): Outcome => ({
  line: { ...line, status: 'fault', code, message },
  code: EXIT.receiptNotValid,
});

function lineOf(time: string, look?: Look): Line {
  const empty = { origin: null, size: null, root: null, new_entries: null, witnesses: [] };
  const seen = look && {
    ...{ origin: look.to.origin, size: look.to.size, root: Buffer.from(look.to.root).toString('hex') },
    ...{ new_entries: look.to.size - (look.from?.size ?? 0), witnesses: witnessesOf(look.to) },
  };
  return { time, status: 'ok', code: null, message: null, ...(seen ?? empty), receipts: null };
}

function show(world: CommandWorld, line: Line): void {
  if (world.jsonFields !== undefined) {
    writeJsonLine(world, line, world.jsonFields);
    return;
  }
  const cosigned = line.witnesses.length === 0 ? '' : `, cosigned by ${line.witnesses.join(', ')}`;
  const receipts = line.receipts === null ? '' : `, ${line.receipts} of your receipts found`;
  const text =
    line.status === 'ok'
      ? `in order: ${line.size} entries in ${line.origin}, ${line.new_entries} new${cosigned}${receipts}`
      : `${line.status === 'away' ? 'could not look' : 'not in order'}: ${line.message} (${line.code})`;
  world.out.write(plainText(`${line.time} ${text}\n`));
}
