import {
  type BillSummary,
  type ExportSummary,
  isExport,
  isInvoice,
  type Refusal,
  type VerifiedInvoice,
  verifyBill,
  verifyExport,
  verifyInvoiceText,
} from '../../../../packages/receipts/src/index.ts';
import { dollars, element, linesPanel, NANO, panel } from './verdict.ts';

/** So many receipts that do not hold are shown; there may be thousands. */
const MOST_SHOWN = 20;

/** The verdict on an export, or on an invoice and the exports beside it; undefined where the texts are neither. */
export async function verdictOnMonth(texts: readonly string[], keys: unknown, note: string): Promise<HTMLElement | undefined> {
  const exports = texts.filter(isExport);
  const invoice = texts.find(isInvoice);
  if (invoice !== undefined) return invoicePanel(invoice, exports, keys, note);
  const [only, ...others] = exports;
  if (only === undefined) return undefined;
  if (others.length > 0) return panel('wait', 'Several exports', ['Open the invoice that counts them as well, or one export by itself.']);
  return exportPanel(only, keys);
}

async function exportPanel(text: string, keys: unknown): Promise<HTMLElement> {
  const { summary, refused } = await read(verifyExport(text.split('\n'), keys));
  const faults = [...summary.faults, ...refused];
  if (faults.length > 0) return refusedPanel(faults);
  const of = `${summary.receipts} receipts of ${summary.month}${summary.livemode ? '' : ', test mode'}`;
  return panel('good', 'Valid', [of], element('h2', 'What they come to'), monthTable(summary));
}

async function invoicePanel(text: string, exports: readonly string[], keys: unknown, note: string): Promise<HTMLElement> {
  const invoice = verifyInvoiceText(text, keys);
  if (!invoice.valid) return refusedPanel([invoice]);
  const { summary, refused } = await read(
    verifyBill(
      invoice,
      exports.map((one) => one.split('\n')),
      keys,
    ),
  );
  const faults = [...summary.months.flatMap((month) => month.faults), ...summary.faults, ...refused];
  if (faults.length > 0) return refusedPanel(faults);
  return holdsPanel(invoice, summary, note);
}

function holdsPanel({ payload, checks }: VerifiedInvoice, { unchecked }: BillSummary, note: string): HTMLElement {
  const missing =
    unchecked.length === 0 ? '' : `Open the export of ${unchecked.join(' and ')} too: without it, nothing is known of these receipts.`;
  const title = unchecked.length === 0 ? 'Valid' : 'Not checked yet';
  const of = `The invoice of ${payload.month}${payload.livemode ? '' : ', test mode'}, number ${payload.sequence}`;
  const says = unchecked.length === 0 ? 'It follows from the receipts that it counts, to the nano-dollar.' : missing;
  const log = checks.log === 'ok' ? 'It is in the log.' : 'It has no proof yet that it is in the log.';
  const sum = (field: 'used_nano_usd' | 'corrected_nano_usd' | 'refunded_nano_usd' | 'covered_nano_usd') =>
    payload.months.reduce((total, month) => total + BigInt(month[field]), 0n).toString();
  return panel(
    unchecked.length === 0 ? 'good' : 'wait',
    title,
    [of, says, log, note],
    element('h2', 'What was charged'),
    linesPanel([
      ['Used', dollars(sum('used_nano_usd'), NANO)],
      ['Corrected', dollars(sum('corrected_nano_usd'), NANO)],
      ['Given back', dollars(sum('refunded_nano_usd'), NANO)],
      ['Covered by the plan', dollars(sum('covered_nano_usd'), NANO)],
      ['From the balance', dollars(payload.from_balance_nano_usd, NANO)],
      ['By invoice', dollars(payload.by_invoice_nano_usd, NANO)],
      ['Due', dollars(payload.due_nano_usd, NANO)],
    ]),
  );
}

const monthTable = ({ receipts, in_log, billed_nano_usd: billed }: ExportSummary): HTMLElement =>
  linesPanel([
    ['Receipts', String(receipts)],
    ['In the log', String(in_log)],
    ['Billed, less what was given back', dollars(billed, NANO)],
  ]);

type Fault = { readonly code: string; readonly reason: string };

const refusedPanel = (faults: readonly Fault[]): HTMLElement =>
  panel(
    'bad',
    'Not valid',
    faults.slice(0, MOST_SHOWN).map(({ code, reason }) => `${reason} (${code})`),
    ...(faults.length > MOST_SHOWN ? [element('p', `And ${faults.length - MOST_SHOWN} more.`)] : []),
  );

type Verdict = { readonly verdict: { readonly valid: true } | (Fault & { readonly valid: false }) | Refusal };

/** All of it, with what was refused. The page stays alive meanwhile. */
async function read<Summary>(reading: AsyncGenerator<Verdict, Summary>): Promise<{ summary: Summary; refused: Fault[] }> {
  const refused: Fault[] = [];
  for (let count = 0; ; count += 1) {
    const { value, done } = await reading.next();
    if (done) return { summary: value, refused };
    if (!value.verdict.valid) refused.push(value.verdict);
    if (count % 50 === 49) await new Promise((resolve) => setTimeout(resolve));
  }
}
