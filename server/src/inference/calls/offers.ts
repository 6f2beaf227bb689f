import { dayOf } from '../../kernel/clock.ts';
import { maxOf } from '../../kernel/money.ts';
import { Problem } from '../../kernel/problem.ts';
import {
  type Catalog,
  type CatalogModel,
  type CostBound,
  costBound,
  meterWithoutPrice,
  modelNotFound,
  modelWithoutPrice,
  OWN,
  type Price,
} from '../../money/catalog/index.ts';
import { type Call, isLive, trafficOf } from './call.ts';
import { coolingDown, type Deployments, type Skipped, type Target } from './deployments.ts';
import { allowsModel } from './key-limits.ts';
import { isAffordable, preferenceRefusal } from './preferred-work.ts';
import { isTierPriced, possiblePrices, tierWithoutPrice } from './service-tier.ts';
import type { MeterNeeded, Requirement, WorkBound } from './work.ts';

/** A model that may serve the call, with what it may cost. */
export interface Offer {
  readonly model: CatalogModel;
  /** That of the standard tier, and that of the one asked for. */
  readonly prices: readonly [Price, ...Price[]];
  readonly targets: readonly Target[];
  readonly bound: WorkBound;
  /** Of one choice; null where the endpoint has no bound on tokens out. */
  readonly outputTokens: number | null;
  /** What was left aside on the way to it, and of it. */
  readonly skipped: readonly Skipped[];
  /** All its deployments are open: of use only where no other offer is. */
  readonly isLastResort: boolean;
}

interface OfferDeps {
  readonly catalog: Catalog;
  readonly deployments: Deployments;
}

const LEAST_OUTPUT_TOKENS = 16;

/**
 * The models to try in order: the one asked for, then the caller's fallbacks that can serve the request.
 *
 * @throws Problem `model_not_found`, `no_provider_configured`, `validation_failed`, `unpriced_feature`
 */
export function offersFor(call: Call, deps: OfferDeps): Offer[] {
  const { offers, left } = possibleOffers(call, deps);
  return worthTrying(offers, left, () => noProvider(call, deps));
}

/** All of them, the ones too that are left aside at the moment. @throws Problem as {@link offersFor} */
export function allOffersFor(call: Call, deps: OfferDeps): Offer[] {
  const { offers } = possibleOffers(call, deps);
  if (offers.length === 0) throw noProvider(call, deps);
  return offers;
}

function possibleOffers(call: Call, { catalog, deployments }: OfferDeps): { offers: Offer[]; left: Skipped[] } {
  const { work, grant, startedAt, headers } = call;
  const names = headers.fallbackPolicy === 'none' ? [work.model] : [...new Set([work.model, ...work.fallbackModels])];
  const offers: Offer[] = [];
  const left: Skipped[] = [];
  for (const [index, name] of names.entries()) {
    const resolved = catalog.resolve(name);
    const isAsked = index === 0;
    const param = isAsked ? 'model' : 'models';
    if (!resolved || (resolved.provider !== null && !deployments.hasProvider(resolved.provider))) throw modelNotFound(name, catalog, param);
    const { model } = resolved;
    // Another name of what is offered already.
    if (offers.some((offer) => offer.model === model)) continue;
    if (model.retiredFrom !== null && model.retiredFrom <= startedAt) throw retired(model, param);
    if (!model.endpoints.has(work.endpoint)) throw wrongEndpoint(model, work.endpoint, param);
    const price = model.priceAt(startedAt);
    if (!price) throw modelWithoutPrice(model, param);
    const missing = unmet(model, work.needs);
    if (missing && isAsked) throw incapable(model, missing);
    const unpriced = unpricedMeter(price, work.meters);
    if (unpriced && isAsked) throw meterWithoutPrice(model, unpriced);
    const outputTokens = outputBound(call, model);
    const bound = work.bound(model);
    const isTierless = !isTierPriced(price, call);
    if (isTierless && isAsked) throw tierWithoutPrice(model, call);
    const prices = possiblePrices(price, work.serviceTier);
    const isDear = !prices.every((one) => isAffordable(one, bound, work));
    const choice = deployments.choose(model, work, trafficOf(grant), startedAt, resolved);
    if (!missing && !unpriced && !isTierless && !isDear && choice.targets.length > 0)
      offers.push({ model, prices, bound, outputTokens, ...choice });
    else
      left.push({
        model: model.id,
        deployment: null,
        provider: null,
        reason: reasonOf({ isIncapable: Boolean(missing || unpriced) || isTierless, isDear }),
      });
  }
  const wanted = work.preference?.sort === 'price' ? cheapestFirst(offers) : offers;
  // Cheaper by their nature, and nobody has asked for them: in any order they come last.
  const steps = headers.fallbackPolicy === 'semantic' ? stepsDown(call, offers, { catalog, deployments }) : [];
  return { offers: [...wanted, ...steps], left };
}

