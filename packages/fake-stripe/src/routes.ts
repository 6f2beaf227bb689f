import { createPrice, createProduct, updatePrice, updateProduct } from './catalogue.ts';
import { createSession, expireSession } from './checkout.ts';
import { attach, createCustomer, createPaymentMethod, deleteCustomer, detach, updateCustomer } from './customers.ts';
import type { Form } from './form.ts';
import { createInvoiceItem, deleteInvoiceItem } from './invoice-lines.ts';
import { createInvoice, finalise, markUncollectible, payInvoice, voidInvoice } from './invoices.ts';
import { page, search, sessionLines } from './listing.ts';
import { cancelPaymentIntent, confirmPaymentIntent, createPaymentIntent } from './payments.ts';
import { createPortalSession } from './portal.ts';
import { closeDispute, createRefund } from './refunds.ts';
import { cancelSchedule, createSchedule, releaseSchedule, updateSchedule } from './schedules.ts';
import { cancelSubscription, createSubscription, previewInvoice, updateSubscription } from './subscriptions.ts';
import { createWebhookEndpoint, deleteWebhookEndpoint } from './webhook-endpoints.ts';
import type { Kind, RecordOf, World } from './world.ts';

type Handler = (world: World, form: Form, id: string) => object;
type Filter<K extends Kind> = (form: Form) => (record: RecordOf<K>) => boolean;

const routes = new Map<string, Handler>();
const on = (pattern: string, handler: Handler) => void routes.set(pattern, handler);

/** `GET` of the list and of one, as all kinds of objects have them. */
function readable<K extends Kind>(path: string, kind: K, filter: Filter<K> = () => () => true): void {
  on(`GET /v1/${path}`, (world, form) => page(`/v1/${path}`, form, world.all(kind).filter(filter(form))));
  on(`GET /v1/${path}/:id`, (world, _form, id) => world.find(kind, id));
}

/** Lets through what is named by one of these parameters, where it is sent. */
const by =
  <K extends Kind>(...names: readonly (keyof RecordOf<K> & string)[]): Filter<K> =>
  (form) => {
    const wanted = names.map((name) => [name, form.text(name)] as const);
    return (record) => wanted.every(([name, value]) => value === undefined || String(record[name]) === value);
  };

const both =
  <K extends Kind>(first: Filter<K>, second: Filter<K>): Filter<K> =>
  (form) => {
    const [one, other] = [first(form), second(form)];
    return (record) => one(record) && other(record);
  };

readable('customers', 'customer', by('email'));
on('POST /v1/customers', createCustomer);
on('POST /v1/customers/:id', (world, form, id) => updateCustomer(world, id, form));
on('DELETE /v1/customers/:id', (world, _form, id) => deleteCustomer(world, id));
on('GET /v1/customers/search', (world, form) => search(world, 'customer', form));
on('GET /v1/customers/:id/payment_methods', (world, form, id) => {
  const type = form.text('type');
  const owned = world.all('payment_method').filter((one) => one.customer === id && (type ?? one.type) === one.type);
  return page(`/v1/customers/${id}/payment_methods`, form, owned);
});

readable('payment_methods', 'payment_method', by('customer', 'type'));
on('POST /v1/payment_methods', createPaymentMethod);
on('POST /v1/payment_methods/:id/attach', (world, form, id) => attach(world, id, form.required('customer')));
on('POST /v1/payment_methods/:id/detach', (world, _form, id) => detach(world, id));

readable('products', 'product', by('active'));
on('POST /v1/products', createProduct);
on('POST /v1/products/:id', (world, form, id) => updateProduct(world, id, form));
on('GET /v1/products/search', (world, form) => search(world, 'product', form));

readable(
  'prices',
  'price',
  both(by('active', 'product', 'type'), (form) => {
    const keys = form.texts('lookup_keys');
    return ({ lookup_key: key }) => keys.length === 0 || keys.includes(key ?? '');
  }),
);
on('POST /v1/prices', createPrice);
on('POST /v1/prices/:id', (world, form, id) => updatePrice(world, id, form));
on('GET /v1/prices/search', (world, form) => search(world, 'price', form));

readable('checkout/sessions', 'checkout.session', by('customer', 'payment_intent', 'subscription', 'status'));
on('POST /v1/checkout/sessions', createSession);
on('POST /v1/checkout/sessions/:id/expire', (world, _form, id) => expireSession(world, id));
on('GET /v1/checkout/sessions/:id/line_items', (world, form, id) =>
  page(`/v1/checkout/sessions/${world.find('checkout.session', id).id}/line_items`, form, sessionLines(world, id)),
);
on('POST /v1/billing_portal/sessions', createPortalSession);

