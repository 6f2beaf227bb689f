import type { Pool } from 'pg';
import { systemClock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import { Declaring, type KeptState, KeyOfTwoPurposes, LogPlacing, nameLog, type OwnKeys, publishOwnKeys } from '../receipts/index.ts';
import { ConfigError } from './config.ts';
import type { Foundation } from './foundation.ts';
import { keptLogState } from './kept-log-state.ts';
import { receiptKeysOf } from './receipt-keys.ts';
import { witnessPolicyOf } from './witness-policy.ts';
import type { AuthorityLink } from './workers/authority-link.ts';

/** The log of receipts, as this gateway writes in it. */
export interface OwnLog {
  /** Gives receipts their places as the ledger writes them. */
  readonly placing: LogPlacing;
  /** Sign the receipts and the states of their log. */
  readonly ownKeys: OwnKeys;
  readonly kept: KeptState;
  /** Nothing is charged, and no key signs, before it is in the log. */
  readonly declaring: Declaring;
}

const STATE_FILE = 'receipt-log.note';

/**
 * Keys that are published and declared.
 * @throws ConfigError where a key has two purposes
 */
export async function openReceiptLog({ config, dataDir, pool, clock, log, closing, authority }: Foundation): Promise<OwnLog> {
  const ownKeys = receiptKeysOf(config, dataDir);
  await nameLog(pool, config.publicUrl);
  await publishOwnKeys(pool, ownKeys, clock.now()).catch((error: unknown) => {
    throw error instanceof KeyOfTwoPurposes ? new ConfigError([error.message]) : error;
  });
  const kept = authority ? keptByAuthority(authority) : keptLogState(dataDir.file(STATE_FILE));
  const declaring = new Declaring({ pool, own: ownKeys, kept, clock, log });
  await declaring.ownKeysAnd({
    witness_policy: witnessPolicyOf(config),
    anchors: config.anchorChains.map(({ chainId, contract }) => ({ chain_id: chainId, contract: contract.toLowerCase() })),
  });
  const placing = new LogPlacing({ pool, keys: ownKeys.checkpoint, kept, clock, log });
  closing.add('newest state of the log', () => placing.close());
  return { ownKeys, kept, declaring, placing };
}

/** One process writes the file. */
const keptByAuthority = ({ calls }: AuthorityLink): KeptState => ({
  read: () => calls.call('readLogState'),
  keep: (note) => calls.call('keepLogState', note),
});

/** The same beside a gateway that may be running: on the server, with its keys. */
export const declaringBeside = (pool: Pool, { ownKeys, file, log }: BesideDeps): Declaring =>
  new Declaring({ pool, own: ownKeys, kept: keptLogState(file(STATE_FILE)), clock: systemClock, log });

interface BesideDeps {
  readonly ownKeys: OwnKeys;
  /** In the gateway's data directory. */
  readonly file: (name: string) => string;
  readonly log: Log;
}