const reasonOf = ({ isIncapable, isDear }: { readonly isIncapable: boolean; readonly isDear: boolean }): Skipped['reason'] =>
  isIncapable ? 'incapable' : isDear ? 'too_dear' : 'not_deployed';

/** At the dearest of the tiers that may be charged. */
function dearestBound(prices: Offer['prices'], bound: WorkBound): CostBound {
  const costs = prices.map((price) => costBound(price, bound));
  return {
    fixed: costs.map(({ fixed }) => fixed).reduce(maxOf),
    perOutputToken: costs.map(({ perOutputToken }) => perOutputToken).reduce(maxOf),
  };
}

/** By what each may cost. What is held is the same in any order. */
function cheapestFirst(offers: readonly Offer[]): Offer[] {
  const most = ({ prices, bound, outputTokens }: Offer) => {
    const { fixed, perOutputToken } = dearestBound(prices, bound);
    return fixed + BigInt(outputTokens ?? 0) * perOutputToken;
  };
  return offers
    .map((offer) => ({ offer, most: most(offer) }))
    .sort((a, b) => Number(a.most - b.most))
    .map(({ offer }) => offer);
}

/** Open deployments are left aside while others can be tried; where all are open, that of the model asked for is tried all the same. */
function worthTrying(offers: readonly Offer[], left: readonly Skipped[], none: () => Problem): Offer[] {
  const ready = offers.filter(({ isLastResort }) => !isLastResort);
  const tried = ready.length > 0 ? ready : offers.slice(0, 1);
  const [first, ...others] = tried;
  if (!first) throw none();
  const aside = offers
    .filter((offer) => !tried.includes(offer))
    .flatMap(({ targets, skipped }) => [...targets.map(coolingDown), ...skipped]);
  return [{ ...first, skipped: [...aside, ...left, ...first.skipped] }, ...others];
}

/** Further models are of use while the provider's trouble lasts, not as a tour of the catalogue. */
const MOST_STEPS_DOWN = 3;

/**
 * Semantic degradation: down the ladder of the model asked for, the models that can do everything the request uses, whose window takes the
 * prompt, and that are dearer in no respect, so that what is held for that one covers them.
 */
function stepsDown(call: Call, offers: readonly Offer[], { catalog, deployments }: OfferDeps): Offer[] {
  const [first] = offers;
  if (!first) return [];
  const { work, grant, startedAt } = call;
  const ceiling = dearestBound(first.prices, first.bound);
  const offered = new Set(offers.map(({ model }) => model.id));
  const canServe = (model: CatalogModel) =>
    !offered.has(model.id) &&
    allowsModel(grant, model.id) &&
    model.endpoints.has(work.endpoint) &&
    !unmet(model, work.needs) &&
    (model.contextWindow === null || first.bound.inputTokens <= model.contextWindow);
  return first.model.ladder
    .flatMap((id) => catalog.find(id) ?? [])
    .filter(canServe)
    .flatMap((model) => {
      const price = model.priceAt(startedAt);
      if (!price || unpricedMeter(price, work.meters) || !isTierPriced(price, call)) return [];
      const bound = work.bound(model);
      const prices = possiblePrices(price, work.serviceTier);
      if (!prices.every((one) => isAffordable(one, bound, work))) return [];
      const cost = dearestBound(prices, bound);
      if (cost.fixed > ceiling.fixed || cost.perOutputToken > ceiling.perOutputToken) return [];
      const choice = deployments.choose(model, work, trafficOf(grant), startedAt);
      const outputTokens = first.outputTokens === null ? null : Math.min(first.outputTokens, model.maxOutputTokens ?? first.outputTokens);
      return choice.targets.length === 0 ? [] : [{ model, prices, ...choice, bound, outputTokens }];
    })
    .slice(0, MOST_STEPS_DOWN);
}

/** Where neither a model's window nor its answers' length is known: what the servers of small models take. */
const OUTPUT_UNKNOWN = 4_096;

/** Many clients name one bound for models of any size: what is above that of the model is lowered to it, which changes no answer. */
function outputBound({ work }: Call, model: CatalogModel): number | null {
  if (!work.output) return null;
  const { asked, roughPromptTokens } = work.output;
  const most = model.maxOutputTokens ?? model.contextWindow ?? asked ?? OUTPUT_UNKNOWN;
  // Providers refuse a bound that does not fit into the window behind the prompt. No hold rests on this, so a rough count will do.
  const room = model.contextWindow === null ? Number.MAX_SAFE_INTEGER : model.contextWindow - roughPromptTokens;
  if (asked === undefined) return Math.max(LEAST_OUTPUT_TOKENS, Math.min(most, room));
  return Math.min(asked, most);
}

