import { invalid } from './fault.ts';
import type { Form } from './form.ts';
import { listOf } from './records.ts';
import { copy, type Kind, type RecordOf, type World } from './world.ts';

const DEFAULT_LIMIT = 10;
const MAX_LIMIT = 100;

/** Newest first, a page at a time, as `limit`, `starting_after`, `ending_before` and `created` say. */
export function page<T extends { id: string; created?: number }>(url: string, form: Form, oldestFirst: readonly T[]) {
  const limit = form.integer('limit') ?? DEFAULT_LIMIT;
  if (limit < 1 || limit > MAX_LIMIT) throw invalid(`limit must be between 1 and ${MAX_LIMIT}`, { param: 'limit' });
  const after = form.text('starting_after');
  const before = form.text('ending_before');
  const isWithin = createdWithin(form);
  const all = oldestFirst.filter(({ created }) => created === undefined || isWithin(created)).toReversed();
  const indexOf = (id: string, param: string) => {
    const index = all.findIndex((one) => one.id === id);
    if (index < 0) throw invalid(`No such object: '${id}'`, { code: 'resource_missing', param });
    return index;
  };
  if (before !== undefined) {
    const end = indexOf(before, 'ending_before');
    const start = Math.max(0, end - limit);
    return { ...listOf(url, all.slice(start, end)), has_more: start > 0 };
  }
  const start = after === undefined ? 0 : indexOf(after, 'starting_after') + 1;
  return { ...listOf(url, all.slice(start, start + limit)), has_more: all.length > start + limit };
}

function createdWithin(form: Form): (created: number) => boolean {
  if (!form.has('created')) return () => true;
  const range = form.part('created');
  const [gt, gte, lt, lte] = [range?.integer('gt'), range?.integer('gte'), range?.integer('lt'), range?.integer('lte')];
  return (at) =>
    (gt === undefined || at > gt) && (gte === undefined || at >= gte) && (lt === undefined || at < lt) && (lte === undefined || at <= lte);
}

const CLAUSE = /^(metadata\[["']([^"']+)["']\]|[a-z_]+):["']([^"']*)["']$/;

/** Stripe's search: `field:"value"` and `metadata["key"]:"value"`, joined by AND. */
export function search<K extends Kind>(world: World, kind: K, form: Form) {
  const clauses = form
    .required('query')
    .split(/\s+and\s+/i)
    .map((text) => {
      const found = CLAUSE.exec(text.trim());
      if (!found) throw invalid(`We were unable to parse your search query: ${text}`, { param: 'query' });
      return { field: found[1] ?? '', key: found[2], value: found[3] ?? '' };
    });
  const matches = (record: object) =>
    clauses.every(({ field, key, value }) => {
      if (key === undefined) return String(Reflect.get(record, field)) === value;
      const metadata: unknown = Reflect.get(record, 'metadata');
      return typeof metadata === 'object' && metadata !== null && Reflect.get(metadata, key) === value;
    });
  const limit = form.integer('limit') ?? DEFAULT_LIMIT;
  const found = world
    .all(kind)
    .filter((record) => matches(record))
    .toReversed();
  form.text('page');
  return {
    object: 'search_result',
    url: `/v1/${kind}s/search`,
    data: found.slice(0, limit),
    has_more: found.length > limit,
    next_page: null,
  };
}

/** Puts objects in the place of their ids where `expand` names them, and adds what is left out otherwise. */
export function expand(world: World, answer: unknown, paths: readonly string[]): unknown {
  const expanded = copy(answer);
  for (const path of paths) expandAt(world, expanded, path.split('.'), path);
  return expanded;
}

function expandAt(world: World, at: unknown, [step = '', ...rest]: readonly string[], whole: string): void {
  if (typeof at !== 'object' || at === null) return;
  if (Array.isArray(at)) {
    for (const one of at) expandAt(world, one, [step, ...rest], whole);
    return;
  }
  const stored: unknown = Reflect.get(at, step);
  if (stored === null) return;
  const there = stored ?? included(world, at, step);
  if (there === undefined) throw invalid(`This property cannot be expanded (${step}).`, { param: 'expand' });
  const object = typeof there === 'string' ? copy(recordNamed(world, there)) : there;
  if (object === undefined) throw invalid(`This property cannot be expanded (${step}).`, { param: 'expand' });
  Reflect.set(at, step, object);
  if (rest.length > 0) expandAt(world, object, rest, whole);
}

/** Lists that Stripe leaves out of an object unless they are asked for. */
function included(world: World, at: object, step: string): unknown {
  const [id, object] = [String(Reflect.get(at, 'id')), String(Reflect.get(at, 'object'))];
  const of = <K extends Kind>(kind: K, isOne: (record: RecordOf<K>) => boolean) =>
    copy(listOf(`/v1/${kind}s`, world.all(kind).filter(isOne)));
  if (object === 'invoice' && step === 'payments') return of('invoice_payment', ({ invoice }) => invoice === id);
  if (object === 'charge' && step === 'refunds') return of('refund', ({ charge }) => charge === id);
  if (object === 'customer' && step === 'subscriptions') return of('subscription', ({ customer }) => customer === id);
  if (object === 'checkout.session' && step === 'line_items')
    return listOf(`/v1/checkout/sessions/${id}/line_items`, sessionLines(world, id));
  return undefined;
}

export function sessionLines(world: World, sessionId: string) {
  const lines = world.sessionOrders.get(sessionId)?.lines ?? [];
  return lines.map(({ amount, name, priceId, quantity }, index) => ({
    id: `li_${sessionId.slice('cs_test_'.length)}${index}`,
    object: 'item',
    adjustable_quantity: null,
    amount_discount: 0,
    amount_subtotal: amount * quantity,
    amount_tax: 0,
    amount_total: amount * quantity,
    currency: 'usd',
    description: name,
    metadata: {},
    price: world.peek('price', priceId) ?? null,
    quantity,
  }));
}

function recordNamed(world: World, id: string): object | undefined {
  for (const table of Object.values(world.tables)) {
    const found: unknown = table.get(id);
    if (typeof found === 'object' && found !== null) return found;
  }
  return undefined;
}
