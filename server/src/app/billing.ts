import { join } from 'node:path';
import { RemoteLanes } from '../adapters/lanes/authority/remote-lanes.ts';
import { journalNameOf } from '../adapters/lanes/journal-name.ts';
import type { JournalEntry, LaneSource, LaneStore, SettlementFeed } from '../adapters/lanes/port.ts';
import { SettlementJournal } from '../adapters/lanes/settlement-journal.ts';
import { unfinishedAmong } from '../inference/batches/index.ts';
import { ADMIN } from '../kernel/admin-command.ts';
import { createFileProbe } from '../kernel/file-probe.ts';
import { formatUsd } from '../kernel/money.ts';
import { createSettlementAlerts } from '../money/budgets/index.ts';
import type { Catalog } from '../money/catalog/index.ts';
import {
  Corrections,
  LedgerLaneSource,
  LedgerWriter,
  type Overbilled,
  Refunds,
  type Repaired,
  repairLanes,
  startPageThread,
  unwrittenAmong,
} from '../money/ledger/index.ts';
import { recordLimitAlerts } from '../money/limits/index.ts';
import { ownSealKey } from '../receipts/index.ts';
import type { Foundation } from './foundation.ts';
import type { BooksState } from './health.ts';
import { openLaneRecovery, warnOfAbandoned } from './lane-recovery.ts';
import { type LaneStores, ownLanes, sharedLanes } from './lane-stores.ts';
import { openQuarantine, type Quarantine } from './quarantine.ts';
import { bookSetAside, type ReplayDeps } from './quarantine-replay.ts';
import type { OwnLog } from './receipt-log.ts';
import type { AuthorityLink } from './workers/authority-link.ts';

type Alongside = NonNullable<ConstructorParameters<typeof LedgerWriter>[0]['alongside']>;

const SWEEP_MS = 5_000;
const RECONCILE_MS = 60_000;
/** An operator waits for it. */
const REPLAY_MS = 1_000;

export interface Billing {
  readonly lanes: LaneStore;
  readonly refunds: Refunds;
  readonly corrections: Corrections;
  /** Made from the keys that sign: what it seals, the log takes in. */
  readonly sealKey: Buffer;
  booksState(): BooksState | Promise<BooksState>;
  /** Returns once the ledger holds all that was settled before the call. */
  write(): Promise<void>;
}

/** Lanes, ledger and the signing of receipts. When this returns, the ledger knows all that was ever settled. */
export async function openBilling(foundation: Foundation, catalog: Catalog, log: Pick<OwnLog, 'ownKeys' | 'placing'>): Promise<Billing> {
  const { authority } = foundation;
  return authority ? billingOfAuthority(authority, foundation, catalog, log) : openOwnBilling(foundation, catalog, log);
}

/** A worker's: the process that has started it has the lanes and the journal, and writes the ledger. */
function billingOfAuthority(
  { calls }: AuthorityLink,
  { pool, clock }: Foundation,
  catalog: Catalog,
  { ownKeys }: Pick<OwnLog, 'ownKeys'>,
): Billing {
  const lanes = new RemoteLanes(calls);
  const write = () => calls.call('write');
  return {
    ...{ lanes, write, sealKey: ownSealKey(ownKeys) },
    refunds: new Refunds({ pool, lanes, clock, write }),
    corrections: new Corrections({ pool, lanes, clock, write, priceOf: catalog.pricedAt }),
    booksState: () => calls.call('booksState'),
  };
}

