import { hash } from 'node:crypto';
import type { ReceiptUsage } from '@tallygate/contract';
import { quotaUnits } from '@tallygate/receipts';
import type { InFlight, Settled } from '../../adapters/lanes/port.ts';
import { madeOnce } from '../../kernel/made-once.ts';
import { minOf, type NanoUsd } from '../../kernel/money.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Soon } from '../../kernel/soon.ts';
import { type Cost, costOf, type Price, type UnitPrices, usageBound } from '../../money/catalog/index.ts';
import type { SettlementRecord } from '../../money/ledger/index.ts';
import type { Admission } from './admission.ts';
import type { Delivered } from './answer-form.ts';
import { type Call, isLive, keyIdOf, priceFactorOf, projectOf } from './call.ts';
import type { ServedBy, Target } from './deployments.ts';
import type { InferenceDeps } from './deps.ts';
import type { Reply } from './reply.ts';
import { keptPromise } from './response-headers.ts';
import { isSeen, type Running } from './running-calls.ts';
import type { Served } from './served.ts';
import { chargedPrice, servedAt } from './service-tier.ts';
import { atLeast, withPromptOf } from './usage.ts';
import type { WorkBound } from './work.ts';

/** At the price in force when the request arrived. */
export function costOfUsage({ call }: Pick<Admission, 'call'>, served: ServedBy, usage: ReceiptUsage): Cost {
  const price = priceOf(call, served);
  return costOf(price, usage, priceFactorOf(call, price));
}

function priceOf(call: Call, served: ServedBy): Price {
  const price = chargedPrice(call, served);
  if (!price) throw new Error(`${served.model.id} was admitted without a price`);
  return price;
}

/** What of that cost the account pays: at most what was held, which is what the answer's promise names. The rest of a larger bill is waived. */
export const paidCost = (admission: Admission, target: Target, usage: ReceiptUsage): NanoUsd =>
  minOf(costOfUsage(admission, target, usage).nanoUsd, admission.hold.amount);

/** Where the provider sent no count. */
export const ourCount = (
  { call, maxOutputTokens }: Admission,
  { model }: Target,
  delivered: Delivered,
  { tokenizer }: Pick<InferenceDeps, 'tokenizer'>,
): Promise<ReceiptUsage> => call.work.estimate(model, delivered, maxOutputTokens, tokenizer);

/** The most that the call can use at this target, which is what was held for it. */
export function mostUsage(admission: Admission, target: Target): ReceiptUsage {
  const offer = admission.offers.find(({ model }) => model === target.model);
  return usageWithin(admission, target, offer?.bound ?? admission.call.work.bound(target.model));
}

function usageWithin({ call, maxOutputTokens }: Admission, target: Target, bound: WorkBound): ReceiptUsage {
  const { model } = target;
  const price = priceOf(call, target);
  const perChoice = Math.min(maxOutputTokens ?? 0, model.maxOutputTokens ?? Number.POSITIVE_INFINITY);
  const usage = usageBound(price, bound, perChoice * (call.work.output?.choices ?? 1));
  return bound.images ? { ...usage, images: bound.images } : usage;
}

const NO_BODY_SHA256 = hash('sha256', '', 'hex');

/**
 * Makes known what settles the call should this process die while a provider is at work. To be awaited before that one is asked.
 * @param attempt under which it is settled then
 * @param tried what was asked before: of targets of one price, that of another deployment is named
 * @throws (or rejects) when it cannot be made durable: the provider must not be asked then
 */
export function beginInFlight(
  admission: Admission,
  attempt: number,
  deps: Pick<InferenceDeps, 'lanes'>,
  tried: Served['attempts'] = [],
): void | Promise<void> {
  return admission.inFlight && attempt === FIRST
    ? deps.lanes.begin(admission.inFlight)
    : beginAt(admission, mostOf(admission, attempt, tried), deps);
}

/** What settles the call should this process die while the provider of its first attempt is at work. */
export const firstInFlight = (admission: Admission): InFlight => inFlightOf(admission, mostOf(admission, FIRST));

const FIRST = 1;

/**
 * The same for an answer that is there and is about to be stored: should this process die before it is settled, what the provider did is
 * charged, and no longer all that was held.
 * @throws Problem `store_unavailable` when it cannot be made durable: the answer must not be given away then
 */
export async function beginStoring(admission: Admission, served: Served, deps: Pick<InferenceDeps, 'lanes'>): Promise<void> {
  try {
    await beginAt(admission, { ...served, ...UNTOLD }, deps);
  } catch (cause) {
    throw withheld(cause);
  }
}

function beginAt(admission: Admission, served: Served, { lanes }: Pick<InferenceDeps, 'lanes'>): void | Promise<void> {
  const inFlight = inFlightOf(admission, served);
  return admission.share ? admission.share.begin(inFlight) : lanes.begin(inFlight);
}

