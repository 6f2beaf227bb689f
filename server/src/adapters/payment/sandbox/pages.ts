import { pagePolicy } from '../../../kernel/page-policy.ts';
import type { Turn } from './billing.ts';
import type { Press } from './checkout.ts';
import { type DocumentOf, SandboxCard } from './documents.ts';

export interface SandboxPage {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface SandboxPages {
  /** Whether the path (without query) is one of ours. */
  handles(pathname: string): boolean;
  /**
   * @param method `GET`, `HEAD` or `POST`
   * @param form the body of a POST, `application/x-www-form-urlencoded`, at most a kilobyte
   */
  serve(method: string, pathname: string, form: string): Promise<SandboxPage>;
}

interface PageDeps {
  look<T>(work: (turn: Turn) => Promise<T>): Promise<T>;
  press(sessionId: string, button: Press): Promise<boolean>;
  payInvoice(invoiceId: string): Promise<unknown>;
  setCancellation(subscriptionId: string, cancels: boolean): Promise<unknown>;
}

const PATH = /^\/sandbox\/payments\/(pay|billing|invoices)\/(\w{1,100})$/;

/**
 * The pages that a payment provider would host. Whoever has the link may use it, so an id in it is the credential: it cannot be guessed,
 * and the page hands it to nobody.
 */
export function createSandboxPages({ look, payInvoice, press, setCancellation }: PageDeps): SandboxPages {
  const checkout = async (id: string, method: string, form: URLSearchParams): Promise<SandboxPage> => {
    let alert = '';
    if (method === 'POST') {
      const card = SandboxCard.catch('good').parse(form.get('card'));
      const isPaid = await press(id, form.get('action') === 'pay' ? { pays: card } : 'declines');
      alert = isPaid ? '' : '<p role="alert">Your card was declined. No money was taken: try again.</p>';
    }
    const session = await look(({ books }) => books.find('session', id));
    if (!session) return missing();
    if (session.status === 'complete') return method === 'POST' ? redirect(session.success_url) : page('Paid', paidContent(session));
    if (session.status === 'expired')
      return page('This page has expired', `<h1>This page has expired</h1><p>Nothing was charged.</p>${back(session.cancel_url)}`, 410);
    return page(`Pay ${dollars(session.amount_total)}`, checkoutContent(session, alert), 200, [session.success_url, session.cancel_url]);
  };

  const billing = async (id: string, method: string, form: URLSearchParams): Promise<SandboxPage> => {
    const found = await look(async ({ books, now }) => {
      const portal = await books.find('portal', id);
      if (!portal || portal.expires_at < now) return undefined;
      return {
        portal,
        subscriptions: await books.list('subscription', portal.customer),
        invoices: await books.list('invoice', portal.customer),
      };
    });
    if (!found) return missing();
    const chosen = found.subscriptions.find((one) => one.id === form.get('subscription') && one.status !== 'canceled');
    if (method === 'POST' && chosen) {
      await setCancellation(chosen.id, form.get('action') === 'cancel');
      return billing(id, 'GET', form);
    }
    return page('Billing', billingContent(found.subscriptions, found.invoices) + back(found.portal.return_url));
  };

  const invoicePage = async (id: string, method: string): Promise<SandboxPage> => {
    if (method === 'POST') await payInvoice(id);
    const invoice = await look(({ books }) => books.find('invoice', id));
    return invoice ? page(`Invoice ${invoice.number}`, invoiceContent(invoice)) : missing();
  };

  return {
    handles: (pathname) => PATH.test(pathname),
    async serve(method, pathname, body) {
      const [, kind, id = ''] = PATH.exec(pathname) ?? [];
      const form = new URLSearchParams(body);
      if (kind === 'pay') return checkout(id, method, form);
      return kind === 'billing' ? billing(id, method, form) : invoicePage(id, method);
    },
  };
}

const CARDS: Readonly<Record<SandboxCard, string>> = {
  good: 'A card that always pays',
  no_funds_later: 'A card that pays now and has no funds later',
  authentication_later: 'A card that pays now and needs its owner later',
};

function checkoutContent(session: DocumentOf<'session'>, alert: string): string {
  const options = SandboxCard.options.map((card) => `<option value="${card}">${CARDS[card]}</option>`);
  return `<h1>${escapeHtml(session.description)}</h1><p class="amount">${dollars(session.amount_total)}${session.mode === 'subscription' ? ' <span>a month</span>' : ''}</p>
<p>This is the sandbox: no money moves, and no card number is asked for.</p>${alert}
<form method="post"><label for="card">Pay with</label><select id="card" name="card">${options.join('')}</select>
<div class="buttons"><button name="action" value="pay">Pay ${dollars(session.amount_total)}</button><button class="quiet" name="action" value="decline">Decline</button></div></form>
${back(session.cancel_url, 'Cancel and go back')}`;
}

const paidContent = ({ amount_total: amount, success_url: url }: DocumentOf<'session'>): string =>
  `<h1>Paid</h1><p class="amount">${dollars(amount)}</p>${back(url, 'Continue')}`;

function billingContent(subscriptions: readonly DocumentOf<'subscription'>[], invoices: readonly DocumentOf<'invoice'>[]): string {
  const plans = subscriptions.filter(({ status }) => status !== 'canceled').map(planContent);
  const items = invoices
    .toReversed()
    .map(
      (one) =>
        `<li><a href="${escapeHtml(one.hosted_invoice_url)}">${escapeHtml(one.number)}</a> ${dollars(one.total)}, ${one.status}</li>`,
    );
  return `<h1>Billing</h1>${plans.join('') || '<p>There is no plan that is paid for.</p>'}<h2>Invoices</h2><ul>${items.join('') || '<li>None yet.</li>'}</ul>`;
}

function planContent(subscription: DocumentOf<'subscription'>): string {
  const [{ current_period_end: end, price }] = subscription.items.data;
  const date = new Date(end * 1000).toISOString().slice(0, 10);
  const next = subscription.cancel_at_period_end ? `ends on ${date}` : `renews on ${date}`;
  const [action, label] = subscription.cancel_at_period_end ? ['resume', 'Keep this plan'] : ['cancel', 'Cancel at the end of the period'];
  return `<section><h2>${escapeHtml(price.name)}</h2><p>${dollars(price.unit_amount)} a month, ${subscription.status.replace('_', ' ')}, ${next}</p>
<form method="post"><input type="hidden" name="subscription" value="${subscription.id}"><button class="quiet" name="action" value="${action}">${label}</button></form></section>`;
}

function invoiceContent(invoice: DocumentOf<'invoice'>): string {
  const rows = invoice.lines.data.map(
    ({ amount, description }) => `<tr><th scope="row">${escapeHtml(description)}</th><td>${dollars(amount)}</td></tr>`,
  );
  const total = `<tfoot><tr><th scope="row">Total</th><td>${dollars(invoice.total)}</td></tr></tfoot>`;
  const button = invoice.status === 'open' ? `<form method="post"><button>Pay ${dollars(invoice.amount_remaining)}</button></form>` : '';
  return `<h1>Invoice ${escapeHtml(invoice.number)}</h1><p>${new Date(invoice.created * 1000).toISOString().slice(0, 10)}, ${invoice.status}</p>
<table><tbody>${rows.join('')}</tbody>${total}</table>${button}`;
}

const STYLE = `body{font:16px/1.6 system-ui,sans-serif;max-width:28rem;margin:10vh auto;padding:0 1.5rem;color:#1c2024;background:#fff}
h1{font-size:1.35rem;margin:0}h2{font-size:1.1rem;margin:1.5rem 0 .25rem}.amount{font-size:2.25rem;font-weight:700;margin:.25rem 0 1rem}.amount span{font-size:1rem;font-weight:400}
label{display:block;font-weight:600;margin:1rem 0 .25rem}select{font:inherit;width:100%;box-sizing:border-box;padding:.6rem .7rem;border:1px solid #8b8d98;border-radius:8px;background:inherit;color:inherit}
.buttons{display:flex;gap:.75rem;margin:1.25rem 0}button{font:inherit;font-weight:600;padding:.65rem 1.2rem;border:1px solid #1f6feb;border-radius:8px;background:#1f6feb;color:#fff;cursor:pointer}
button.quiet{background:transparent;color:inherit;border-color:#8b8d98}:focus-visible{outline:3px solid #1f6feb;outline-offset:2px}
[role=alert]{padding:.7rem .9rem;border-left:4px solid #ce2c31;background:#ce2c311a}table{width:100%;border-collapse:collapse}th{text-align:left;font-weight:400}td{text-align:right}
tfoot th,tfoot td{font-weight:700;border-top:1px solid #8b8d98}a{color:#0b61d6}@media(prefers-color-scheme:dark){body{color:#edeef0;background:#111113}a{color:#70b8ff}}`;

/** @param leadsTo where a form may end up: browsers hold redirects to `form-action` as well */
function page(title: string, content: string, status = 200, leadsTo: readonly string[] = []): SandboxPage {
  const targets = leadsTo.flatMap((url) => (URL.canParse(url) ? new URL(url).origin : []));
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': pagePolicy({ style: STYLE, formAction: ["'self'", ...new Set(targets)] }),
    },
    body: `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)} · Tallygate sandbox</title><style>${STYLE}</style></head>
<body><main>${content}</main></body></html>
`,
  };
}

const redirect = (location: string): SandboxPage => ({
  status: 303,
  headers: { location },
  body: '',
});

const missing = (): SandboxPage => page('Nothing here', '<h1>Nothing here</h1><p>This link is wrong, or has expired.</p>', 404);

/** Only addresses of pages: a link is no place for a script. */
const back = (url: string, label = 'Go back'): string =>
  /^https?:\/\//.test(url) ? `<p><a href="${escapeHtml(url)}">${label}</a></p>` : '';

const dollars = (cents: number): string => `${cents < 0 ? '−' : ''}$${(Math.abs(cents) / 100).toFixed(2)}`;

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
