import type { BillSummary, InvoiceVerification, VerifiedInvoice } from '@tallygate/receipts';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { readExactText } from '../given-file.ts';
import { type HistoryOptions, isOfOneHistory } from '../log/history.ts';
import { demandedWitnesses, type WitnessOptions, withWitnesses, witnessTrust } from '../log/witnesses.ts';
import { type ModeOptions, withMode } from '../mode.ts';
import { plainText, printRecord } from '../print.ts';
import { trustedKeys } from '../receipts/trusted-keys.ts';
import { HOW_TO_CHECK, isUnchecked } from '../receipts/unchecked.ts';
import { COSIGNATURES_FOLLOW, NOT_COMPARED, readPrices } from '../receipts/verify.ts';
import { BILL_LINES, quotaNote } from './bill-text.ts';
import { type Bill, fetchBill } from './fetch-bill.ts';

interface Options extends ModeOptions, HistoryOptions, WitnessOptions {
  readonly export: readonly string[];
  readonly keys?: string;
  readonly account?: string;
  readonly requireLog?: boolean;
  /** False for `--no-prices`. */
  readonly prices?: string | false;
}

const FIELDS = ['valid', 'code', 'reason', 'checks', 'payload', 'logged', 'months', 'unchecked', 'faults'];
const MONTH = /^\d{4}-\d{2}$/;

export const verifyInvoice = (invoices: Command, perform: Perform): Command =>
  withJson(
    FIELDS,
    withMode(
      withWitnesses(
        invoices
          .command('verify')
          .description('Recompute an invoice from its receipts, to the nano-dollar, and report contradictions')
          .argument(
            '<month|file>',
            'YYYY-MM fetches the invoice, those before it and the receipts; a file of an invoice is verified offline',
          )
          .option('--export <file>', 'receipts of a month that the invoice counts (`receipts export`); again for each month', collected, [])
          .option('--keys <file>', 'public keys (vaas-keys.json); default: those stored at login')
          .option('--prices <file>', 'published prices (a saved answer of GET /v1/prices); default: those stored at login')
          .option('--no-prices', 'do not compare the unit prices with published ones')
          .option('--account <id>', 'the account that the invoice and every receipt must belong to')
          .option('--require-log', 'require a proof of inclusion in the log')
          .option('--offline', 'do not ask the log whether the state in a file is consistent with the stored one')
          .addHelpText(
            'after',
            '\nExits with 0 when the invoice follows from its receipts; with 3 when anything contradicts it; with 6 when receipts or prices are missing or the log cannot be reached; with 7 when the log contradicts a stored state.',
          ),
      ),
    ),
  ).action(perform(verify));

const collected = (value: string, before: readonly string[]): readonly string[] => [...before, value];

async function verify(world: CommandWorld, { args: [named = ''], options }: Typed<Options>): Promise<ExitCode> {
  const given = MONTH.test(named) ? undefined : await readBill(world, named, options.export);
  const keys = await trustedKeys(world, options.keys);
  const prices = await readPrices(world, options.prices);
  if (prices === undefined) world.err.write(NOT_COMPARED);
  const { verifyBill, verifyInvoiceText } = await import('@tallygate/receipts');
  const { account: accountId, requireLog = false } = options;
  const trust = witnessTrust(await demandedWitnesses(world, options));
  const demands = { requireLog, ...trust, ...(accountId !== undefined && { accountId }) };
  const bill: Bill = given ?? (await fetchBill(world, { month: named, keys, options }));
  const found: InvoiceVerification = verifyInvoiceText(bill.invoice, keys, demands);
  if (!found.valid) {
    if (world.jsonFields !== undefined) printRecord(world, found, []);
    else world.out.write(plainText(`not valid: ${found.reason} (${found.code})\n`));
    if (found.code === 'too_few_witnesses') world.err.write(COSIGNATURES_FOLLOW);
    return EXIT.receiptNotValid;
  }
  // Before any output: if the log has shown two histories, no invoice is called valid.
  const isCompared = !found.logged || (await isOfOneHistory(world, found.logged, options));
  const reading = verifyBill(found, await bill.exportsFor(found.payload), keys, { ...demands, ...(prices && { prices }) });
  for (;;) {
    const { value, done } = await reading.next();
    if (done) {
      const code = told(world, found, { ...value, chain: bill.chain });
      return code === EXIT.ok && !isCompared ? EXIT.receiptNotChecked : code;
    }
    const { file, line, verdict } = value;
    if (verdict.valid) continue;
    const what = isUnchecked(verdict) ? 'cannot be checked' : 'is not valid';
    world.err.write(plainText(`Export ${file + 1}, line ${line} ${what}: ${verdict.reason} (${verdict.code})\n`));
  }
}

interface Told extends BillSummary {
  /** What contradicts between this invoice and those before it. */
  readonly chain: readonly string[];
}

/** What speaks against the invoice comes before what is not known. */
function told(world: CommandWorld, found: VerifiedInvoice, { chain, ...summary }: Told): ExitCode {
  const ofFiles = summary.months.flatMap(({ month, faults }) =>
    faults.map(({ code, reason }) => ({ code, reason: `${month}: ${reason}` })),
  );
  const ofChain = chain.map((reason) => ({ code: 'broken_chain', reason }));
  const faults = [...ofFiles, ...summary.faults, ...ofChain];
  const unpriced = summary.months.reduce((sum, month) => sum + month.unpriced, 0);
  const isUnknown = faults.length === 0 && (unpriced > 0 || summary.unchecked.length > 0);
  const valid = faults.length === 0 && !isUnknown;
  if (world.jsonFields !== undefined)
    printRecord(world, { ...found, valid, months: summary.months, unchecked: summary.unchecked, faults }, []);
  else {
    const missing = summary.unchecked.map((month) => `no receipts of ${month} were given`);
    const why = [...missing, ...(unpriced > 0 ? [`the prices of ${unpriced} receipts are not at hand`] : [])].join('; ');
    world.out.write(plainText(valid ? 'valid\n' : isUnknown ? `cannot be checked: ${why}\n` : 'not valid\n'));
    for (const { code, reason } of faults) world.out.write(plainText(`- ${reason} (${code})\n`));
    printRecord(world, found, BILL_LINES);
    const note = quotaNote(found.payload);
    if (note !== undefined) world.out.write(plainText(`${note}\n`));
  }
  if (unpriced > 0) world.err.write(HOW_TO_CHECK);
  return valid ? EXIT.ok : isUnknown ? EXIT.receiptNotChecked : EXIT.receiptNotValid;
}

async function readBill(world: CommandWorld, file: string, months: readonly string[]): Promise<Bill> {
  world.finishUnread();
  const invoice = await readExactText(world, file, 'Fetch it with `tallygate invoices get MONTH -o FILE`.');
  const texts: string[] = [];
  for (const path of months)
    texts.push(await readExactText(world, path, 'Fetch it with `tallygate receipts export --month MONTH -o FILE`.'));
  return { invoice, chain: [], exportsFor: async () => texts.map((text) => text.split('\n')) };
}
