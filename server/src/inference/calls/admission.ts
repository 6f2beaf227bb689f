import type { ReceiptUsage } from '@tallygate/contract';
import {
  type Held,
  type HoldOutcome,
  type HoldRequest,
  type InFlight,
  LARGEST_HOLD,
  LARGEST_UNITS,
  type LaneStore,
  type PartSettlement,
  type Refused,
  type Settled,
  type Units,
} from '../../adapters/lanes/port.ts';
import type { Clock } from '../../kernel/clock.ts';
import { newReceiptId } from '../../kernel/ids.ts';
import { formatUsd, maxOf, type NanoUsd, picoToNano } from '../../kernel/money.ts';
import { Problem } from '../../kernel/problem.ts';
import { andThen, type Soon } from '../../kernel/soon.ts';
import { type Catalog, type CatalogModel, costBound } from '../../money/catalog/index.ts';
import type { PlanBook, RateLimits } from '../../money/plans/index.ts';
import { type Call, priceFactorOf, projectOf } from './call.ts';
import { lanesOf, limitLanesOf, type Payer, payerOf, runLanes } from './caller-lanes.ts';
import { requireWindow } from './context-length.ts';
import type { Deployments, Skipped, Target } from './deployments.ts';
import { requireModels } from './key-limits.ts';
import { moneyRefusal } from './money-refusal.ts';
import { allOffersFor, leastOutputTokens, type Offer, offersFor } from './offers.ts';
import { rateDraw, rateLimited } from './rate-limits.ts';
import type { Reply } from './reply.ts';
import type { Tokenizer } from './tokenizer.ts';
import { unitsBound } from './units-bound.ts';

export interface AdmissionDeps {
  readonly catalog: Catalog;
  readonly plans: Pick<PlanBook, 'of' | 'offered' | 'isSelling'>;
  readonly deployments: Deployments;
  readonly lanes: LaneStore;
  readonly tokenizer: Tokenizer;
  readonly clock: Clock;
  /** Of all test keys of an account together. */
  readonly testRates: RateLimits;
  /** Told of every call that a cap refuses. It must not make the refusal wait. */
  onRefused(refused: Refused, call: Pick<Call, 'grant' | 'startedAt'>): void;
}

/** A request whose worst-case cost is held: from here on it has to be settled. */
export interface Admission extends Payer {
  readonly call: Call;
  readonly hold: Held;
  /** What to try, in order. */
  readonly targets: readonly Target[];
  /** What it was held for, by model. */
  readonly offers: readonly Offer[];
  /** What is left aside. */
  readonly skipped: readonly Skipped[];
  /** Bound on the tokens of one choice: held, and sent to the provider. Null where the endpoint has none. */
  readonly maxOutputTokens: number | null;
  /** The lanes of limits that it is held on; undefined where there are none. */
  readonly limitLanes: readonly string[] | undefined;
  /** Whether that bound is ours rather than the caller's. */
  readonly isBoundOurs: boolean;
  /** What was held with it: what settles it should this process die while the provider of the first attempt is at work. */
  readonly inFlight?: InFlight;
  /** Where the call has no hold of its own, but a share of one that many draw from. */
  readonly share?: Share;
}

/** What a call came to. */
export interface ShareSettlement extends Omit<PartSettlement, 'partId' | 'reserved'> {
  readonly usage: ReceiptUsage;
}

/** An answer that the caller fetches later. */
export interface KeptAnswer extends Pick<Reply, 'status' | 'body'> {
  /** That there will be a receipt, signed. */
  readonly promise: string | undefined;
}

/** A call's share of a hold that is there already. */
export interface Share {
  /** As the lanes' `begin`: what settles the share should its process die while a provider is at work. */
  begin(inFlight: InFlight): Promise<void>;
  /** No provider is at work any more, and none bills: the share is as it was before `begin`. */
  end(attempt: number): Promise<void>;
  /**
   * Settles the call out of that hold, once, with what the caller will be told.
   * @throws when it cannot be made durable; the call may then be settled again
   */
  settle(settlement: ShareSettlement, answer: KeptAnswer): Promise<Settled>;
}

/**
 * Holds what the provider of an attempt may bill that is left behind, under a receipt of its own; undefined where that does not fit. The
 * call's own hold is for the next attempt.
 */
export async function admitLeft(
  { call, maxOutputTokens, offers }: Admission,
  target: Target,
  deps: AdmissionDeps,
): Promise<Admission | undefined> {
  const offer = offers.find(({ model }) => model === target.model);
  if (!offer) throw new Error(`${target.model.id} was not offered`);
  const left = { ...call, receiptId: newReceiptId(deps.clock.now()), keepPromise: undefined };
  const request = holdRequest(left, [offer], deps);
  const perChoice = Math.min(maxOutputTokens ?? 0, target.model.maxOutputTokens ?? Number.POSITIVE_INFINITY);
  const tokens = perChoice * (call.work.output?.choices ?? 1);
  const hold = await take(deps.lanes, { ...request, at: deps.clock.now(), outputTokens: { wanted: tokens, least: tokens } });
  return hold.held ? { ...admitted(left, [offer], { hold, plans: deps.plans }), maxOutputTokens } : undefined;
}

