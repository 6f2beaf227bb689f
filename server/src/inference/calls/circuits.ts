import type { UpstreamFault } from '../../adapters/upstream/port.ts';

/**
 * `closed`: asked as usual. `open`: not asked while another one can be. `half_open`: its time is over, and one call at a time tries it.
 */
export type CircuitState = 'closed' | 'open' | 'half_open';

/** A deployment's circuit at one moment, for operators. Times are epoch milliseconds. */
export interface CircuitView {
  readonly state: CircuitState;
  /** Until when it is open; null while it is not. */
  readonly openUntil: number | null;
  /** Calls of the last minute, as far as they were answered or failed; at most {@link MOST_REMEMBERED}. */
  readonly calls: number;
  readonly failures: number;
  /** Until the first byte, a moving average, milliseconds; null before the first answer. */
  readonly latencyMs: number | null;
  /** Written from a request to the end of its answer, a moving average; null before the first time. */
  readonly tokensPerSecond: number | null;
  readonly lastFailure: LastFailure | null;
}

interface LastFailure {
  readonly at: number;
  readonly kind: UpstreamFault['kind'];
  readonly status: number | null;
}

/** Why and for how long a circuit opened. */
export interface Opened {
  readonly name: string;
  readonly reason: 'rate_limited' | 'retry_after' | 'credentials' | 'failures';
  readonly forMs: number;
}

/**
 * The circuits of all deployments, by name. What any instance finds out about a provider is worth knowing to the others: `onOpened` is told
 * of every opening, and `openedElsewhere` takes one in from another instance.
 */
export interface Circuits {
  state(name: string, now: number): CircuitState;
  /** Whether a call may be made: always while closed, one at a time while half open. A claimed call has to be reported. */
  claim(name: string, now: number): boolean;
  answered(name: string, latencyMs: number, now: number): void;
  measured(name: string, tokensPerSecond: number): void;
  /** Undefined where it opened nothing. The caller's own doing (`rejected`, `cancelled`) is no failure. */
  failed(name: string, fault: Pick<UpstreamFault, 'kind' | 'status' | 'retryAfterMs'>, now: number): Opened | undefined;
  openedElsewhere(name: string, forMs: number, now: number): void;
  view(name: string, now: number): CircuitView;
}

const WINDOW_MS = 60_000;
export const MOST_REMEMBERED = 100;
const FAILURES_IN_A_ROW = 3;
/** Half of at least so many calls. */
const LEAST_FOR_A_RATE = 10;
const FIRST_OPEN_MS = 5_000;
const RATE_LIMIT_MS = 1_000;
const CREDENTIALS_MS = 60_000;
/** A provider may ask for hours. One call in five minutes that tries it does no harm, and finds out when it is wrong. */
const LONGEST_OPEN_MS = 300_000;
/** A probe that never reports, because its instance lost it, must not keep the circuit from closing. */
const LONGEST_PROBE_MS = 120_000;
/** Of the newest figure in a moving average. */
const NEWEST_WEIGHT = 0.2;
/** By less than this an opening is not prolonged in so many words. */
const NEWS_MS = 1_000;

interface Circuit {
  /** Outcomes of the last minute, the oldest first. */
  recent: { readonly at: number; readonly ok: boolean }[];
  openUntil: number;
  /** Openings without an answer in between: each is twice as long as the last. */
  openings: number;
  /** When the running probe began. */
  probeAt: number | null;
  latencyMs: number | null;
  tokensPerSecond: number | null;
  lastFailure: LastFailure | null;
}

/** Circuits in the memory of this process. */
export class InProcessCircuits implements Circuits {
  readonly #circuits = new Map<string, Circuit>();
  readonly #onOpened: (opened: Opened) => void;
  readonly #onClosed: (name: string) => void;

  constructor(onOpened: (opened: Opened) => void = () => {}, onClosed: (name: string) => void = () => {}) {
    this.#onOpened = onOpened;
    this.#onClosed = onClosed;
  }

  state(name: string, now: number): CircuitState {
    const circuit = this.#circuits.get(name);
    if (!circuit || circuit.openUntil === 0) return 'closed';
    return circuit.openUntil > now ? 'open' : 'half_open';
  }

  claim(name: string, now: number): boolean {
    const state = this.state(name, now);
    if (state === 'closed') return true;
    const circuit = this.#circuit(name);
    if (state === 'open' || (circuit.probeAt !== null && circuit.probeAt + LONGEST_PROBE_MS > now)) return false;
    circuit.probeAt = now;
    return true;
  }