readable('payment_intents', 'payment_intent', by('customer'));
on('POST /v1/payment_intents', createPaymentIntent);
on('POST /v1/payment_intents/:id/confirm', (world, form, id) => confirmPaymentIntent(world, id, form));
on('POST /v1/payment_intents/:id/cancel', (world, _form, id) => cancelPaymentIntent(world, id));
on('GET /v1/payment_intents/search', (world, form) => search(world, 'payment_intent', form));
readable('charges', 'charge', by('customer', 'payment_intent'));
readable('refunds', 'refund', by('charge', 'payment_intent'));
on('POST /v1/refunds', createRefund);
readable('disputes', 'dispute', by('charge', 'payment_intent'));
on('POST /v1/disputes/:id/close', (world, _form, id) => closeDispute(world, id, 'lost'));

readable('subscriptions', 'subscription', (form) => {
  const [customer, status, price] = [form.text('customer'), form.text('status'), form.text('price')];
  return (one) =>
    (customer === undefined || one.customer === customer) &&
    // Ended ones are left out unless they are asked for.
    (status === 'all' || (status === undefined ? one.status !== 'canceled' : one.status === status)) &&
    (price === undefined || one.items.data.some((item) => item.price.id === price));
});
on('POST /v1/subscriptions', createSubscription);
on('POST /v1/subscriptions/:id', (world, form, id) => updateSubscription(world, id, form));
on('DELETE /v1/subscriptions/:id', (world, form, id) => cancelSubscription(world, id, form));
on('GET /v1/subscriptions/search', (world, form) => search(world, 'subscription', form));

readable('subscription_schedules', 'subscription_schedule', by('customer'));
on('POST /v1/subscription_schedules', createSchedule);
on('POST /v1/subscription_schedules/:id', (world, form, id) => updateSchedule(world, id, form));
on('POST /v1/subscription_schedules/:id/release', (world, form, id) => releaseSchedule(world, id, form));
on('POST /v1/subscription_schedules/:id/cancel', (world, form, id) => cancelSchedule(world, id, form));

readable(
  'invoices',
  'invoice',
  both(by('customer', 'status'), (form) => {
    const subscription = form.text('subscription');
    return ({ parent }) => subscription === undefined || parent?.subscription_details?.subscription === subscription;
  }),
);
on('POST /v1/invoices', createInvoice);
on('POST /v1/invoices/create_preview', previewInvoice);
on('POST /v1/invoices/:id/finalize', (world, form, id) => {
  form.flag('auto_advance');
  return finalise(world, world.find('invoice', id));
});
on('POST /v1/invoices/:id/pay', (world, form, id) => payInvoice(world, world.find('invoice', id), form));
on('POST /v1/invoices/:id/void', (world, _form, id) => voidInvoice(world, world.find('invoice', id)));
on('POST /v1/invoices/:id/mark_uncollectible', (world, _form, id) => markUncollectible(world, world.find('invoice', id)));
on('GET /v1/invoices/:id/lines', (world, form, id) =>
  page(`/v1/invoices/${id}/lines`, form, world.find('invoice', id).lines.data.toReversed()),
);
on('GET /v1/invoices/search', (world, form) => search(world, 'invoice', form));

readable('invoiceitems', 'invoiceitem', by('customer', 'invoice'));
on('POST /v1/invoiceitems', createInvoiceItem);
on('DELETE /v1/invoiceitems/:id', (world, _form, id) => deleteInvoiceItem(world, id));
readable(
  'invoice_payments',
  'invoice_payment',
  both(by('invoice', 'status'), (form) => {
    const payment = form.part('payment');
    payment?.text('type');
    const intent = payment?.text('payment_intent');
    return (one) => intent === undefined || one.payment.payment_intent === intent;
  }),
);

readable(
  'events',
  'event',
  both(by('type'), (form) => {
    const types = form.texts('types');
    return ({ type }) => types.length === 0 || types.includes(type);
  }),
);
readable('webhook_endpoints', 'webhook_endpoint');
on('POST /v1/webhook_endpoints', createWebhookEndpoint);
on('DELETE /v1/webhook_endpoints/:id', (world, _form, id) => deleteWebhookEndpoint(world, id));

/** The handler of a path, with the id that is in it. */
export function routeOf(method: string, path: string): ((world: World, form: Form) => object) | undefined {
  const exact = routes.get(`${method} ${path}`);
  if (exact) return (world, form) => exact(world, form, '');
  const steps = path.split('/');
  for (const index of [steps.length - 1, steps.length - 2]) {
    const id = decodeURIComponent(steps[index] ?? '');
    const found = routes.get(`${method} ${steps.with(index, ':id').join('/')}`);
    if (found) return (world, form) => found(world, form, id);
  }
  return undefined;
}
