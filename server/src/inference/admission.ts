import type { Held, HoldOutcome, HoldRequest, LaneState, LaneStore, MoneyLane, Refused, Units } from '../adapters/lanes/port.ts';
import { type Catalog, type CatalogModel, costBound, modelNotFound, type Price } from '../catalog/index.ts';
import { type Clock, monthEnd, monthOf, rfc3339 } from '../kernel/clock.ts';
import { formatUsd, maxOf } from '../kernel/money.ts';
import { Problem } from '../kernel/problem.ts';
import { laneId } from '../ledger/index.ts';
import { planOf } from '../plans/index.ts';
import { type Call, choiceCount, isLive, keyIdOf } from './call.ts';
import type { Deployments, Target } from './deployments.ts';
import { boundText, inputTokenBound, type PromptSize, promptSize } from './input-bound.ts';
import { allowsModel, requireModels } from './key-limits.ts';
import { rateDraw, rateHeaders, rateLimited } from './rate-limits.ts';
import { refuseUnpriced, requirementsOf, unmet } from './requirements.ts';
import { runHeaders } from './response-headers.ts';
import type { Tokenizer } from './tokenizer.ts';

export interface AdmissionDeps {
  readonly catalog: Catalog;
  readonly deployments: Deployments;
  readonly lanes: LaneStore;
  readonly tokenizer: Tokenizer;
  readonly clock: Clock;
  /** Told of every call that a cap refuses. It must not make the refusal wait. */
  onRefused(refused: Refused, call: Call): void;
}

/** A request whose worst-case cost is held: from here on it has to be settled. */
export interface Admission {
  readonly call: Call;
  readonly hold: Held;
  /** What to try, in order. */
  readonly targets: readonly Target[];
  /** Bound on the tokens of one choice: held, and sent to the provider. */
  readonly maxOutputTokens: number;
  /** Whether that bound is ours rather than the caller's. */
  readonly isBoundOurs: boolean;
  readonly size: PromptSize;
  readonly funding: 'test' | 'balance' | 'invoice' | 'none';
  /** The run's lane, where the call belongs to one. */
  readonly run: LaneState | undefined;
}

/** A model that may serve the call, with what it may cost. */
interface Offer {
  readonly model: CatalogModel;
  readonly price: Price;
  readonly targets: readonly Target[];
  readonly inputTokens: number;
  readonly outputTokens: number;
}

const LEAST_OUTPUT_TOKENS = 16;
/** A hold that nobody renews counts no longer: its gateway is gone. Plain calls may take as long as the provider's first-byte limit. */
export const HOLD_MS = 15 * 60_000;
const RETRY_IN_FLIGHT_SECONDS = 1;

/**
 * Holds the worst-case cost of the call on all its lanes, or refuses it. The cheap bound on the prompt (its bytes) is tried first; only
 * where it does not fit is the prompt counted.
 *
 * @throws Problem `budget_exceeded`, `budget_in_flight`, `model_not_found`, `no_provider_configured`, `validation_failed`, `unpriced_feature`, `store_unavailable`,
 *   `rate_limited`, `model_not_allowed`
 */
export async function admit(call: Call, deps: AdmissionDeps): Promise<Admission> {
  refuseUnpriced(call.request);
  requireModels(call);
  const size = promptSize(call.request, call.body);
  const offers = offersFor(call, size, deps);
  const rates = rateDraw(call, size, requestedBound(call));
  const whole = holdRequest(call, offers);
  // First the whole bound, by the cheap count. Only where that does not fit is the prompt counted, and the bound lowered where it may be.
  let outcome = await take(deps.lanes, { ...whole, outputTokens: { ...whole.outputTokens, least: whole.outputTokens.wanted }, rates });
  if (!outcome.held && !('refusedBy' in outcome)) {
    const counted = await countedOffers(call, size, offers, deps.tokenizer);
    if (counted || whole.outputTokens.least < whole.outputTokens.wanted)
      outcome = await take(deps.lanes, { ...(counted ? holdRequest(call, counted) : whole), rates });
  }
  if ('refusedBy' in outcome) throw rateLimited(outcome);
  if (!outcome.held) {
    deps.onRefused(outcome, call);
    throw refusal(outcome);
  }

  const maxOutputTokens = Math.floor(outcome.outputTokens / choiceCount(call.request));
  return {
    call,
    hold: outcome,
    targets: offers.flatMap((offer) => offer.targets),
    maxOutputTokens,
    isBoundOurs: maxOutputTokens !== requestedBound(call),
    size,
    funding: fundingOf(call),
    run: outcome.lanes.find(({ source }) => source === 'agent_run'),
  };
}

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