  answered(name: string, latencyMs: number, now: number): void {
    const circuit = this.#circuit(name);
    circuit.latencyMs = averaged(circuit.latencyMs, latencyMs);
    remember(circuit, now, true);
    circuit.probeAt = null;
    // An answer to a call that was under way when it opened says nothing about now.
    if (circuit.openUntil > now) return;
    if (circuit.openUntil !== 0) {
      // What failed before it opened is paid for: it starts from nothing.
      circuit.recent = [];
      this.#onClosed(name);
    }
    circuit.openUntil = 0;
    circuit.openings = 0;
  }

  measured(name: string, tokensPerSecond: number): void {
    const circuit = this.#circuit(name);
    circuit.tokensPerSecond = averaged(circuit.tokensPerSecond, tokensPerSecond);
  }

  failed(
    name: string,
    { kind, status, retryAfterMs }: Pick<UpstreamFault, 'kind' | 'status' | 'retryAfterMs'>,
    now: number,
  ): Opened | undefined {
    const circuit = this.#circuit(name);
    const wasProbe = circuit.probeAt !== null;
    circuit.probeAt = null;
    if (kind === 'rejected' || kind === 'cancelled') return undefined;
    remember(circuit, now, false);
    circuit.lastFailure = { at: now, kind, status };
    const opened = openingOf({ kind, status, retryAfterMs }, { circuit, wasProbe });
    if (!opened) return undefined;
    // What fails while it is open already was sent before, or as a last resort: it may say more, and never doubles the time.
    const isNews = circuit.openUntil <= now || now + opened.forMs >= circuit.openUntil + NEWS_MS;
    if (circuit.openUntil <= now) circuit.openings += 1;
    circuit.openUntil = Math.max(circuit.openUntil, now + opened.forMs);
    if (!isNews) return undefined;
    this.#onOpened({ name, ...opened });
    return { name, ...opened };
  }

  openedElsewhere(name: string, forMs: number, now: number): void {
    const circuit = this.#circuit(name);
    circuit.openUntil = Math.max(circuit.openUntil, now + Math.min(forMs, LONGEST_OPEN_MS));
  }

  view(name: string, now: number): CircuitView {
    const circuit = this.#circuit(name);
    forgetOld(circuit, now);
    const state = this.state(name, now);
    return {
      state,
      openUntil: state === 'open' ? circuit.openUntil : null,
      calls: circuit.recent.length,
      failures: circuit.recent.filter(({ ok }) => !ok).length,
      latencyMs: circuit.latencyMs,
      tokensPerSecond: circuit.tokensPerSecond,
      lastFailure: circuit.lastFailure,
    };
  }

  #circuit(name: string): Circuit {
    const known = this.#circuits.get(name);
    if (known) return known;
    const fresh: Circuit = {
      recent: [],
      openUntil: 0,
      openings: 0,
      probeAt: null,
      latencyMs: null,
      tokensPerSecond: null,
      lastFailure: null,
    };
    this.#circuits.set(name, fresh);
    return fresh;
  }
}

const averaged = (before: number | null, newest: number): number => (before === null ? newest : before + NEWEST_WEIGHT * (newest - before));

function openingOf(
  { kind, status, retryAfterMs }: Pick<UpstreamFault, 'kind' | 'status' | 'retryAfterMs'>,
  { circuit, wasProbe }: { circuit: Circuit; wasProbe: boolean },
): Omit<Opened, 'name'> | undefined {
  const longer = (firstMs: number) => Math.min(firstMs * 2 ** Math.min(circuit.openings, 10), LONGEST_OPEN_MS);
  // The key is wrong for everybody, and only a person can put that right.
  if (status === 401 || status === 403) return { reason: 'credentials', forMs: longer(CREDENTIALS_MS) };
  if (retryAfterMs !== null)
    return {
      reason: kind === 'rate_limited' ? 'rate_limited' : 'retry_after',
      forMs: Math.min(Math.max(retryAfterMs, 1), LONGEST_OPEN_MS),
    };
  if (kind === 'rate_limited') return { reason: 'rate_limited', forMs: longer(RATE_LIMIT_MS) };
  const { recent } = circuit;
  const last = recent.slice(-FAILURES_IN_A_ROW);
  const isRow = last.length === FAILURES_IN_A_ROW && last.every(({ ok }) => !ok);
  const isRate = recent.length >= LEAST_FOR_A_RATE && recent.filter(({ ok }) => !ok).length * 2 >= recent.length;
  return wasProbe || isRow || isRate ? { reason: 'failures', forMs: Math.min(longer(FIRST_OPEN_MS), 60_000) } : undefined;
}

function remember(circuit: Circuit, now: number, ok: boolean): void {
  forgetOld(circuit, now);
  circuit.recent.push({ at: now, ok });
  if (circuit.recent.length > MOST_REMEMBERED) circuit.recent.shift();
}

function forgetOld({ recent }: Circuit, now: number): void {
  while (recent[0] && recent[0].at <= now - WINDOW_MS) recent.shift();
}
