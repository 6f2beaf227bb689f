import type { NanoUsd } from '../../kernel/money.ts';
import type { Counter, MoneyCounter, QuotaCounter } from './passage.ts';
import type { HoldRequest, LaneBooks, LaneCorrection, LaneSource, LoadedLane, Units } from './port.ts';
import type { JournalPosition } from './settlement-journal.ts';

/** The lanes that something names. */
interface Named {
  readonly lanes: readonly string[];
  readonly funds: string | null;
  readonly quota: string | null;
}

/** The counters of lanes in the memory of this process, each loaded from its source on first use. */
export class LoadedLanes implements LaneBooks {
  readonly #money = new Map<string, MoneyCounter>();
  readonly #quota = new Map<string, QuotaCounter>();
  readonly #loading = new Map<string, Promise<void>>();
  readonly #source: LaneSource;
  readonly #isAcknowledged: (position: JournalPosition) => boolean;

  /** @param isAcknowledged whether the ledger has what the journal has there */
  constructor(source: LaneSource, isAcknowledged: (position: JournalPosition) => boolean) {
    this.#source = source;
    this.#isAcknowledged = isAcknowledged;
  }

  /** @throws where it is not loaded */
  money(id: string): MoneyCounter {
    return there(this.#money, id);
  }

  /** @throws where it is not loaded */
  quota(id: string): QuotaCounter {
    return there(this.#quota, id);
  }

  missing({ lanes, funds, quota }: Named): string[] {
    const missing = (funds === null ? lanes : [...lanes, funds]).filter((id) => !this.#money.has(id));
    if (quota !== null && !this.#quota.has(quota)) missing.push(quota);
    return missing;
  }

  /** As {@link missing}, of a request. */
  missingOf(request: HoldRequest): string[] {
    const missing: string[] = [];
    for (const lane of request.lanes) if (!this.#money.has(lane.id)) missing.push(lane.id);
    if (request.funds && !this.#money.has(request.funds.id)) missing.push(request.funds.id);
    if (request.quota && !this.#quota.has(request.quota.id)) missing.push(request.quota.id);
    return missing;
  }

  async load(missing: readonly string[], quotaId: string | null | undefined, touchedAt: number): Promise<void> {
    await Promise.all(
      missing.map((id) => this.#loadOnce(id, () => (id === quotaId ? this.#loadQuota(id, touchedAt) : this.#loadMoney(id, touchedAt)))),
    );
  }

  async refreshCredit(laneId: string): Promise<void> {
    // What is being read may be older than the credit; what is not there yet will be read after it.
    await this.#loading.get(laneId)?.catch(() => {});
    if (!this.#money.has(laneId)) return;
    const { cap, credits = 0 } = await this.#source.moneyLane(laneId);
    const counter = this.#money.get(laneId);
    if (!counter || credits < counter.credits) return;
    counter.cap = cap;
    counter.credits = credits;
  }

  /** An idle lane may be forgotten once its source knows everything that was settled on it. @param before on the clock of the lanes */
  forgetIdle(before: number): void {
    for (const lanes of [this.#money, this.#quota]) {
      for (const [id, counter] of lanes) {
        if (counter.holds === 0 && counter.touchedAt < before && this.#isWritten(counter)) lanes.delete(id);
      }
    }
  }

  async inspect(laneIds: readonly string[]): Promise<ReadonlyMap<string, { spent: NanoUsd; held: NanoUsd; cap: NanoUsd | null }>> {
    const states = await Promise.all(
      laneIds.map(async (id) => {
        const { spent, held, cap } = this.#money.get(id) ?? { ...(await this.#source.moneyLane(id)), held: 0n };
        return [id, { spent, held, cap }] as const;
      }),
    );
    return new Map(states);
  }

  *lanes(): Iterable<LoadedLane> {
    for (const [id, counter] of this.#money) yield { id, counts: { nano_usd: counter.spent }, isWritten: this.#isWritten(counter) };
    for (const [id, counter] of this.#quota) yield { id, counts: { ...counter.used }, isWritten: this.#isWritten(counter) };
  }

  correct({ laneId, meter, from, to }: LaneCorrection): boolean {
    const money = meter === null ? this.#money.get(laneId) : undefined;
    const quota = meter === null ? undefined : this.#quota.get(laneId);
    const counter = money ?? quota;
    if (!counter || !this.#isWritten(counter)) return false;
    if ((money ? money.spent : (quota?.used[meter ?? ''] ?? 0n)) !== from) return false;
    if (money) money.spent = to;
    else if (quota && meter !== null) quota.used[meter] = to;
    return true;
  }

  #isWritten({ settledAt }: Counter): boolean {
    return settledAt === undefined || this.#isAcknowledged(settledAt);
  }

  /** One read per lane, however many requests wait for it. */
  #loadOnce(id: string, read: () => Promise<void>): Promise<void> {
    const loading = this.#loading.get(id) ?? read().finally(() => this.#loading.delete(id));
    this.#loading.set(id, loading);
    return loading;
  }

  async #loadMoney(id: string, touchedAt: number): Promise<void> {
    const { spent, cap, credits = 0 } = await this.#source.moneyLane(id);
    this.#money.set(id, { spent, cap, credits, held: 0n, holds: 0, touchedAt, settledAt: undefined });
  }

  async #loadQuota(id: string, touchedAt: number): Promise<void> {
    this.#quota.set(id, {
      used: { ...(await this.#source.quotaLane(id)) } satisfies Units,
      held: {},
      holds: 0,
      touchedAt,
      settledAt: undefined,
    });
  }
}

function there<Lane>(lanes: ReadonlyMap<string, Lane>, id: string): Lane {
  const lane = lanes.get(id);
  if (!lane) throw new Error(`Lane ${id} is not loaded`);
  return lane;
}
