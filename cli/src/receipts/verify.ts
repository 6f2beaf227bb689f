import type { ReceiptPayload, Verification } from '@tallygate/receipts';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { keySetPath } from '../credentials.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { type Column, plainText, printRecord } from '../print.ts';

interface Options {
  readonly keys?: string;
}

const FIELDS = ['valid', 'code', 'reason', 'checks', 'payload'];

const SUMMARY: readonly Column<ReceiptPayload>[] = [
  { title: 'Receipt', of: ({ receipt_id }) => receipt_id },
  { title: 'Request', of: ({ request_id }) => request_id },
  { title: 'Model', of: ({ model_served, provider }) => `${model_served} (${provider})` },
  { title: 'Usage', of: ({ usage }) => `${usage.input_tokens} tokens in, ${usage.output_tokens} out` },
  { title: 'Cost', of: ({ cost_nano_usd }) => `${nanoUsdText(cost_nano_usd)} USD` },
  { title: 'Completed', of: ({ completed_at, outcome }) => `${completed_at} (${outcome})` },
  { title: 'Mode', of: ({ livemode }) => (livemode ? 'live' : 'test') },
];

export const verifyReceipt = (receipts: Command, perform: Perform): Command =>
  withJson(
    FIELDS,
    receipts
      .command('verify')
      .description('Check a receipt offline: signature, and that the cost follows from usage and prices')
      .argument('<file>', 'the receipt; - for stdin')
      .option('--keys <file>', 'public keys (vaas-keys.json); default: those kept at login')
      .addHelpText('after', '\nExits with 0 when the receipt is valid, with 3 when it is not.'),
  ).action(perform(verify));

async function verify(world: CommandWorld, { args: [file = ''], options }: Typed<Options>): Promise<ExitCode> {
  const text = file === '-' ? await world.input.readAll() : await read(world, file, 'Fetch it with `tallygate receipts get ID -o FILE`.');
  const keys = await readKeys(world, options.keys ?? keySetPath(world, world.profile));
  const { verifyReceiptText } = await import('@tallygate/receipts');
  const found = verifyReceiptText(text, keys);
  if (world.jsonFields !== undefined) printRecord(world, found, []);
  else explain(world, found);
  return found.valid ? EXIT.ok : EXIT.receiptNotValid;
}

function explain(world: CommandWorld, found: Verification): void {
  if (!found.valid) {
    world.out.write(plainText(`not valid: ${found.reason} (${found.code})\n`));
    if (found.code === 'unknown_key')
      world.err.write('The keys at hand may be older than the receipt: `tallygate receipts keys` fetches them.\n');
    return;
  }
  world.out.write('valid\n');
  printRecord(world, found.payload, SUMMARY);
}

async function readKeys(world: CommandWorld, path: string): Promise<unknown> {
  const text = await read(world, path, 'Fetch the public keys with `tallygate receipts keys`, or name a copy with --keys.');
  try {
    return JSON.parse(text);
  } catch {
    throw new Failure('keys_unreadable', `${path} is not valid JSON.`, EXIT.failure, 'Fetch the keys with `tallygate receipts keys`.');
  }
}

async function read(world: CommandWorld, path: string, nextStep: string): Promise<string> {
  const text = await world.readFile(path);
  if (text === undefined) throw new Failure('file_not_found', `There is no file ${path}.`, EXIT.failure, nextStep);
  return text;
}

/** Integer nano-USD as decimal USD, exactly. */
export function nanoUsdText(amount: string): string {
  const digits = amount.padStart(10, '0');
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`.replace(/\.?0+$/, '');
}