async function openOwnBilling(
  foundation: Foundation,
  catalog: Catalog,
  { ownKeys, placing }: Pick<OwnLog, 'ownKeys' | 'placing'>,
): Promise<Billing> {
  const { config, log, clock, steady, closing, dataDir, redis, pool, archive, metrics } = foundation;
  const aside = openQuarantine(foundation);
  const { quarantine } = aside;
  const journal = new SettlementJournal(dataDir.file('journal'), aside.onDamage, { mostBehindMs: config.ledgerLagLimitMs });
  closing.add('journal', async () => journal.close());
  const alongside = alertsOf(foundation);
  const onOverbilled = reportOverbilled(foundation);
  const sealKey = ownSealKey(ownKeys);
  const pages = startPageThread(sealKey);
  closing.add('thread for ledger pages', () => pages.close());
  const writerOf = (feed: SettlementFeed) =>
    new LedgerWriter({ feed, pool, archive, pages, log, alongside, placing, onQuarantine: aside.onRefused, onOverbilled });
  const source = new LedgerLaneSource(pool);
  const journalName = journalNameOf(dataDir.file('journal'));
  const recording = { journal, journalName, absenceMs: config.gatewayAbsenceMs, onDamage: aside.onDamage };
  const neededAmong = (ids: readonly string[]) => unfinishedAmong(pool, ids);
  const shared = redis && sharedLanes(redis, source, { ...recording, neededAmong }, foundation);
  const { lanes, feed, isReconciler } = shared ?? ownLanes(source, journal, steady);
  const writer = writerOf(feed);
  // Before anything is admitted, the ledger has to know all that was settled before: lanes are loaded from it.
  if (shared) await openLaneRecovery({ shared, journal, writer, writerOf }, foundation);
  else warnOfAbandoned(journal.recover(), log);
  await writer.drain();
  closing.add('ledger writer', () => writer.close());

  replayOnDemand(quarantine, { lanes, source, write: () => writer.written() }, foundation);
  const refunds = new Refunds({ pool, lanes, clock, write: () => writer.written() });
  const corrections = new Corrections({ pool, lanes, clock, write: () => writer.written(), priceOf: catalog.pricedAt });
  // With the journal drained, every open correction never reached the lanes; a refund may be one of a correction.
  await corrections.resume();
  await refunds.resume();

  closing.every(SWEEP_MS, 'sweep of the lanes', async () => {
    const ended = await lanes.sweep();
    if (ended > 0) log.warn({ ended }, 'holds of gateways that are gone were ended');
  });
  closing.every(RECONCILE_MS, 'reconciliation of lanes', async () => {
    if (!isReconciler()) return metrics.laneDifferences(0);
    await repair(lanes, source, foundation);
    // A credit whose announcement was lost with a process that died; reading it again does no harm.
    for await (const { id } of lanes.books.lanes()) if (id.startsWith('balance:')) await lanes.refreshCredit(id);
  });
  return {
    ...{ lanes, refunds, corrections, sealKey },
    booksState: booksStateOf(journal, aside, dataDir.file('journal')),
    write: () => writer.written(),
  };
}

function booksStateOf(journal: SettlementJournal, { waiting }: { waiting(): number }, folder: string): () => Promise<BooksState> {
  const probe = createFileProbe(() => join(folder, 'probe'));
  return async () => {
    const canRecord = await probe().then(
      () => true,
      () => false,
    );
    return { lag: { ms: journal.behindMs(), isTooLong: journal.isTooFarBehind() }, quarantined: waiting(), canRecord };
  };
}

const reportOverbilled =
  ({ metrics, log }: Foundation) =>
  ({ billed, held, ...facts }: Overbilled): void => {
    metrics.overbilled(facts, billed - held);
    log.warn(
      { ...facts, billedUsd: formatUsd(billed), heldUsd: formatUsd(held) },
      'a provider billed more than was held: its price or its bound in the catalogue is wrong, and the operator pays the rest',
    );
  };

/** Thresholds of budgets and of limits. */
function alertsOf({ clock, log }: Foundation): Alongside {
  const recordBudgetAlerts = createSettlementAlerts({ clock, log });
  return async (client, settled) => {
    await recordBudgetAlerts(client, settled);
    await recordLimitAlerts(client, settled);
  };
}

/** Does what an operator asks for with `quarantine replay`. */
function replayOnDemand(
  quarantine: Quarantine,
  replaying: Omit<ReplayDeps, 'unwrittenAmong'>,
  { pool, archive, closing, log }: Foundation,
) {
  const deps = { ...replaying, unwrittenAmong: (entries: readonly JournalEntry[]) => unwrittenAmong({ pool, archive }, entries) };
  closing.every(REPLAY_MS, 'replay of what was set aside', async () => {
    if (!quarantine.isAsked) return;
    log.warn(await quarantine.replay((asides) => bookSetAside(deps, asides)), 'what was set aside is booked again');
  });
}

async function repair({ books }: LaneStores['lanes'], source: LaneSource, { metrics, log }: Foundation): Promise<void> {
  const { mended, left } = await repairLanes(books, source);
  metrics.laneDifferences(left.length);
  metrics.lanesRaised(mended.length);
  for (const difference of mended) log.error(inWords(difference), 'a lane had less than the ledger and is raised');
  for (const difference of left) log.error(inWords(difference), `a lane has more than the ledger: \`${ADMIN} reconcile\` says more`);
}

const inWords = ({ inLane, inLedger, ...rest }: Repaired['left'][number]) => ({ ...rest, inLane: `${inLane}`, inLedger: `${inLedger}` });