function inFlightOf(admission: Admission, served: Served): InFlight {
  const cost = costOfUsage(admission, served.target, served.usage);
  const record = JSON.stringify(recordOf(admission, served, cost));
  return { holdId: admission.call.receiptId, cost: cost.nanoUsd, units: quotaUnits(served.usage), record };
}

/** What came of a call whose process died: nobody was told all of it. */
const UNTOLD = { outcome: 'abandoned', responseSha256: NO_BODY_SHA256, firstByteAt: null } as const;

/** The most that the call can come to. */
function mostOf(admission: Admission, attempt: number, tried: Served['attempts'] = []): Served {
  const { call } = admission;
  let dearest: { readonly target: Target; readonly usage: ReceiptUsage; readonly cost: NanoUsd } | undefined;
  for (const target of possibleTargets(admission, tried)) {
    const usage = mostUsage(admission, target);
    const cost = costOfUsage(admission, target, usage).nanoUsd;
    if (!dearest || cost > dearest.cost) dearest = { target, usage, cost };
  }
  if (!dearest) throw new Error('An admission has at least one target');
  const { target, usage } = dearest;
  const isOther = tried.length > 0 && tried[0]?.deployment !== target.deployment.name;
  return {
    target,
    attempts: tried,
    attempt,
    fallback: target.model.id !== call.work.model ? 'model' : isOther ? 'deployment' : 'none',
    usage,
    estimated: true,
    completedAt: call.startedAt,
    overheadMs: 0,
    ...UNTOLD,
  };
}

/** Of each model the first target that was not asked yet, then the first: who asks for another tier may be served at the standard one. */
function possibleTargets({ call, offers }: Admission, tried: Served['attempts']): Target[] {
  const asked = new Set(tried.map(({ deployment }) => deployment));
  const untried = offers.map(({ targets }) => targets.find(({ deployment }) => !asked.has(deployment.name)));
  const possible = [...untried, ...offers.map(({ targets }) => targets[0])].filter((target) => target !== undefined);
  return call.work.serviceTier ? possible.flatMap((target) => [target, servedAt(target, 'default')]) : possible;
}

/** What came of an answer that was cut. */
interface Came {
  readonly delivered: Delivered;
  /** What the provider had said of the prompt, where what it says of that is exact. */
  readonly promptSaid: ReceiptUsage | undefined;
  /** The most that the provider had said. */
  readonly usageSaid: ReceiptUsage | undefined;
}

/** What a provider may generate between its last chunk and the moment at which the cancellation reaches it. */
const UNSEEN_TOKENS = 512;

/**
 * The usage of a call that was cut from our side before its provider said it: at least what the provider bills. Where it stopped billing,
 * that is what came; all that may have been generated unseen counts at its bound, and where it goes on, everything does.
 */
export async function usageWhenCut(
  admission: Admission,
  target: Target,
  { endedBy }: Pick<Running, 'endedBy'>,
  came: Came | undefined,
  deps: Pick<InferenceDeps, 'tokenizer'>,
): Promise<ReceiptUsage> {
  const most = mostUsage(admission, target);
  const corrected = (usage: ReceiptUsage) => atLeast(came?.usageSaid, withPromptOf(came?.promptSaid, usage));
  if (endedBy !== 'client') return corrected(most);
  const { work } = admission.call;
  const counted = target.deployment.countsLikeMaker ? await work.countedBound?.(target.model, deps.tokenizer) : undefined;
  const within = counted ? usageWithin(admission, target, counted) : most;
  if (!isSeen(admission.call, target)) return corrected(within);
  const seen = came ? (await ourCount(admission, target, came.delivered, deps)).output_tokens : 0;
  const output_tokens = Math.min(within.output_tokens, seen + UNSEEN_TOKENS);
  return corrected({ ...within, output_tokens });
}

/**
 * Replaces the hold by the actual cost, of which the account pays at most what was held, and makes the record of it durable, once. To be called
 * before the last byte leaves. A record that cannot be written is written later, as that of an answer that nobody was told all of.
 *
 * @param answer what the caller will be told, for who has to keep it; a stream has been told already
 * @throws Problem `store_unavailable` when the record cannot be written: the answer must then not be completed
 */
