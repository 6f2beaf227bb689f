import { appendFileSync } from 'node:fs';
import type { JournalEntry, LaneSource, SettlementFeed } from '../adapters/lanes/port.ts';
import { SettlementJournal } from '../adapters/lanes/settlement-journal.ts';
import { createSettlementAlerts } from '../budgets/index.ts';
import type { Catalog } from '../catalog/index.ts';
import { Corrections, LedgerWriter, ledgerLaneSource, Refunds, reconcileLanes, startPageThread } from '../ledger/index.ts';
import { newSigningSeed, publishedLogKeys, publishSigningKeys, type SigningKey, signingKeyFromSeed } from '../receipts/index.ts';
import { keptSecret } from './bootstrap.ts';
import type { Foundation } from './foundation.ts';
import { type LaneStores, ownLanes, sharedLanes } from './lane-stores.ts';

const SWEEP_MS = 5_000;
const RECONCILE_MS = 60_000;

export interface Books {
  readonly lanes: LaneStores['lanes'];
  readonly refunds: Refunds;
  readonly corrections: Corrections;
  /** Sign the states of the receipts’ log. */
  readonly logKeys: readonly SigningKey[];
  /** Have signed them until now: public keys, base64url. */
  readonly knownLogKeys: readonly string[];
  /** Returns once the ledger holds all that was settled before the call. */
  write(): Promise<void>;
}

/** Lanes, ledger and the signing of receipts. When this returns, the ledger knows all that was ever settled. */
export async function openBooks(foundation: Foundation, catalog: Catalog): Promise<Books> {
  const { config, log, clock, closing, dataDir, redis, pool, metrics } = foundation;
  const [signingSeed, ...otherSeeds] = config.receiptSigningSeeds ?? [keptSecret(dataDir, 'receipt-signing.key', newSigningSeed)];
  await publishSigningKeys(pool, [signingSeed, ...otherSeeds].map(signingKeyFromSeed), clock.now());
  const logSeeds = config.logSigningSeeds ?? [keptSecret(dataDir, 'log-signing.key', newSigningSeed)];
  const logKeys = logSeeds.map(signingKeyFromSeed);
  await publishSigningKeys(pool, logKeys, clock.now(), 'checkpoint');
  const knownLogKeys = await publishedLogKeys(pool);
  const journal = new SettlementJournal(dataDir.file('journal'), (segment, line) =>
    log.error({ segment, line: line.slice(0, 200) }, 'a journal line cannot be read'),
  );
  closing.add('journal', async () => journal.close());

  const onQuarantine = quarantine(foundation);
  const alongside = createSettlementAlerts({ clock, log });
  const pages = startPageThread(signingSeed);
  closing.add('thread for ledger pages', () => pages.close());
  const writerOf = (feed: SettlementFeed) => new LedgerWriter({ feed, pool, pagesOf: pages.pagesOf, log, alongside, onQuarantine });
  const source = ledgerLaneSource(pool);
  const { lanes, feed, isReconciler } = redis ? sharedLanes(redis, source, log, closing) : ownLanes(source, journal);
  // What this data directory settled before there was a Redis.
  if (redis) await writerOf(journal).close();
  // Before anything is admitted, the ledger has to know all that was settled before: lanes are loaded from it.
  const writer = writerOf(feed);
  await writer.drain();
  closing.add('ledger writer', () => writer.close());

  const refunds = new Refunds({ pool, lanes, clock, write: () => writer.drain() });
  const priceOf = (model: string, at: number) => catalog.find(model)?.priceAt(at);
  const corrections = new Corrections({ pool, lanes, clock, write: () => writer.drain(), priceOf });
  // With the journal drained, whatever is still open was never told to the lanes; a refund may be one of what was corrected.
  await corrections.resume();
  await refunds.resume();

  closing.every(SWEEP_MS, 'sweep of expired holds', async () => {
    const freed = await lanes.sweep(clock.now());
    if (freed > 0) log.warn({ freed }, 'holds expired without being settled');
  });
  closing.every(RECONCILE_MS, 'reconciliation of lanes', async () => {
    if (isReconciler()) await compare(lanes, source, foundation);
    else metrics.laneDifferences(0);
    // A credit whose announcement was lost with a process that died; reading it again does no harm.
    for await (const { id } of lanes.loaded()) if (id.startsWith('balance:')) await lanes.refreshCredit(id);
  });
  return { lanes, refunds, corrections, logKeys, knownLogKeys, write: () => writer.drain() };
}

async function compare(lanes: LaneStores['lanes'], source: LaneSource, { metrics, log }: Foundation): Promise<void> {
  const differences = await reconcileLanes(lanes, source);
  metrics.laneDifferences(differences.length);
  for (const { laneId, unit, inLane, inLedger } of differences)
    log.fatal({ laneId, unit, inLane: `${inLane}`, inLedger: `${inLedger}` }, 'a lane disagrees with the ledger');
}

const quarantine =
  ({ dataDir, metrics, log }: Foundation) =>
  ({ record, charged, debt }: JournalEntry, error: unknown): void => {
    metrics.quarantined();
    log.fatal({ err: error }, 'the database refuses a settlement; it is set aside in journal/quarantine.jsonl');
    const line = JSON.stringify({ charged: `${charged}`, debt: `${debt}`, record });
    appendFileSync(dataDir.file('journal', 'quarantine.jsonl'), `${line}\n`, { mode: 0o600 });
  };
