import type { ModelDefinition, ModelKind, PriceInput, PriceTerms } from '@tallygate/contract';
import { sql } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { type Actor, type Origin, recordAudit } from '../../audit/index.ts';
import { createGate } from '../../kernel/gate.ts';
import { invalidInput } from '../../kernel/invalid-input.ts';
import { Problem } from '../../kernel/problem.ts';
import { firstOf } from '../../kernel/statements.ts';
import { faultOfNames } from './dead-names.ts';
import type { PriceLog } from './declared-prices.ts';
import { faultOfTerms } from './entry.ts';
import type { LiveCatalog } from './live-catalog.ts';
import type { CatalogModel } from './model.ts';
import type { WrittenPrice } from './price.ts';
import { FIRST_STARTS_NOW, NOT_DATED_BACK } from './price-timeline.ts';
import { modelNotFound, notItsId } from './refusals.ts';
import { type Changing, changingCatalog, deleteDefinition, writeDefinition, writeOwnPrice } from './store.ts';
import { tables } from './tables.ts';

/** Who changes the catalogue, for the audit log. */
export interface By {
  /** Null on the server itself. */
  readonly accountId: string | null;
  readonly actor: Actor;
  readonly origin?: Origin;
}

/** Who has the server in their hands. */
export const OPERATOR: By = { accountId: null, actor: { kind: 'system', id: null } };

interface AdministrationDeps {
  readonly pool: Pool;
  readonly catalog: LiveCatalog;
  readonly log?: PriceLog | undefined;
}

/** What administrators change of the catalogue: in force here when it returns, on other gateways within a second. */
export class CatalogAdministration {
  readonly #changing: Changing;
  readonly #catalog: LiveCatalog;
  readonly #inTurn = createGate(1);

  constructor({ pool, catalog, log }: AdministrationDeps) {
    this.#changing = { pool, log };
    this.#catalog = catalog;
  }

  /**
   * @param price its own from now on, or from a moment that it names: set with the definition, or neither is
   * @throws Problem `validation_failed` where a rung of its ladder cannot stand in for it, its kind cannot be charged at its price, or a name in it
   *   could never be meant
   */
  async define(id: string, definition: ModelDefinition, by: By, price?: PriceInput): Promise<CatalogModel> {
    await this.#change(async (client) => {
      const fault = this.#faultOf(id, definition);
      if (fault) throw invalidInput([fault]);
      const before = await writeDefinition(client, id, 'admin', definition);
      await recordAudit(client, {
        ...by,
        action: before ? 'model.changed' : 'model.defined',
        target: { kind: 'model', id },
        changes: changesOf(before, definition),
      });
      if (price) await writePriceOf({ id, kind: this.#kindOf(id, definition) }, price, { client, by });
    });
    const model = this.#catalog.all.find((one) => one.id === id);
    if (!model) throw new Error(`${id} was defined and is not there`);
    return model;
  }