export function settle(
  admission: Admission,
  served: Served,
  { lanes, unsettled, promises }: Pick<InferenceDeps, 'lanes' | 'unsettled' | 'promises'>,
  answer?: Pick<Reply, 'status' | 'body'>,
): Soon<Settled> {
  const cost = costOfUsage(admission, served.target, served.usage);
  const { usage, outcome } = served;
  const units = outcome === 'failed' || outcome === 'cached' ? {} : quotaUnits(usage);
  const rateTokens = Number(units['tokens'] ?? 0n);
  const record = JSON.stringify(recordOf(admission, served, cost));
  if (admission.share && answer) {
    const promise = keptPromise(admission, served.target.model.id, { promises });
    return admission.share.settle({ cost: cost.nanoUsd, units, record, usage }, { ...answer, promise });
  }
  const settlement = { holdId: admission.call.receiptId, cost: cost.nanoUsd, units, record, rateTokens };
  const failed = (cause: unknown): never => {
    const untold = outcome === 'failed' ? record : JSON.stringify(recordOf(admission, { ...served, ...UNTOLD }, cost));
    unsettled.add(settlement.holdId, () => lanes.settle({ ...settlement, record: untold }));
    givePromise(admission, served, { promises });
    throw withheld(cause);
  };
  const written = (settled: Settled | undefined): Settled => {
    if (!settled) throw withheld(new Error('the hold is gone'));
    givePromise(admission, served, { promises });
    return settled;
  };
  let settling: Soon<Settled | undefined>;
  try {
    settling = lanes.settle(settlement);
  } catch (cause) {
    return failed(cause);
  }
  return settling instanceof Promise ? settling.catch(failed).then(written) : written(settling);
}

/** A receipt is certain now: also of a call that has failed or was cancelled. */
function givePromise(admission: Admission, { target }: Served, deps: Pick<InferenceDeps, 'promises'>): void {
  const { keepPromise } = admission.call;
  const promise = keepPromise && keptPromise(admission, target.model.id, deps);
  if (promise !== undefined) keepPromise?.(promise);
}

const withheld = (cause: unknown) =>
  new Problem('store_unavailable', 'The usage of this request could not be recorded, so its answer is withheld. Repeat the request.', {
    retryAfterSeconds: 2,
    cause,
  });

/** Nothing came of the call: frees its hold, now or as soon as it can be. Never rejects. */
export async function releaseLater({ call }: Pick<Admission, 'call'>, { lanes, log, unsettled }: InferenceDeps): Promise<void> {
  try {
    await lanes.release(call.receiptId);
  } catch (error) {
    log.warn({ err: error, requestId: call.requestId }, 'the hold of a call that came to nothing cannot be freed yet');
    unsettled.add(call.receiptId, () => lanes.release(call.receiptId));
  }
}

/**
 * Members are set to `undefined` rather than spread in: JSON leaves them out, and V8 makes every record by the same plan. What is spread in comes
 * last: V8 defines each member behind it by a call of its own.
 */
function recordOf({ call, hold, funding, plan, limitLanes }: Admission, served: Served, cost: Cost): SettlementRecord {
  const { principal } = call.grant;
  const price = chargedPrice(call, served.target);
  return {
    kind: call.kind ?? call.work.kind,
    receiptId: call.receiptId,
    requestId: call.requestId,
    attempt: (call.attemptsBefore ?? 0) + served.attempt,
    clientRequestId: call.clientRequestId,
    limitLanes,
    runId: call.headers.runId,
    ancestorRunIds: call.run && call.run.ancestors.length > 0 ? call.run.ancestors : undefined,
    livemode: isLive(principal),
    funding,
    plan,
    endpoint: call.work.endpoint,
    stream: call.work.isStream,
    modelRequested: call.work.model,
    modelServed: served.target.model.id,
    provider: served.target.deployment.provider,
    fallback: served.fallback,
    outcome: served.outcome,
    attempts: served.attempts,
    skipped: served.skipped && served.skipped.length > 0 ? served.skipped : undefined,
    usage: served.usage,
    estimated: served.estimated,
    priceVersion: price?.version ?? '',
    priceTier: cost.tierAboveInputTokens,
    unitPrices: writtenPrices(cost.unit),
    priceFactor: call.kind && price ? priceFactorOf(call, price) : undefined,
    held: hold.amount.toString(),
    cost: cost.nanoUsd.toString(),
    clientSignature: call.clientSignature,
    anchorWished: call.headers.anchorWished,
    requestSha256: call.work.requestSha256(),
    responseSha256: served.responseSha256,
    startedAt: call.startedAt,
    firstByteAt: served.firstByteAt,
    completedAt: served.completedAt,
    overheadMs: served.overheadMs,
    ...whoseOf(call),
  };
}

/** Whose the call is, and what for. */
const whoseOf = ({ grant, headers }: Call) => ({
  accountId: grant.principal.accountId,
  keyId: keyIdOf(grant.principal),
  userId: grant.principal.userId,
  projectId: projectOf(grant),
  endUser: headers.endUser,
  tags: headers.tags,
});

/** By price version and tier, of which there are few: every settlement repeats them. */
const writtenPrices = madeOnce(
  (unit: UnitPrices): Readonly<Record<string, string>> =>
    Object.fromEntries(Object.entries(unit).map(([meter, price]) => [meter, price.toString()])),
);
