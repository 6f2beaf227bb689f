import type { JournalBatch, JournalEntry, LaneCeiling, SettlementFeed, Units } from '../../adapters/lanes/port.ts';
import { newId, newReceiptId, newRequestId } from '../../kernel/ids.ts';
import type { SettlementRecord } from './settlement-record.ts';

const ATTEMPT: SettlementRecord['attempts'][number] = {
  ...{ deployment: 'openai#1', provider: 'openai', model: 'gpt-5.4-nano' },
  ...{ outcome: 'answered', status: 200, started_ms: 1, duration_ms: 300 },
};
const STARTED_AT = Date.parse('2026-11-21T10:00:00Z');

/** A settled chat of a new account, apart from what is wished for. For tests. */
export function sampleRecord(wish: Partial<SettlementRecord> = {}): SettlementRecord {
  const startedAt = wish.startedAt ?? STARTED_AT;
  return {
    receiptId: newReceiptId(),
    requestId: newRequestId(),
    attempt: 1,
    clientRequestId: null,
    accountId: newId(),
    keyId: newId(),
    runId: null,
    livemode: true,
    funding: 'balance',
    plan: wish.livemode === false ? undefined : 'pro@1',
    endpoint: '/v1/chat/completions',
    stream: false,
    modelRequested: 'gpt-5.4-nano',
    modelServed: 'gpt-5.4-nano',
    provider: 'openai',
    fallback: 'none',
    outcome: 'completed',
    attempts: [ATTEMPT],
    usage: { input_tokens: 10, cached_input_tokens: 4, cache_write_tokens: 2, output_tokens: 5, reasoning_tokens: 1 },
    estimated: false,
    priceVersion: '2026-07-24',
    priceTier: null,
    unitPrices: { input_tokens: '1000', output_tokens: '2000' },
    held: '100',
    cost: '20',
    requestSha256: 'a'.repeat(64),
    responseSha256: 'b'.repeat(64),
    startedAt,
    firstByteAt: startedAt + 300,
    completedAt: startedAt + 500,
    overheadMs: 0.75,
    ...wish,
  };
}

interface Payment {
  readonly charged?: bigint;
  readonly debt?: bigint;
  readonly covered?: Units;
}

/** As the journal hands it out: money pays all of the cost, apart from what is wished for. */
export const sampleEntry = (
  record: SettlementRecord,
  { charged = BigInt(record.cost), debt = 0n, covered = {} }: Payment = {},
): JournalEntry => ({
  charged,
  debt,
  covered,
  record: JSON.stringify(record),
});

/** A journal in memory that remembers what was acknowledged and can be read from the start again. */
export class MemoryFeed implements SettlementFeed {
  readonly #entries: JournalEntry[];
  readonly #batchSize: number;
  #onAppend: () => void = () => {};
  acknowledged = 0;
  /** Handed out with the next batch. */
  readonly ceilings: LaneCeiling[] = [];
  /** Called in the place of every acknowledgement, as by a process that dies before it. */
  crash: (() => void) | undefined;

  constructor(entries: readonly JournalEntry[] = [], { batchSize = 1_000 } = {}) {
    this.#entries = [...entries];
    this.#batchSize = batchSize;
  }

  append(...entries: readonly JournalEntry[]): void {
    this.#entries.push(...entries);
    this.#onAppend();
  }

  async read(): Promise<JournalBatch> {
    const start = this.acknowledged;
    const entries = this.#entries.slice(start, start + this.#batchSize);
    const acknowledge = () => {
      this.acknowledged = start + entries.length;
    };
    return { entries, ceilings: this.ceilings.splice(0), acknowledge: this.crash ?? acknowledge };
  }

  onAppend(callback: () => void): void {
    this.#onAppend = callback;
  }
}
