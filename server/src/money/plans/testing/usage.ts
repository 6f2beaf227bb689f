import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReceiptUsage, Scope } from '@tallygate/contract';
import { quotaUnits } from '@tallygate/receipts';
import type { Pool } from 'pg';
import { InProcessLanes } from '../../../adapters/lanes/in-process.ts';
import { SettlementJournal } from '../../../adapters/lanes/settlement-journal.ts';
import { emptyArchive } from '../../../archive/testing/archives.ts';
import { lanesOf } from '../../../inference/calls/caller-lanes.ts';
import { parseInferenceHeaders } from '../../../inference/calls/index.ts';
import { newId, newReceiptId } from '../../../kernel/ids.ts';
import { silentLog } from '../../../kernel/log.ts';
import { LedgerLaneSource, LedgerWriter, Refunds, reconcileLanes } from '../../ledger/index.ts';
import { sampleRecord } from '../../ledger/sample-records.ts';
import { testPages } from '../../ledger/testing/pages.ts';
import { planRef } from '../plan-book.ts';
import { BOOK, planOf } from './book.ts';

const PICO_PER_NANO = 1_000n;
/**
 * As much of the quota, with a part or a meter that has all of the cost for its price: so the receipt follows from usage and prices.
 */
function priced(
  usage: ReceiptUsage,
  costNano: bigint,
): { readonly usage: ReceiptUsage; readonly unitPrices: Readonly<Record<string, string>> } {
  const all = `${costNano * PICO_PER_NANO}`;
  if (usage.input_tokens === 0) return { usage: { ...usage, input_characters: 1 }, unitPrices: { input_characters: all } };
  return { usage: { ...usage, cached_input_tokens: 1 }, unitPrices: { input_tokens: '0', cached_input_tokens: all } };
}

/** One request: what it may cost at most, what it comes to, and what it counts against the quota. */
export interface Use {
  readonly model: string;
  readonly mostNano: bigint;
  readonly costNano: bigint;
  readonly usage: ReceiptUsage;
}

/** The lanes, the journal and the ledger of a process, for usage that no provider has to answer. */
export function usageUnderTest(pool: Pool) {
  const folder = mkdtempSync(join(tmpdir(), 'tallygate-plans-'));
  const journal = new SettlementJournal(folder, () => {});
  const source = new LedgerLaneSource(pool);
  const lanes = new InProcessLanes(source, journal);
  const quarantined: unknown[] = [];
  const writer = new LedgerWriter({
    ...{ feed: journal, pool, archive: emptyArchive(pool), log: silentLog() },
    pages: testPages,
    onQuarantine: (_entry, error) => void quarantined.push(error),
  });
  const write = () => writer.drain();

  return {
    lanes,
    write,
    source,
    quarantined,
    refunds: (clock: { now(): number }) => new Refunds({ pool, lanes, clock, write }),
    differences: () => reconcileLanes(lanes.books, source),
    /** Passes admission as an API call does. @returns its request id, or undefined when it was refused */
    async use(accountId: string, plan: string, at: number, { model, mostNano, costNano, usage }: Use): Promise<string | undefined> {
      const keyId = newId();
      const principal = {
        kind: 'key',
        keyId,
        accountId,
        userId: newId(),
        role: 'member',
        livemode: true,
        scopes: new Set<Scope>(['inference']),
      } as const;
      const passage = lanesOf(
        {
          grant: { principal, monthlyCap: null, plan },
          headers: parseInferenceHeaders({}),
          startedAt: at,
        },
        BOOK,
      );
      const requestId = `req_${newReceiptId(at).replaceAll('-', '')}`;
      const record = sampleRecord({
        ...{ accountId, keyId, requestId, modelServed: model, ...priced(usage, costNano) },
        ...{ cost: `${costNano}`, held: `${mostNano}`, startedAt: at },
      });
      const units = quotaUnits(priced(usage, costNano).usage);
      const outcome = await lanes.hold({
        ...passage,
        ...{ holdId: record.receiptId, accountId, at, units },
        cost: { fixed: mostNano * PICO_PER_NANO, perOutputToken: 0n },
        outputTokens: { wanted: 0, least: 0 },
      });
      if (!outcome.held) return undefined;
      const { kind } = planOf(plan).overage;
      const funding = kind === 'block' ? 'none' : kind;
      await lanes.settle({
        holdId: record.receiptId,
        cost: costNano,
        units,
        record: JSON.stringify({ ...record, funding, plan: planRef(planOf(plan)) }),
      });
      return record.requestId;
    },
    async close(): Promise<void> {
      await writer.close();
      journal.close();
      rmSync(folder, { recursive: true });
    },
  };
}

export type UsageUnderTest = ReturnType<typeof usageUnderTest>;