/**
 * Holds the worst-case cost of the call on all its lanes, or refuses it: the only way to a provider. The cheap bound on the prompt (its
 * bytes) is tried first; only where it does not fit is the prompt counted.
 *
 * @throws Problem `budget_exceeded`, `budget_in_flight`, `model_not_found`, `no_provider_configured`, `validation_failed`, `unpriced_feature`, `store_unavailable`,
 *   `rate_limited`, `model_not_allowed`, `context_length_exceeded`
 * @param inFlightOf what settles the call should this process die, as it is admitted whole
 */
export function admit(call: Call, deps: AdmissionDeps, inFlightOf?: (admission: Admission) => InFlight): Soon<Admission> {
  requireModels(call, deps.catalog);
  const offers = offersFor(call, deps);
  return andThen(requireWindow(call.work, offers, deps.tokenizer), () => holdWhole({ call, offers, inFlightOf }, deps));
}

interface Offered {
  readonly call: Call;
  readonly offers: readonly Offer[];
  readonly inFlightOf: ((admission: Admission) => InFlight) | undefined;
}

/** The whole bound, by the cheap count. Where that fits, and the lanes are in memory, it takes no turn of the event loop. */
function holdWhole({ call, offers, inFlightOf }: Offered, deps: AdmissionDeps): Soon<Admission> {
  const rates = rateDraw(call, modelOf(offers), deps);
  const whole = holdRequest(call, offers, deps);
  const worst = worstOf(whole);
  refuseBeyondAnyHold(worst, call.work.cheaper);
  const { wanted } = whole.outputTokens;
  const asWhole = admitted(call, offers, {
    hold: { held: true, outputTokens: wanted, amount: worst.amount, lanes: [] },
    plans: deps.plans,
  });
  const inFlight = inFlightOf?.(asWhole);
  const taking = take(deps.lanes, { ...whole, outputTokens: { wanted, least: wanted }, rates, ...(inFlight && { inFlight }) });
  return andThen(taking, (outcome) => {
    if (outcome.held) return { ...asWhole, hold: outcome, ...(inFlight && { inFlight }) };
    return holdLess({ call, offers, inFlightOf }, { whole, rates, outcome }, deps);
  });
}

interface NotHeld {
  readonly whole: HoldRequest;
  readonly rates: ReturnType<typeof rateDraw>;
  readonly outcome: Exclude<HoldOutcome, Held>;
}

/** Only where the whole does not fit is the prompt counted, and the bound lowered where it may be. */
async function holdLess({ call, offers, inFlightOf }: Offered, { whole, rates, outcome: first }: NotHeld, deps: AdmissionDeps) {
  if (!('refusedBy' in first) && call.work.lighter) return admit({ ...call, work: call.work.lighter() }, deps, inFlightOf);
  const { wanted } = whole.outputTokens;
  let held = offers;
  let outcome: HoldOutcome = first;
  if (!('refusedBy' in outcome)) {
    const counted = await countedOffers(call, offers, deps.tokenizer);
    held = counted ?? offers;
    if (counted || whole.outputTokens.least < wanted)
      outcome = await take(deps.lanes, { ...(counted ? holdRequest(call, counted, deps) : whole), rates });
  }
  if ('refusedBy' in outcome) throw rateLimited(outcome, call.work.cheaper);
  if (!outcome.held) {
    deps.onRefused(outcome, call);
    throw moneyRefusal(outcome, { cheaper: call.work.cheaper, plans: deps.plans });
  }

  return admitted(call, held, { hold: outcome, plans: deps.plans });
}

function admitted(
  call: Call,
  offers: readonly Offer[],
  { hold, plans }: { readonly hold: Held; readonly plans: AdmissionDeps['plans'] },
): Admission {
  const { output } = call.work;
  const maxOutputTokens = output ? Math.floor(hold.outputTokens / output.choices) : null;
  return {
    call,
    hold,
    offers,
    targets: offers.flatMap((offer) => offer.targets),
    skipped: offers.flatMap((offer) => offer.skipped),
    maxOutputTokens,
    isBoundOurs: output !== null && maxOutputTokens !== output.asked,
    limitLanes: limitLanesOf(call, modelOf(offers)),
    ...payerOf(call, plans),
  };
}

/**
 * A call that an answer is kept for: it counts among the requests of its rate limits and in its run, and takes nothing of any budget, so that
 * one which is used up does not refuse it.
 * @throws Problem as {@link admit}
 */
