import type { PlanInvoiceResponse } from '@tallygate/contract';
import { pagePolicy } from '../../kernel/page-policy.ts';

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1.5rem;color:#1c2024}h1{font-size:1.5rem}
table{width:100%;border-collapse:collapse;margin:1.5rem 0}th,td{text-align:left;padding:.4rem 0;border-bottom:1px solid #d9d9e0;font-weight:400}
td:not(:first-child),th:not(:first-child){text-align:right}tfoot td{font-weight:700}@media print{body{margin:0}}`;

/** Lets the page style itself and do nothing else. */
export const INVOICE_PAGE_POLICY = pagePolicy({ style: STYLE });

/** An invoice as a page to print. */
export function invoicePage(invoice: PlanInvoiceResponse, accountName: string): string {
  const lines = invoice.lines.map(
    ({ description, quantity, amount_usd }) =>
      `<tr><td>${escapeHtml(description)}</td><td>${quantity ?? ''}</td><td>$${amount_usd}</td></tr>`,
  );
  const total = (label: string, amount: string) => `<tr><td>${label}</td><td></td><td>$${amount}</td></tr>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Invoice ${escapeHtml(invoice.number ?? invoice.invoice_id)}</title><style>${STYLE}</style></head>
<body><main><h1>Invoice ${escapeHtml(invoice.number ?? invoice.invoice_id)}</h1>
<p>For ${escapeHtml(accountName)}<br>Month ${invoice.period}, issued ${invoice.issued_at.slice(0, 10)}, ${invoice.status}</p>
<table><thead><tr><th>What</th><th>Requests</th><th>Amount</th></tr></thead><tbody>${lines.join('')}</tbody>
<tfoot>${total('Total', invoice.total_usd)}${total('Paid from the balance', invoice.from_balance_usd)}${total('Carried to the next invoice', invoice.carried_usd)}${total('Due', invoice.due_usd)}</tfoot></table></main></body></html>
`;
}

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