/** The bound that the caller asks for, of one choice; undefined when they leave it open. */
function requestedBound({ request }: Call): number | undefined {
  const bounds = [request.max_tokens, request.max_completion_tokens].filter((bound) => typeof bound === 'number');
  return bounds.length === 0 ? undefined : Math.min(...bounds);
}

/** The models to try in order: the one asked for, then the caller's fallbacks that can serve the request. */
function offersFor(call: Call, size: PromptSize, { catalog, deployments }: AdmissionDeps): Offer[] {
  const { request, grant, startedAt } = call;
  const needs = requirementsOf(request);
  const names = call.headers.fallbackPolicy === 'none' ? [request.model] : [...new Set([request.model, ...(request.models ?? [])])];
  const offers: Offer[] = [];
  for (const [index, name] of names.entries()) {
    const model = catalog.find(name);
    const param = index === 0 ? 'model' : 'models';
    if (!model) throw modelNotFound(name, param);
    if (!model.endpoints.has(call.endpoint)) throw wrongEndpoint(model, call.endpoint, param);
    const price = model.priceAt(startedAt);
    if (!price) throw new Problem('unpriced_feature', `The model ${name} has no price yet, so no cap could hold it.`, { param: 'model' });
    const missing = unmet(model, needs);
    if (missing && name === request.model) throw incapable(model, missing);
    const outputTokens = outputBound(call, model, size);
    const targets = deployments.targets(model, isLive(grant.principal), startedAt);
    if (!missing && targets.length > 0) offers.push({ model, price, targets, inputTokens: inputTokenBound(model, size), outputTokens });
  }
  if (call.headers.fallbackPolicy === 'semantic') offers.push(...stepsDown(call, size, offers, { catalog, deployments }));
  if (offers.length === 0) throw noProvider(request.model, catalog);
  return offers;
}

/** Further models are of use while the provider's trouble lasts, not as a tour of the catalogue. */
const MOST_STEPS_DOWN = 3;

/**
 * Semantic degradation: models that can do everything the request uses, whose window takes the prompt, and that are dearer than the model
 * asked for in no respect, so that what is held for that one covers them. The nearest in price first.
 */
function stepsDown(
  call: Call,
  size: PromptSize,
  offers: readonly Offer[],
  { catalog, deployments }: Pick<AdmissionDeps, 'catalog' | 'deployments'>,
): Offer[] {
  const [first] = offers;
  if (!first) return [];
  const needs = requirementsOf(call.request);
  const ceiling = costBound(first.price, first.inputTokens);
  const offered = new Set(offers.map(({ model }) => model.id));
  return catalog.models
    .flatMap((model) => {
      const price = model.priceAt(call.startedAt);
      const inputTokens = inputTokenBound(model, size);
      if (
        !price ||
        offered.has(model.id) ||
        !allowsModel(call.grant, model.id) ||
        !model.endpoints.has(call.endpoint) ||
        unmet(model, needs)
      )
        return [];
      if (model.contextWindow !== null && first.inputTokens > model.contextWindow) return [];
      const bound = costBound(price, inputTokens);
      if (bound.fixed > ceiling.fixed || bound.perOutputToken > ceiling.perOutputToken) return [];
      const targets = deployments.targets(model, isLive(call.grant.principal), call.startedAt);
      const outputTokens = Math.min(first.outputTokens, model.maxOutputTokens ?? first.outputTokens);
      return targets.length === 0 ? [] : [{ model, price, targets, inputTokens, outputTokens, perOutputToken: bound.perOutputToken }];
    })
    .sort((a, b) => Number(b.perOutputToken - a.perOutputToken))
    .slice(0, MOST_STEPS_DOWN);
}

