import type { ReceiptUsage } from '@tallygate/contract';
import type { Held, HoldOutcome, HoldRequest, LaneStore, PartSettlement, Refused, Settled, Units } from '../adapters/lanes/port.ts';
import { type Catalog, costBound } from '../catalog/index.ts';
import type { Clock } from '../kernel/clock.ts';
import { maxOf, type NanoUsd, picoToNano } from '../kernel/money.ts';
import { Problem } from '../kernel/problem.ts';
import { type Call, priceFactorOf } from './call.ts';
import { type Funding, fundingOf, lanesOf } from './caller-lanes.ts';
import type { Deployments, Skipped, Target } from './deployments.ts';
import type { Reply } from './deps.ts';
import { requireModels } from './key-limits.ts';
import { moneyRefusal } from './money-refusal.ts';
import { allOffersFor, leastOutputTokens, type Offer, offersFor } from './offers.ts';
import { rateDraw, rateLimited } from './rate-limits.ts';
import type { Tokenizer } from './tokenizer.ts';
import type { WorkBound } from './work.ts';

export interface AdmissionDeps {
  readonly catalog: Catalog;
  readonly deployments: Deployments;
  readonly lanes: LaneStore;
  readonly tokenizer: Tokenizer;
  readonly clock: Clock;
  /** Told of every call that a cap refuses. It must not make the refusal wait. */
  onRefused(refused: Refused, call: Pick<Call, 'grant' | 'startedAt'>): void;
}

/** A request whose worst-case cost is held: from here on it has to be settled. */
export interface Admission {
  readonly call: Call;
  readonly hold: Held;
  /** What to try, in order. */
  readonly targets: readonly Target[];
  /** What is left aside. */
  readonly skipped: readonly Skipped[];
  /** Bound on the tokens of one choice: held, and sent to the provider. Null where the endpoint has none. */
  readonly maxOutputTokens: number | null;
  /** Whether that bound is ours rather than the caller's. */
  readonly isBoundOurs: boolean;
  readonly funding: Funding;
  /** Where the call has no hold of its own, but a share of one that many draw from. */
  readonly share?: Share;
}

/** What a call came to. */
export interface ShareSettlement extends Omit<PartSettlement, 'partId' | 'reserved'> {
  readonly usage: ReceiptUsage;
}

/** A call's share of a hold that is there already. */
export interface Share {
  /**
   * Settles the call out of that hold, once, with what the caller will be told.
   * @throws when it cannot be made durable; the call may then be settled again
   */
  settle(settlement: ShareSettlement, answer: Pick<Reply, 'status' | 'body'>): Promise<Settled>;
}

/** A hold that nobody renews counts no longer: its gateway is gone. Plain calls may take as long as the provider's first-byte limit. */
export const HOLD_MS = 15 * 60_000;

/**
 * Holds the worst-case cost of the call on all its lanes, or refuses it: the only way to a provider. The cheap bound on the prompt (its
 * bytes) is tried first; only where it does not fit is the prompt counted.
 *
 * @throws Problem `budget_exceeded`, `budget_in_flight`, `model_not_found`, `no_provider_configured`, `validation_failed`, `unpriced_feature`, `store_unavailable`,
 *   `rate_limited`, `model_not_allowed`
 */
export async function admit(call: Call, deps: AdmissionDeps): Promise<Admission> {
  requireModels(call);
  const offers = offersFor(call, deps);
  const rates = rateDraw(call);
  const whole = holdRequest(call, offers);
  // First the whole bound, by the cheap count. Only where that does not fit is the prompt counted, and the bound lowered where it may be.
  let outcome = await take(deps.lanes, { ...whole, outputTokens: { ...whole.outputTokens, least: whole.outputTokens.wanted }, rates });
  if (!outcome.held && !('refusedBy' in outcome)) {
    const counted = await countedOffers(call, offers, deps.tokenizer);
    if (counted || whole.outputTokens.least < whole.outputTokens.wanted)
      outcome = await take(deps.lanes, { ...(counted ? holdRequest(call, counted) : whole), rates });
  }
  if ('refusedBy' in outcome) throw rateLimited(outcome);
  if (!outcome.held) {
    deps.onRefused(outcome, call);
    throw moneyRefusal(outcome);
  }

  return admitted(call, offers, outcome);
}

function admitted(call: Call, offers: readonly Offer[], hold: Held): Admission {
  const { output } = call.work;
  const maxOutputTokens = output ? Math.floor(hold.outputTokens / output.choices) : null;
  return {
    call,
    hold,
    targets: offers.flatMap((offer) => offer.targets),
    skipped: offers.flatMap((offer) => offer.skipped),
    maxOutputTokens,
    isBoundOurs: output !== null && maxOutputTokens !== output.asked,
    funding: fundingOf(call),
  };
}

/** The most that a call can come to. */
export interface WorstCase {
  readonly amount: NanoUsd;
  readonly units: Units;
}

/**
 * What a call would be held with that runs at some later time: whatever deployment is left aside now may be the one that serves it then, and
 * the bound on tokens out may not be lowered. @throws Problem as {@link admit}, but for money and rates
 */
export function worstCaseOf(call: Call, deps: Pick<AdmissionDeps, 'catalog' | 'deployments'>): WorstCase {
  requireModels(call);
  return worstOf(call, allOffersFor(call, deps));
}

function worstOf(call: Call, offers: readonly Offer[]): WorstCase {
  const { cost, units, outputTokens } = holdRequest(call, offers);
  const tokens = BigInt(outputTokens.wanted);
  return {
    amount: picoToNano(cost.fixed + tokens * cost.perOutputToken),
    units: { ...units, tokens: (units['tokens'] ?? 0n) + tokens },
  };
}

