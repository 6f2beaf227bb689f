import { paySession } from './checkout.ts';
import { StripeFault } from './fault.ts';
import { Form } from './form.ts';
import { collect } from './invoices.ts';
import { setCancellation } from './subscriptions.ts';
import type { World } from './world.ts';

export interface PageAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
  readonly location?: string;
}

const PATH = /^\/(pay|invoice|portal|receipt)\/(\w+)(\/pdf)?$/;

/** The pages that Stripe hosts: checkout, invoices and their PDF, the portal. Undefined for any other path. */
export function hostedPage(world: World, method: string, path: string, body: string): PageAnswer | undefined {
  const [, kind, id = '', pdf] = PATH.exec(path) ?? [];
  if (kind === undefined) return undefined;
  const form = Form.parse(body);
  try {
    if (kind === 'pay') return checkout(world, id, method, form);
    if (kind === 'portal') return portal(world, id, method, form);
    if (kind === 'receipt') return html('Receipt', `<p>Receipt of ${escapeHtml(world.find('charge', id).id)}</p>`);
    return pdf ? invoicePdf(world, id) : invoice(world, id, method);
  } catch (thrown) {
    if (thrown instanceof StripeFault) return html('Nothing here', `<p role="alert">${escapeHtml(thrown.message)}</p>`, thrown.status);
    throw thrown;
  }
}

function checkout(world: World, id: string, method: string, form: Form): PageAnswer {
  const session = world.find('checkout.session', id);
  const done = (session.success_url ?? '').replaceAll('{CHECKOUT_SESSION_ID}', id);
  if (session.status === 'complete') return redirect(done);
  if (session.status === 'expired') return html('This page has expired', '<p role="alert">This checkout has expired.</p>', 410);
  let alert = '';
  if (method === 'POST') {
    const isDeclined = form.text('action') === 'decline';
    const declined = paySession(world, id, isDeclined ? '4000000000000002' : (form.text('card') ?? '4242424242424242'));
    if (declined === undefined) return redirect(done);
    alert = `<p role="alert">${escapeHtml(declined)}</p>`;
  }
  const lines = (world.sessionOrders.get(id)?.lines ?? []).map(
    (line) => `<li>${escapeHtml(line.name)}: ${dollars(line.amount * line.quantity)}</li>`,
  );
  const cancel = session.cancel_url === null ? '' : `<p><a href="${escapeHtml(session.cancel_url)}">Cancel</a></p>`;
  return html(
    `Pay ${dollars(session.amount_total ?? 0)}`,
    `<ul>${lines.join('')}</ul>${alert}<form method="post"><label>Card number <input name="card" value="4242 4242 4242 4242" inputmode="numeric"></label>
<button name="action" value="pay">Pay</button> <button name="action" value="decline">Decline</button></form>${cancel}`,
  );
}

function invoice(world: World, id: string, method: string): PageAnswer {
  const found = world.find('invoice', id);
  if (method === 'POST' && found.status === 'open') collect(world, found, 'on_session');
  const lines = found.lines.data.map((line) => `<li>${escapeHtml(line.description ?? '')}: ${dollars(line.amount)}</li>`);
  const button = found.status === 'open' ? '<form method="post"><button>Pay</button></form>' : '';
  return html(`Invoice ${found.number ?? ''}`, `<ul>${lines.join('')}</ul><p>Total ${dollars(found.total)}, ${found.status}</p>${button}`);
}

function portal(world: World, id: string, method: string, form: Form): PageAnswer {
  const session = world.find('billing_portal.session', id);
  const subscriptions = world.all('subscription').filter((one) => one.customer === session.customer && one.status !== 'canceled');
  if (method === 'POST') {
    const chosen = subscriptions.find((one) => one.id === form.text('subscription'));
    if (chosen && chosen.schedule === null) {
      setCancellation(world, chosen, form.text('action') === 'cancel');
      world.emit('customer.subscription.updated', chosen, { cancel_at_period_end: !chosen.cancel_at_period_end });
    }
  }
  const rows = subscriptions.map(
    (one) =>
      `<form method="post"><input type="hidden" name="subscription" value="${one.id}">${one.status} <button name="action" value="${one.cancel_at_period_end ? 'resume' : 'cancel'}">${one.cancel_at_period_end ? 'Renew' : 'Cancel'} plan</button></form>`,
  );
  const back = session.return_url === null ? '' : `<p><a href="${escapeHtml(session.return_url)}">Return</a></p>`;
  return html('Billing', `${rows.join('')}${back}`);
}

/** One page that says what the invoice is; enough for a reader, and for a test that looks at the first bytes. */
function invoicePdf(world: World, id: string): PageAnswer {
  const { number, total } = world.find('invoice', id);
  const text = `BT /F1 14 Tf 72 720 Td (Invoice ${number ?? id}: ${dollars(total)}) Tj ET`;
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>',
    `<</Length ${text.length}>>\nstream\n${text}\nendstream`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
  ];
  let body = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const at = body.length;
    body += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(at).padStart(10, '0')} 00000 n \n`;
  });
  const xref = `xref\n0 6\n0000000000 65535 f \n${offsets.join('')}trailer\n<</Size 6/Root 1 0 R>>\nstartxref\n${body.length}\n%%EOF\n`;
  return { status: 200, contentType: 'application/pdf', body: body + xref };
}

const redirect = (location: string): PageAnswer => ({ status: 303, contentType: 'text/plain', body: '', location });

const html = (title: string, content: string, status = 200): PageAnswer => ({
  status,
  contentType: 'text/html; charset=utf-8',
  body: `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title></head><body><main><h1>${escapeHtml(title)}</h1>${content}</main></body></html>\n`,
});

const dollars = (cents: number): string => `$${(cents / 100).toFixed(2)}`;

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