export async function admitCached(call: Call, model: CatalogModel, deps: AdmissionDeps): Promise<Admission> {
  requireModels(call, deps.catalog);
  const hold = await take(deps.lanes, {
    holdId: call.receiptId,
    accountId: call.grant.principal.accountId,
    projectId: projectOf(call.grant),
    at: call.startedAt,
    cost: { fixed: 0n, perOutputToken: 0n },
    outputTokens: { wanted: 0, least: 0 },
    units: {},
    lanes: runLanes(call),
    quota: null,
    funds: null,
    rates: { ...rateDraw(call, model.id, deps), tokens: 0 },
  });
  if ('refusedBy' in hold) throw rateLimited(hold, call.work.cheaper);
  if (!hold.held) throw moneyRefusal(hold, { cheaper: call.work.cheaper, plans: deps.plans });
  return {
    ...{ call, hold, offers: [], targets: [], skipped: [], maxOutputTokens: null, isBoundOurs: false, limitLanes: undefined },
    ...payerOf(call, deps.plans),
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
export function worstCaseOf(call: Call, deps: Pick<AdmissionDeps, 'catalog' | 'deployments' | 'plans'>): WorstCase {
  requireModels(call, deps.catalog);
  const worst = worstOf(holdRequest(call, allOffersFor(call, deps), deps));
  refuseBeyondAnyHold(worst, call.work.cheaper);
  return worst;
}

/** Whatever the caps: amounts are kept in 64 bits, and what would not fit could be answered and never be settled. @throws Problem `validation_failed` */
export function refuseBeyondAnyHold({ amount, units }: WorstCase, cheaper: string): void {
  const most = (what: string, limit: string) =>
    new Problem('validation_failed', `This request may ${what}, and no request can hold more than ${limit}: ${cheaper}.`, {
      errors: [{ loc: ['body'], msg: `may ${what}; the most is ${limit}`, type: 'too_big' }],
    });
  if (amount > LARGEST_HOLD) throw most(`cost up to ${formatUsd(amount)} USD`, `${formatUsd(LARGEST_HOLD)} USD`);
  for (const [meter, count] of Object.entries(units))
    if (count > LARGEST_UNITS) throw most(`use up to ${count} ${meter.replaceAll('_', ' ')}`, `${LARGEST_UNITS}`);
}

function worstOf({ cost, units, unitsPerOutputToken = 1, outputTokens }: HoldRequest): WorstCase {
  const tokens = BigInt(outputTokens.wanted);
  return {
    amount: picoToNano(cost.fixed + tokens * cost.perOutputToken),
    units: { ...units, tokens: (units['tokens'] ?? 0n) + tokens * BigInt(unitsPerOutputToken) },
  };
}

/**
 * Admits a call to its share of a hold, which was taken for its {@link worstCaseOf}. What has become dearer since, or was deployed after that,
 * is not tried. @throws Problem as {@link worstCaseOf}, and `budget_exceeded` where nothing is left to be tried
 */
export function admitToShare(
  call: Call,
  reserved: NanoUsd,
  share: Share,
  deps: Pick<AdmissionDeps, 'catalog' | 'deployments' | 'plans'>,
): Admission {
  requireModels(call, deps.catalog);
  const offers = offersFor(call, deps).filter((offer) => worstOf(holdRequest(call, [offer], deps)).amount <= reserved);
  if (offers.length === 0)
    throw new Problem('budget_exceeded', 'What was held for this request does not cover it any more: send it again.');
  const { outputTokens } = holdRequest(call, offers, deps);
  const hold = { held: true, outputTokens: outputTokens.wanted, amount: reserved, lanes: [] } as const;
  return { ...admitted(call, offers, { hold, plans: deps.plans }), share };
}

/** @throws Problem `store_unavailable` */
export function take(lanes: LaneStore, request: HoldRequest): Soon<HoldOutcome> {
  try {
    const taking = lanes.hold(request);
    return taking instanceof Promise ? taking.catch(unreadable) : taking;
  } catch (cause) {
    return unreadable(cause);
  }
}

function unreadable(cause: unknown): never {
  const detail = 'Budgets cannot be read at the moment, so nothing may be spent. Repeat the request in a few seconds.';
  throw new Problem('store_unavailable', detail, { retryAfterSeconds: 2, cause });
}

/** One hold covers whichever offer will serve: the dearest input, the dearest token out, the largest bound. */
function holdRequest(call: Call, offers: readonly Offer[], { plans }: Pick<AdmissionDeps, 'plans'>): HoldRequest {
  const { output } = call.work;
  const costs = offers.flatMap(({ prices, bound }) => prices.map((price) => costBound(price, bound, priceFactorOf(call, price))));
  const choices = output?.choices ?? 1;
  const wanted = Math.max(...offers.map((offer) => offer.outputTokens ?? 0)) * choices;
  const mayShrink = output !== null && (output.asked === undefined || call.headers.budgetPolicy === 'clamp');
  return {
    holdId: call.receiptId,
    accountId: call.grant.principal.accountId,
    projectId: projectOf(call.grant),
    at: call.startedAt,
    cost: {
      fixed: costs.map((cost) => cost.fixed).reduce(maxOf, 0n),
      perOutputToken: costs.map((cost) => cost.perOutputToken).reduce(maxOf, 0n),
    },
    outputTokens: { wanted, least: mayShrink ? leastOutputTokens(wanted, choices) : wanted },
    ...unitsBound(offers.map(({ bound }) => bound)),
    ...lanesOf(call, plans, modelOf(offers)),
  };
}

/** Under which of the models limits count the call: the one that is tried first, whichever answers in the end. */
const modelOf = ([first]: readonly Offer[]): string | undefined => first?.model.id;

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