  /**
   * A price is of a model's id. Under its other names callers may mean less than all of it: one provider, one day's version.
   * One for the moment of another that is not charged yet replaces that.
   * @throws Problem `model_not_found`, `validation_failed`
   */
  price(name: string, price: PriceInput, by: By): Promise<{ model: CatalogModel; written: WrittenPrice }> {
    return this.#change(async (client) => {
      const asked = this.#catalog.resolve(name);
      if (!asked) throw modelNotFound(name, this.#catalog);
      const { model } = asked;
      if (model.id !== name) throw notItsId(name, asked, price);
      return { model, written: await writePriceOf(model, price, { client, by }) };
    });
  }

  /**
   * Takes back what an administrator said of a model: what the file, the shipped list and the providers say of it counts again. Its prices stay.
   * @throws Problem `model_not_found` where no administrator has said anything of it
   */
  remove(id: string, by: By): Promise<void> {
    return this.#change(async (client) => {
      const definition = await deleteDefinition(client, id, 'admin');
      if (!definition) throw this.#notDefined(id);
      await recordAudit(client, {
        ...by,
        action: 'model.removed',
        target: { kind: 'model', id },
        changes: { ...definition },
      });
    });
  }

  /** One change at a time, on all gateways, each judged by what the one before has left. */
  #change<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      const done = await changingCatalog(this.#changing, async (client) => {
        await this.#catalog.refresh();
        return work(client);
      });
      await this.#catalog.refresh();
      return done;
    });
  }

  #notDefined(id: string): Problem {
    const known = this.#catalog.all.find((model) => model.id === id);
    if (!known) return modelNotFound(id, this.#catalog);
    const way = known.source === 'file' ? 'take it out of MODELS_FILE' : `define it with \`retired\`, the day from which it is refused`;
    return new Problem('model_not_found', `No administrator has defined the model ${id}: ${way}.`, { param: 'model' });
  }

  #kindOf(id: string, { kind }: Pick<ModelDefinition, 'kind'>): ModelKind {
    return kind ?? this.#catalog.all.find((model) => model.id === id)?.kind ?? 'chat';
  }

  #faultOf(id: string, { ladder = [], ...definition }: ModelDefinition) {
    const unusable = faultOfNames(id, definition, this.#catalog);
    if (unusable) return { loc: ['body', ...unusable.path], msg: unusable.fault, type: 'invalid' };
    const known = this.#catalog.all.find((model) => model.id === id);
    const kind = this.#kindOf(id, definition);
    const index = ladder.findIndex((rung) => rung === id || this.#catalog.find(rung)?.kind !== kind);
    if (index >= 0) return { loc: ['body', 'ladder', index], msg: `is no other ${kind} model of the catalogue`, type: 'invalid' };
    const [newest] = known?.history.pricings ?? [];
    const missing = newest && faultOfTerms(kind, { usd_per_million: newest.prices });
    return missing && { loc: ['body', 'kind'], msg: `does not fit the price that the model has: ${missing}`, type: 'invalid' };
  }
}

async function writePriceOf(
  { id, kind }: Pick<CatalogModel, 'id' | 'kind'>,
  { effective_from, source, ...terms }: PriceInput,
  { client, by }: { readonly client: PoolClient; readonly by: By },
): Promise<WrittenPrice> {
  const missing = faultOfTerms(kind, terms);
  if (missing !== undefined) throw invalidInput([{ loc: ['body', 'usd_per_million'], msg: missing, type: 'missing' }]);
  if (effective_from !== undefined) {
    const priced = tables.selectFrom('catalog_prices').select('version').where('model_id', '=', id).limit(1);
    const isPast = tables.selectNoFrom(sql<boolean>`${effective_from}::timestamptz < clock_timestamp()`.as('past'));
    const fault = (await firstOf(client, isPast))?.past ? NOT_DATED_BACK : !(await firstOf(client, priced)) && FIRST_STARTS_NOW;
    if (fault) throw invalidInput([{ loc: ['body', 'effective_from'], msg: fault, type: 'invalid' }]);
  }
  const made = await writeOwnPrice(client, id, { ...terms, effective_from, version: undefined, cited: source ?? null });
  if (!made) throw new Error(`The price of ${id} was not written`);
  await recordAudit(client, {
    ...by,
    action: 'model.priced',
    target: { kind: 'model', id },
    changes: { version: made.version, effective_from: new Date(made.effectiveFrom).toISOString(), price: termsInWords(terms) },
  });
  return made;
}

const changesOf = (before: ModelDefinition | undefined, after: ModelDefinition): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(after).filter(([field, value]) => JSON.stringify(value) !== JSON.stringify(before?.[field as keyof ModelDefinition])),
  );

/** As a text: names with "token" in them are blotted out in the audit log. */
const termsInWords = ({ usd_per_million, tiers = [], service_tiers: ofTiers = {} }: PriceTerms): string =>
  [
    ...Object.entries(usd_per_million).map(([meter, usd]) => `${meter} ${usd} USD/1M`),
    ...tiers.map((tier) => `above ${tier.above_input_tokens}: ${JSON.stringify(tier.usd_per_million)}`),
    ...Object.entries(ofTiers).map(([tier, terms]) => `${tier}: (${termsInWords(terms)})`),
  ].join(', ');
