import type { NanoUsd } from '../../kernel/money.ts';
import type { HoldRequest, LaneSource, MoneyLane, MoneyOnRecord, QuotaLane, Refund, Settled, Settlement, Units } from './port.ts';

const PICO_PER_NANO = 1000n;

/** When the suite's requests come in, epoch milliseconds. */
export const NOW = Date.parse('2026-11-21T10:00:00Z');
export const MONTH_END = Date.parse('2026-12-01T00:00:00Z');

export const runLane = (id: string, cap: NanoUsd | null): MoneyLane => ({
  id: `run:${id}`,
  source: 'agent_run',
  cap,
  capRule: 'tightening',
  resetsAt: null,
});
export const keyLane = (id: string, cap: NanoUsd | null): MoneyLane => ({
  id: `key:${id}`,
  source: 'key',
  cap,
  capRule: 'given',
  resetsAt: MONTH_END,
});
export const balance = (id: string): MoneyLane => ({
  id: `balance:${id}`,
  source: 'balance',
  cap: null,
  capRule: 'credited',
  resetsAt: null,
});
export const quotaLane = (id: string, caps: Units): QuotaLane => ({ id: `quota:${id}`, caps, resetsAt: MONTH_END });

interface HoldOptions extends Partial<Omit<HoldRequest, 'cost' | 'outputTokens'>> {
  /** Nano-USD apart from the tokens out. */
  readonly amount?: NanoUsd;
  /** Nano-USD. */
  readonly perToken?: NanoUsd;
  readonly wanted?: number;
  readonly least?: number;
}

/** Pays for everything. */
const UNLIMITED: MoneyLane = { id: 'funds', source: 'balance', cap: null, capRule: 'given', resetsAt: null };

let holds = 0;

/** A request that costs nothing, passes no lane and is paid for without limit, apart from what is wished for. */
export function holdRequest({ amount = 0n, perToken = 0n, wanted = 0, least = wanted, ...wish }: HoldOptions): HoldRequest {
  holds += 1;
  return {
    holdId: `hold-${holds}`,
    accountId: 'account',
    at: NOW,
    cost: { fixed: amount * PICO_PER_NANO, perOutputToken: perToken * PICO_PER_NANO },
    outputTokens: { wanted, least },
    units: {},
    lanes: [],
    quota: null,
    funds: UNLIMITED,
    ...wish,
  };
}

export const settlementOf = (request: HoldRequest, cost: NanoUsd, units: Units = {}): Settlement => ({
  holdId: request.holdId,
  cost,
  units,
  record: JSON.stringify({ holdId: request.holdId }),
});

let refunds = 0;

/** What a settlement of the request has taken, given back. */
export function refundOf(request: HoldRequest, cost: NanoUsd, { charged, covered }: Pick<Settled, 'charged' | 'covered'>): Refund {
  refunds += 1;
  const refundId = `refund-${refunds}`;
  return {
    refundId,
    accountId: request.accountId,
    lanes: request.lanes.map(({ id }) => id),
    quota: request.quota?.id ?? null,
    funds: request.funds?.id ?? null,
    cost,
    charged,
    covered,
    record: JSON.stringify({ refundId }),
  };
}

/** The ledger as the lanes see it, under the suite's control. Lanes that it was not told of are new. */
export class ScriptedSource implements LaneSource {
  readonly money = new Map<string, MoneyOnRecord>();
  readonly quota = new Map<string, Units>();
  /** Ids in the order in which they were read. */
  readonly reads: string[] = [];
  /** Every read waits for it, and rejects if it does. */
  gate: Promise<void> = Promise.resolve();

  async moneyLane(id: string): Promise<MoneyOnRecord> {
    this.reads.push(id);
    // As a query does: the answer is that of the moment it was asked, and arrives later.
    const answer = this.money.get(id) ?? { spent: 0n, cap: null };
    await this.gate;
    return answer;
  }

  async quotaLane(id: string): Promise<Units> {
    this.reads.push(id);
    const answer = this.quota.get(id) ?? {};
    await this.gate;
    return answer;
  }
}
