import type { ReceiptListItem, Tallygate } from '@tallygate/sdk';
import type { CommandWorld } from '../command.ts';
import { trustedKeys } from '../receipts/trusted-keys.ts';
import type { Look } from './look.ts';

/** What became of looking for the account's receipts. */
interface OwnReceipts {
  /** How many of those with a place among the new entries verify there. */
  readonly found: number;
  readonly fault?: { readonly code: 'receipt_not_in_log' | 'receipt_not_logged'; readonly message: string };
}

interface NewEntries {
  /** How many entries were looked at before. */
  readonly after: number;
  readonly to: Look['to'];
}

/** Receipts follow their answer into the log by seconds. */
const MOST_PENDING_MS = 300_000;
const PAGE = 100;
const MODES = [true, false];

/**
 * Checks that the account's receipts are in the log: those that the service lists among the new entries verify against a state of one history with
 * the one that was looked at, and none waits for longer than it may.
 *
 * @throws LogForkError where a receipt is proven against a state that contradicts the log's
 */
export async function lookForReceipts(world: CommandWorld, { after, to }: NewEntries): Promise<OwnReceipts> {
  const client = await world.connect();
  const keys = await trustedKeys(world, undefined);
  let found = 0;
  for (const livemode of MODES) {
    for await (const item of client.receipts.list({ livemode, logged_after: after - 1, limit: PAGE }, { signal: world.signal })) {
      if (item.log_index === null || item.log_index >= to.size) break;
      const reason = await notThere(world, client, item, keys);
      if (reason !== undefined) return { found, fault: { code: 'receipt_not_in_log', message: `${item.id}: ${reason}` } };
      found += 1;
    }
    const late = await waiting(world, client, livemode);
    if (late) {
      const message = `${late.id} was completed at ${late.completed_at}, and is not in the log.`;
      return { found, fault: { code: 'receipt_not_logged', message } };
    }
  }
  return { found };
}

/** Why the receipt is not where the list says; undefined if it is. */
async function notThere(world: CommandWorld, client: Tallygate, item: ReceiptListItem, keys: unknown): Promise<string | undefined> {
  const { verifyReceipt } = await import('@tallygate/receipts');
  const found = verifyReceipt(await client.receipts.get(item.id, { signal: world.signal }), keys, { requireLog: true });
  if (!found.valid) return found.reason;
  if (found.payload.receipt_id !== item.id) return `the service answers with the receipt ${found.payload.receipt_id}.`;
  if (found.logged?.index !== item.log_index) return `it is entry ${found.logged?.index} of the log, listed as ${item.log_index}.`;
  await client.receipts.remember(found.logged.checkpoint, { signal: world.signal });
  return undefined;
}

/** One of the newest that has had no place for longer than it may. */
async function waiting(world: CommandWorld, client: Tallygate, livemode: boolean): Promise<ReceiptListItem | undefined> {
  const { data } = await client.receipts.list({ livemode, limit: PAGE }, { signal: world.signal });
  const latest = world.now().getTime() - MOST_PENDING_MS;
  return data.find(({ log_index: index, completed_at: completedAt }) => index === null && Date.parse(completedAt) < latest);
}
