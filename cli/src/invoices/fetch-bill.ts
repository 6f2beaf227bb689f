import type { InvoicePayload, VerifiedInvoice } from '@tallygate/receipts';
import type { Tallygate } from '@tallygate/sdk';
import type { CommandWorld } from '../command.ts';
import { livemodeOf, type ModeOptions } from '../mode.ts';
import { linesOf } from './lines-of.ts';

/** An invoice as text, and where its receipts come from. */
export interface Bill {
  readonly invoice: string;
  /** What contradicts between it and the invoices before it; nothing where those are not at hand. */
  readonly chain: readonly string[];
  exportsFor(invoice: InvoicePayload): Promise<readonly (Iterable<string> | AsyncIterable<string>)[]>;
}

interface Wanted {
  readonly month: string;
  readonly keys: unknown;
  readonly options: ModeOptions;
}

/** From the gateway: the invoice, those before it, and an export of each month that it counts. */
export async function fetchBill(world: CommandWorld, { month, keys, options }: Wanted): Promise<Bill> {
  const { signal } = world;
  const client = await world.connect();
  const mode = livemodeOf(options);
  const invoice = await client.invoices.get(month, mode, { signal });
  const { livemode } = invoice.payload;
  return {
    invoice: JSON.stringify(invoice),
    chain: await chainFaults(client, { month, livemode, keys, signal }),
    exportsFor: async ({ months }) =>
      months
        .filter(({ first_number: first, last_number: last }) => last >= first)
        .map(({ month: of }) => linesWhenRead(async () => (await client.receipts.export({ month: of, livemode }, { signal })).body)),
  };
}

/** Asked for when it is read: one after the other, none in memory. */
async function* linesWhenRead(ask: () => Promise<ReadableStream<Uint8Array> | null>): AsyncGenerator<string> {
  const body = await ask();
  if (body) yield* linesOf(body);
}

interface Chain {
  readonly month: string;
  readonly livemode: boolean;
  readonly keys: unknown;
  readonly signal: AbortSignal;
}

async function chainFaults(client: Tallygate, { month, livemode, keys, signal }: Chain): Promise<string[]> {
  const { invoiceChainFaults, verifyInvoice } = await import('@tallygate/receipts');
  const months: string[] = [];
  for await (const item of client.invoices.list({ livemode, limit: 100 }, { signal })) if (item.month <= month) months.unshift(item.month);
  const invoices: VerifiedInvoice[] = [];
  for (const of of months) {
    const found = verifyInvoice(await client.invoices.get(of, { livemode }, { signal }), keys);
    if (!found.valid) return [`The invoice of ${of} is not valid: ${found.reason} (${found.code})`];
    invoices.push(found);
  }
  return invoiceChainFaults(invoices);
}