function outputBound(call: Call, model: CatalogModel, size: PromptSize): number {
  const requested = requestedBound(call);
  const most = model.maxOutputTokens ?? model.contextWindow ?? 0;
  if (requested === undefined) return Math.max(LEAST_OUTPUT_TOKENS, Math.min(most, roomForOutput(model, size)));
  if (requested <= most) return requested;
  if (model.id !== call.request.model) return most;
  const param = call.request.max_completion_tokens === requested ? 'max_completion_tokens' : 'max_tokens';
  const msg = `${model.id} gives at most ${most} tokens`;
  throw new Problem('validation_failed', `\`${param}\` is too large: ${msg}.`, {
    param,
    errors: [{ loc: ['body', param], msg, type: 'too_big' }],
  });
}

const ROUGH_BYTES_PER_TOKEN = 2;

/** Providers refuse a bound that does not fit into the window behind the prompt. No hold rests on this, so a rough count of the prompt will do. */
const roomForOutput = ({ contextWindow }: CatalogModel, { textBytes }: PromptSize): number =>
  contextWindow === null ? Number.MAX_SAFE_INTEGER : contextWindow - Math.ceil(textBytes / ROUGH_BYTES_PER_TOKEN);

/** One hold covers whichever offer will serve: the dearest input, the dearest token out, the largest bound. */
function holdRequest(call: Call, offers: readonly Offer[]): HoldRequest {
  const bounds = offers.map((offer) => costBound(offer.price, offer.inputTokens));
  const perOutputToken = bounds.map((bound) => bound.perOutputToken).reduce(maxOf, 0n);
  const predicted = predictionBytes(call);
  const choices = choiceCount(call.request);
  const wanted = Math.max(...offers.map((offer) => offer.outputTokens)) * choices;
  const mayShrink = requestedBound(call) === undefined || call.headers.budgetPolicy === 'clamp';
  const inputTokens = Math.max(...offers.map((offer) => offer.inputTokens));
  return {
    holdId: call.receiptId,
    accountId: call.grant.principal.accountId,
    at: call.startedAt,
    expiresAt: call.startedAt + HOLD_MS,
    cost: { fixed: bounds.map((bound) => bound.fixed).reduce(maxOf, 0n) + BigInt(predicted) * perOutputToken, perOutputToken },
    outputTokens: { wanted, least: mayShrink ? Math.min(wanted, LEAST_OUTPUT_TOKENS * choices) : wanted },
    units: { requests: 1n, tokens: BigInt(inputTokens + predicted) },
    ...lanesOf(call),
  };
}

/** Rejected tokens of a predicted output are billed as output on top of the answer: at most as many as the prediction has bytes. */
const predictionBytes = ({ request }: Call): number =>
  request['prediction'] ? Buffer.byteLength(JSON.stringify(request['prediction'])) : 0;

function lanesOf(call: Call): Pick<HoldRequest, 'lanes' | 'quota' | 'funds'> {
  const { principal, monthlyCap, plan } = call.grant;
  const { accountId } = principal;
  const livemode = isLive(principal);
  const keyId = keyIdOf(principal);
  const month = monthOf(call.startedAt);
  const resetsAt = monthEnd(month).getTime();
  const lanes: MoneyLane[] = [];
  const { runId, runCap } = call.headers;
  if (runId !== null) {
    lanes.push({ id: laneId.run(accountId, livemode, runId), source: 'agent_run', cap: runCap, capRule: 'tightening', resetsAt: null });
  }
  if (keyId !== null) lanes.push({ id: laneId.key(keyId, month), source: 'key', cap: monthlyCap, capRule: 'given', resetsAt });
  if (!livemode) {
    return {
      lanes,
      quota: null,
      funds: { id: laneId.testFunds(accountId, month), source: 'balance', cap: null, capRule: 'given', resetsAt },
    };
  }
  const { quota, overage } = planOf(plan);
  const quotaLane = { id: laneId.quota(accountId, month), caps: quota as Units, resetsAt };
  switch (overage.kind) {
    case 'block':
      return { lanes, quota: quotaLane, funds: null };
    case 'balance':
      return {
        lanes,
        quota: quotaLane,
        funds: { id: laneId.balance(accountId), source: 'balance', cap: null, capRule: 'credited', resetsAt: null },
      };
    case 'invoice':
      return {
        lanes,
        quota: quotaLane,
        funds: { id: laneId.invoice(accountId, month), source: 'balance', cap: overage.ceiling, capRule: 'given', resetsAt },
      };
    default:
      return overage satisfies never;
  }
}

