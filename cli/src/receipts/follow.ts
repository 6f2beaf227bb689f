import { setTimeout as pause } from 'node:timers/promises';
import type { ReceiptListItem, Tallygate } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { reportOf } from '../failure.ts';
import { ReceiptListItemFields } from '../generated/fields.ts';
import { meantKey } from '../keys/meant.ts';
import { noticeCheckpoint } from '../log/history.ts';
import { livemodeOf, type ModeOptions, withMode } from '../mode.ts';
import { wholeNumber } from '../option-values.ts';
import { ifPassing } from '../passing.ts';
import { plainText, writeJsonLine } from '../print.ts';

interface Options extends ModeOptions {
  readonly model?: string;
  readonly key?: string;
  readonly run?: string;
  readonly after?: number;
  readonly every: number;
}

const PAGE = 100;
export const followReceipts = (receipts: Command, perform: Perform): Command =>
  withJson(
    ReceiptListItemFields,
    withMode(
      receipts
        .command('follow')
        .description('Show the account’s requests as they are settled, until Ctrl-C; with --json a line of JSON each')
        .option('-m, --model <id>', 'only those of this model')
        .option('--key <key>', 'only those of this API key: id, prefix or name')
        .option('--run <run-id>', 'only those of this agent run')
        .option('--after <log-index>', 'begin after this entry of the log, as an earlier run named it; default: now', wholeNumber(0))
        .option('--every <seconds>', 'polling interval', wholeNumber(), 1),
    ),
  ).action(perform(follow));

/**
 * Follows the order of the public log and not the clock: a request that began early and ended late is not missed, and after a break the
 * next question begins where the last answer ended, so that nothing is lost and nothing comes twice.
 */
async function follow(world: CommandWorld, { options }: Typed<Options>): Promise<void> {
  const { err, signal } = world;
  const client = await world.connect();
  const keyId = options.key === undefined ? undefined : (await meantKey(world, client, options.key)).keyId;
  const wanted = { model: options.model, key_id: keyId, run_id: options.run, limit: PAGE, ...livemodeOf(options) };
  let after = options.after ?? (await newestEntry(world, client));
  err.write('Listening; Ctrl-C stops.\n');
  let isAway = false;
  try {
    for (;;) {
      const page = await client.receipts.list({ ...wanted, logged_after: after }, { signal }).then((found) => found, ifPassing);
      if (page && isAway) err.write('The gateway is back.\n');
      if (!page && !isAway) err.write('The gateway does not answer; trying again, from the same place.\n');
      isAway = !page;
      for (const receipt of page?.data ?? []) {
        show(world, receipt);
        after = receipt.log_index ?? after;
      }
      if (!page?.has_more) await pause(options.every * 1000, undefined, { signal });
    }
  } finally {
    if (after >= 0) err.write(`Continue with --after ${after}.\n`);
  }
}

/** The last entry of the log as it is now; -1 where there is none. */
async function newestEntry(world: CommandWorld, client: Tallygate): Promise<number> {
  const answer = await client.receipts.checkpoint({ signal: world.signal }).catch(async (error: unknown) => {
    if ((await reportOf(error)).code === 'not_found') return undefined;
    throw error;
  });
  const note = await answer?.text();
  await noticeCheckpoint(world, note);
  // Its second line is the number of entries (c2sp.org/tlog-checkpoint).
  const [, size = '0'] = (note ?? '').split('\n');
  return Number(size) - 1;
}

function show(world: CommandWorld, receipt: ReceiptListItem): void {
  const { out, jsonFields } = world;
  if (jsonFields !== undefined) {
    writeJsonLine(world, receipt, jsonFields);
    return;
  }
  const { completed_at, kind, model, outcome, cost_usd, run_id, id } = receipt;
  const cells = [completed_at, model, kind === 'usage' ? outcome : kind, `${cost_usd} USD`, run_id ?? '-', id];
  const widths = [24, 24, 12, 16, 12, 36];
  out.write(
    out.isTty
      ? `${cells
          .map((cell, at) => plainText(cell).padEnd(widths[at] ?? 0))
          .join('  ')
          .trimEnd()}\n`
      : `${cells.map(plainText).join('\t')}\n`,
  );
}