/**
 * Admits a call to its share of a hold, which was taken for its {@link worstCaseOf}. What has become dearer since, or was deployed after that,
 * is not tried. @throws Problem as {@link worstCaseOf}, and `budget_exceeded` where nothing is left to be tried
 */
export function admitToShare(call: Call, reserved: NanoUsd, share: Share, deps: Pick<AdmissionDeps, 'catalog' | 'deployments'>): Admission {
  requireModels(call);
  const offers = offersFor(call, deps).filter((offer) => worstOf(call, [offer]).amount <= reserved);
  if (offers.length === 0)
    throw new Problem('budget_exceeded', 'What was held for this request does not cover it any more: send it again.');
  const { outputTokens } = holdRequest(call, offers);
  return { ...admitted(call, offers, { held: true, outputTokens: outputTokens.wanted, amount: reserved, lanes: [] }), share };
}

/** One hold for many calls, which are settled out of it part by part. */
export interface SharedHold extends Pick<Call, 'grant' | 'headers' | 'startedAt' | 'run'> {
  readonly holdId: string;
  readonly expiresAt: number;
  /** The sum over all calls. */
  readonly worstCase: WorstCase;
  /** What was answered before is settled out of it, and nothing else: no cap keeps it out, and its worst case is nothing. */
  readonly isForDebt?: true;
}

/**
 * Holds the worst case of many calls on the lanes that a call of that caller and time passes through, or refuses it.
 * @throws Problem `budget_exceeded`, `budget_in_flight`, `store_unavailable`
 */
export async function holdForMany(shared: SharedHold, deps: Pick<AdmissionDeps, 'lanes' | 'clock' | 'onRefused'>): Promise<void> {
  const { holdId, expiresAt, worstCase, grant, startedAt, isForDebt } = shared;
  const outcome = await take(deps.lanes, {
    holdId,
    accountId: grant.principal.accountId,
    at: deps.clock.now(),
    expiresAt,
    cost: { fixed: worstCase.amount * PICO_PER_NANO, perOutputToken: 0n },
    outputTokens: { wanted: 0, least: 0 },
    units: worstCase.units,
    ...(isForDebt && { isForDebt }),
    ...lanesOf(shared),
  });
  if (outcome.held) return;
  if ('refusedBy' in outcome) throw rateLimited(outcome);
  deps.onRefused(outcome, { grant, startedAt });
  throw moneyRefusal(outcome);
}

const PICO_PER_NANO = 1_000n;

async function take(lanes: LaneStore, request: HoldRequest): Promise<HoldOutcome> {
  try {
    return await lanes.hold(request);
  } catch (cause) {
    throw new Problem(
      'store_unavailable',
      'Budgets cannot be read at the moment, so nothing may be spent. Repeat the request in a few seconds.',
      {
        retryAfterSeconds: 2,
        cause,
      },
    );
  }
}

/** One hold covers whichever offer will serve: the dearest input, the dearest token out, the largest bound. */
function holdRequest(call: Call, offers: readonly Offer[]): HoldRequest {
  const { output } = call.work;
  const costs = offers.map((offer) => costBound(offer.price, offer.bound, priceFactorOf(call, offer.price)));
  const choices = output?.choices ?? 1;
  const wanted = Math.max(...offers.map((offer) => offer.outputTokens ?? 0)) * choices;
  const mayShrink = output !== null && (output.asked === undefined || call.headers.budgetPolicy === 'clamp');
  return {
    holdId: call.receiptId,
    accountId: call.grant.principal.accountId,
    at: call.startedAt,
    expiresAt: call.startedAt + HOLD_MS,
    cost: {
      fixed: costs.map((cost) => cost.fixed).reduce(maxOf, 0n),
      perOutputToken: costs.map((cost) => cost.perOutputToken).reduce(maxOf, 0n),
    },
    outputTokens: { wanted, least: mayShrink ? leastOutputTokens(wanted, choices) : wanted },
    units: unitsBound(offers.map(({ bound }) => bound)),
    ...lanesOf(call),
  };
}

/** What the call can take of a plan's quota at most, apart from the tokens out; as `unitsOf` counts it afterwards. */
function unitsBound(bounds: readonly WorkBound[]): HoldRequest['units'] {
  const most = (units: (bound: WorkBound) => number): bigint => BigInt(Math.max(...bounds.map(units)));
  const images = most((bound) => bound.images ?? 0);
  const audioSeconds = most((bound) => bound.audioSeconds ?? 0);
  const videoSeconds = most((bound) => bound.videoSeconds ?? 0);
  return {
    requests: 1n,
    ...(images > 0n
      ? { images }
      : { tokens: most((bound) => bound.inputTokens + (bound.fixedOutputTokens ?? 0) + (bound.inputCharacters ?? 0)) }),
    ...(audioSeconds > 0n && { audio_seconds: audioSeconds }),
    ...(videoSeconds > 0n && { video_seconds: videoSeconds }),
  };
}

/** The offers with their prompt counted, where that gives a tighter bound that is still a true one. */
async function countedOffers({ work }: Call, offers: readonly Offer[], tokenizer: Tokenizer): Promise<Offer[] | undefined> {
  if (!work.countedBound) return undefined;
  const counted = await Promise.all(
    offers.map(async (offer) => {
      // A bound is one only if whoever serves counts as the model's maker does.
      const isKnown = offer.targets.every(({ deployment }) => deployment.countsLikeMaker);
      const bound = isKnown ? await work.countedBound?.(offer.model, tokenizer) : undefined;
      return bound && bound.inputTokens < offer.bound.inputTokens ? { ...offer, bound } : offer;
    }),
  );
  return counted.some((offer, index) => offer !== offers[index]) ? counted : undefined;
}