function fundingOf({ grant }: Call): Admission['funding'] {
  if (!isLive(grant.principal)) return 'test';
  const { kind } = planOf(grant.plan).overage;
  return kind === 'block' ? 'none' : kind;
}

/** The offers with their prompt counted, where that gives a tighter bound that is still a true one. */
async function countedOffers(call: Call, size: PromptSize, offers: readonly Offer[], tokenizer: Tokenizer): Promise<Offer[] | undefined> {
  if (size.isOpenEnded) return undefined;
  const text = boundText(call.request);
  const counted = await Promise.all(
    offers.map(async (offer) => {
      // A bound is one only if whoever serves counts as the model's maker does.
      const { tokenizer: encoding } = offer.model;
      const isKnown = offer.targets.every(({ deployment }) => deployment.countsLikeMaker);
      const tokens = encoding && isKnown ? await tokenizer.count(encoding, text) : undefined;
      if (!tokens) return offer;
      return { ...offer, inputTokens: Math.min(offer.inputTokens, inputTokenBound(offer.model, { ...size, textBytes: tokens })) };
    }),
  );
  return counted.some((offer, index) => offer.inputTokens !== offers[index]?.inputTokens) ? counted : undefined;
}

const LIMIT_NAMES = {
  agent_run: 'the ceiling of this agent run',
  key: 'the monthly cap of this API key',
  plan_quota: 'the quota of your plan',
  balance: 'your balance',
};

function refusal({ lane, lanes, required, resetsAt, mayFitLater, rates }: Refused): Problem {
  const headers = { ...rateHeaders(rates), ...runHeaders(lanes.find(({ source }) => source === 'agent_run')) };
  const budget = {
    limit_source: lane.source,
    cap_usd: formatUsd(lane.cap ?? 0n),
    spent_usd: formatUsd(lane.spent),
    held_usd: formatUsd(lane.held),
    required_usd: formatUsd(required),
    resets_at: resetsAt === null ? null : rfc3339(resetsAt),
  };
  const limit = LIMIT_NAMES[lane.source];
  if (mayFitLater) {
    const detail = `Running requests hold what is left under ${limit}: up to ${budget.required_usd} USD are needed. Repeat shortly.`;
    return new Problem('budget_in_flight', detail, { budget, headers, retryAfterSeconds: RETRY_IN_FLIGHT_SECONDS });
  }
  const detail = `This request may cost up to ${budget.required_usd} USD, which does not fit under ${limit}: lower max_tokens, or raise the limit.`;
  return new Problem('budget_exceeded', detail, { budget, headers });
}

function incapable(model: CatalogModel, { capability, param }: { capability: string; param: string }): Problem {
  const msg = `${model.id} does not support ${capability.replaceAll('_', ' ')}`;
  return new Problem('validation_failed', `${msg}: choose another model, or leave \`${param}\` out.`, {
    param,
    errors: [{ loc: ['body', param], msg, type: 'unsupported' }],
  });
}

function wrongEndpoint(model: CatalogModel, endpoint: string, param: string): Problem {
  const detail = `The model ${model.id} does not serve ${endpoint}; it serves ${[...model.endpoints].join(', ')}.`;
  return new Problem('model_not_found', detail, { param });
}

function noProvider(name: string, catalog: Catalog): Problem {
  const provider = catalog.find(name)?.provider ?? 'its';
  const variable = `${provider.toUpperCase()}_API_KEY`;
  const detail = `No deployment serves ${name} for live keys: set ${variable} or list one in PROVIDERS_FILE, or use a tg_test_ key for the sandbox.`;
  return new Problem('no_provider_configured', detail, { param: 'model' });
}