export const leastOutputTokens = (wanted: number, choices: number): number => Math.min(wanted, LEAST_OUTPUT_TOKENS * choices);

export const unmet = (model: CatalogModel, needs: readonly Requirement[]): Requirement | undefined =>
  needs.find(({ capability }) => !model.capabilities.has(capability));

/** What the request lets the provider bill and the price does not name, on the way to any of its tiers: it would be free. */
const unpricedMeter = ({ unit, tiers }: Price, needed: readonly MeterNeeded[] = []): MeterNeeded | undefined =>
  needed.find(({ meter }) => [unit, ...tiers.map((tier) => tier.unit)].some((prices) => prices[meter] === undefined));

function incapable(model: CatalogModel, { capability, param }: Requirement): Problem {
  const msg = `${model.id} does not support ${capability.replaceAll('_', ' ')}`;
  return new Problem('validation_failed', `${msg}: choose another model, or leave \`${param}\` out.`, {
    param,
    errors: [{ loc: ['body', param], msg, type: 'unsupported' }],
  });
}

/** The first rung of its ladder is what its provider recommends in its place. */
function retired({ id, retiredFrom, ladder: [successor] }: CatalogModel, param: string): Problem {
  const way = successor === undefined ? '' : ` Ask for ${successor} in its place.`;
  return new Problem('model_not_found', `The model ${id} was retired by its provider on ${dayOf(retiredFrom ?? 0)}.${way}`, { param });
}

function wrongEndpoint(model: CatalogModel, endpoint: string, param: string): Problem {
  const detail = `The model ${model.id} does not serve ${endpoint}; it serves ${[...model.endpoints].join(', ')}.`;
  return new Problem('model_not_found', detail, { param });
}

/** Providers of the shipped list that a key alone does not open. */
const WITHOUT_VARIABLE: ReadonlySet<string> = new Set(['azure', 'bedrock', 'vertex']);

function noProvider({ work, grant, startedAt }: Call, { catalog, deployments }: OfferDeps): Problem {
  const name = work.model;
  const model = catalog.find(name);
  const unwanted = model && preferenceRefusal({ model, work, traffic: trafficOf(grant), startedAt }, deployments);
  if (unwanted) return unwanted;
  const { id, provider } = model ?? { id: name, provider: OWN };
  const refusal = (detail: string, param = 'model') => new Problem('no_provider_configured', detail, { param });
  if (model && deployments.serves(model) && work.serviceTier !== undefined)
    return refusal(`The providers of ${id} know no service tiers: leave \`service_tier\` out.`, 'service_tier');
  const isServed = model !== undefined && catalog.resolve(name)?.provider === null && deployments.serves(model);
  // The sandbox serves every model.
  if (isServed || !isLive(grant.principal)) {
    return work.dialects.map((dialect) => dialect.refusal?.()).find((one) => one !== undefined) ?? withoutLike(id, work.endpoint);
  }
  const hasVariable = model?.sources.includes('shipped') && !WITHOUT_VARIABLE.has(provider);
  const way = hasVariable
    ? `set ${provider.toUpperCase()}_API_KEY or list it in PROVIDERS_FILE`
    : `list it in PROVIDERS_FILE at the provider that serves it${provider === OWN ? '' : `, ${provider}`}`;
  return refusal(`No deployment serves ${id} for live keys: ${way}, or use a tg_test_ key for the sandbox.`);
}

/** The model is served, but not what is asked of it: to repeat the request is of no use, as it would be where a provider is missing. */
function withoutLike(id: string, endpoint: Call['work']['endpoint']): Problem {
  const refused = (param: string, detail: string) =>
    new Problem('validation_failed', detail, { param, errors: [{ loc: ['body', param], msg: detail, type: 'unsupported' }] });
  switch (endpoint) {
    case '/v1/messages':
      return refused(
        'tools',
        `The providers of ${id} do not have /v1/messages, and what this request asks has no like in chat completions: Anthropic's own tools, for one (\`bash_20250124\`). Name a model of Anthropic's, or describe the tools with an \`input_schema\`.`,
      );
    case '/v1/responses':
      return refused(
        'model',
        `The providers of ${id} are not known to have /v1/responses, and what this request asks has no like in chat completions: tools, for one, other than functions and custom tools. Leave them out, name another model, or have the operator set "responses": true at a provider in PROVIDERS_FILE that has it.`,
      );
    default:
      return new Problem(
        'no_provider_configured',
        `The providers of ${id} do not serve ${endpoint} as it is asked here: name another model or provider.`,
        { param: 'model' },
      );
  }
}
