import type { CostLine, ExportedReceipt, ExportSummary, ReceiptPayload } from '@tallygate/receipts';
import type { CommandWorld } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { type Column, plainText, printRecord } from '../print.ts';
import { nanoUsdText, picoUsdText } from './calculation.ts';
import { type Chain, chainText } from './on-chain.ts';
import { HOW_TO_CHECK, isUnchecked } from './unchecked.ts';

/** What `--json` has of an export, beside `valid`. */
export const EXPORT_FIELDS = [
  'month',
  'livemode',
  'receipts',
  'valid_receipts',
  'in_log',
  'billed_nano_usd',
  'faults',
  'confirmed_on_chain',
];

const LINES: readonly Column<ExportSummary>[] = [
  { title: 'Month', of: ({ month, livemode }) => `${month}${livemode ? '' : ' (test mode)'}` },
  { title: 'Receipts', of: ({ receipts, valid }) => `${receipts}, ${valid} of them valid` },
  { title: 'In the log', of: ({ in_log }) => in_log },
  { title: 'Billed', of: ({ billed_nano_usd: billed }) => `${nanoUsdText(billed)} USD, what was given back taken off` },
];

const ON_CHAIN: Column<Summary> = { title: 'On the chain', of: ({ confirmed_on_chain }) => confirmed_on_chain };

/** Every receipt with its calculation, then what they come to. */
export async function explainExport(
  world: CommandWorld,
  found: AsyncGenerator<ExportedReceipt, ExportSummary, undefined>,
  chain: Chain,
): Promise<ExitCode> {
  let confirmed = 0;
  let unchecked = 0;
  const isForPeople = world.jsonFields === undefined;
  for (;;) {
    const { value, done } = await found.next();
    if (done) return summary(world, chain ? { ...value, confirmed_on_chain: confirmed } : value, unchecked);
    const { line, verdict } = value;
    if (isUnchecked(verdict)) unchecked += 1;
    if (!verdict.valid)
      world.err.write(
        plainText(`Line ${line} ${isUnchecked(verdict) ? 'cannot be checked' : 'is not valid'}: ${verdict.reason} (${verdict.code})\n`),
      );
    else if (isForPeople) world.out.write(plainText(`${await calculationLine(verdict.payload)}\n`));
    const onChain = verdict.valid ? await chain?.(verdict.anchored) : undefined;
    if (onChain?.confirmed) confirmed += 1;
    else if (onChain) world.err.write(plainText(`Line ${line}: ${chainText(onChain)}\n`));
  }
}

interface Summary extends ExportSummary {
  /** Absent where no chain was asked. */
  readonly confirmed_on_chain?: number;
}

/** What speaks against a receipt comes before what is not known of another one. */
function summary(world: CommandWorld, found: Summary, unchecked: number): ExitCode {
  const { confirmed_on_chain: confirmed } = found;
  const isOnChain = confirmed === undefined || confirmed + unchecked === found.receipts;
  const isUnknown = unchecked > 0 && found.faults.length === 0 && found.valid + unchecked === found.receipts && isOnChain;
  const isInOrder = found.faults.length === 0 && found.valid === found.receipts && isOnChain;
  if (world.jsonFields !== undefined) {
    printRecord(world, { ...found, valid: isInOrder, valid_receipts: found.valid }, []);
  } else {
    world.out.write(
      isInOrder
        ? 'valid\n'
        : plainText(
            `${isUnknown ? `cannot be checked: the prices of ${unchecked} receipts are not at hand` : 'not valid'}${found.faults.map(({ code, reason }) => `: ${reason} (${code})`).join('')}\n`,
          ),
    );
    printRecord(world, found, confirmed === undefined ? LINES : [...LINES, ON_CHAIN]);
  }
  if (isUnknown) world.err.write(HOW_TO_CHECK);
  return isInOrder ? EXIT.ok : isUnknown ? EXIT.receiptNotChecked : EXIT.receiptNotValid;
}

/** `id model: 9 × 0.00000015 + 12 × 0.0000006 = 0.00000855 USD` */
async function calculationLine(payload: ReceiptPayload): Promise<string> {
  const { costLines } = await import('@tallygate/receipts');
  const { receipt_id: id, model_served: model, kind, price_factor: factor, cost_nano_usd: cost } = payload;
  const terms = costLines(payload)
    .filter(({ price_meter }) => price_meter !== null)
    .map(termText);
  const sum = terms.length === 0 ? '0' : terms.join(' + ');
  const scaled = factor === '1' ? sum : `(${sum}) × ${factor}`;
  const what = kind === 'usage' ? '' : ` (${kind.replaceAll('_', ' ')})`;
  return `${id} ${model}${what}: ${scaled} = ${nanoUsdText(cost)} USD`;
}

const termText = ({ units, unit_price_pico_usd: price }: CostLine): string => `${units} × ${picoUsdText(price)}`;
