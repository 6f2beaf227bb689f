import { type Catalog, type CatalogModel, costBound, modelNotFound, type Price } from '../catalog/index.ts';
import { Problem } from '../kernel/problem.ts';
import { type Call, isLive } from './call.ts';
import { coolingDown, type Deployments, type Skipped, type Target } from './deployments.ts';
import { allowsModel } from './key-limits.ts';
import type { Requirement, WorkBound } from './work.ts';

/** A model that may serve the call, with what it may cost. */
export interface Offer {
  readonly model: CatalogModel;
  readonly price: Price;
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
  return worthTrying(offers, left, () => noProvider(call.work.model, deps.catalog));
}

/** All of them, the ones too that are left aside at the moment. @throws Problem as {@link offersFor} */
export function allOffersFor(call: Call, deps: OfferDeps): Offer[] {
  const { offers } = possibleOffers(call, deps);
  if (offers.length === 0) throw noProvider(call.work.model, deps.catalog);
  return offers;
}

function possibleOffers(call: Call, { catalog, deployments }: OfferDeps): { offers: Offer[]; left: Skipped[] } {
  const { work, grant, startedAt, headers } = call;
  const names = headers.fallbackPolicy === 'none' ? [work.model] : [...new Set([work.model, ...work.fallbackModels])];
  const offers: Offer[] = [];
  const left: Skipped[] = [];
  for (const [index, name] of names.entries()) {
    const model = catalog.find(name);
    const param = index === 0 ? 'model' : 'models';
    if (!model) throw modelNotFound(name, param);
    if (!model.endpoints.has(work.endpoint)) throw wrongEndpoint(model, work.endpoint, param);
    const price = model.priceAt(startedAt);
    if (!price) throw new Problem('unpriced_feature', `The model ${name} has no price yet, so no cap could hold it.`, { param: 'model' });
    const missing = unmet(model, work.needs);
    if (missing && name === work.model) throw incapable(model, missing);
    const outputTokens = outputBound(call, model);
    const choice = deployments.choose(model, work, isLive(grant.principal), startedAt);
    if (!missing && choice.targets.length > 0) offers.push({ model, price, ...choice, bound: work.bound(model), outputTokens });
    else left.push({ model: name, deployment: null, provider: null, reason: missing ? 'incapable' : 'not_deployed' });
  }
  if (headers.fallbackPolicy === 'semantic') offers.push(...stepsDown(call, offers, { catalog, deployments }));
  return { offers, left };
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
  const ceiling = costBound(first.price, first.bound);
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
      if (!price) return [];
      const bound = work.bound(model);
      const cost = costBound(price, bound);
      if (cost.fixed > ceiling.fixed || cost.perOutputToken > ceiling.perOutputToken) return [];
      const choice = deployments.choose(model, work, isLive(grant.principal), startedAt);
      const outputTokens = first.outputTokens === null ? null : Math.min(first.outputTokens, model.maxOutputTokens ?? first.outputTokens);
      return choice.targets.length === 0 ? [] : [{ model, price, ...choice, bound, outputTokens }];
    })
    .slice(0, MOST_STEPS_DOWN);
}

function outputBound({ work }: Call, model: CatalogModel): number | null {
  if (!work.output) return null;
  const { asked, param, roughPromptTokens } = work.output;
  const most = model.maxOutputTokens ?? model.contextWindow ?? 0;
  // Providers refuse a bound that does not fit into the window behind the prompt. No hold rests on this, so a rough count will do.
  const room = model.contextWindow === null ? Number.MAX_SAFE_INTEGER : model.contextWindow - roughPromptTokens;
  if (asked === undefined) return Math.max(LEAST_OUTPUT_TOKENS, Math.min(most, room));
  if (asked <= most) return asked;
  if (model.id !== work.model) return most;
  const msg = `${model.id} gives at most ${most} tokens`;
  throw new Problem('validation_failed', `\`${param}\` is too large: ${msg}.`, {
    param,
    errors: [{ loc: ['body', param], msg, type: 'too_big' }],
  });
}

export const leastOutputTokens = (wanted: number, choices: number): number => Math.min(wanted, LEAST_OUTPUT_TOKENS * choices);

export const unmet = (model: CatalogModel, needs: readonly Requirement[]): Requirement | undefined =>
  needs.find(({ capability }) => !model.capabilities.has(capability));

function incapable(model: CatalogModel, { capability, param }: Requirement): Problem {
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
