import type { AnchoredReceipt, ConfirmedAnchor, UnconfirmedAnchor } from '@tallygate/receipts';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { readExactText } from '../given-file.ts';
import { isAnchoredInOneHistory, isOfOneHistory } from '../log/history.ts';
import { demandedWitnesses, witnessTrust } from '../log/witnesses.ts';
import { type Column, plainText, printRecord } from '../print.ts';
import { trustedKeys } from '../receipts/trusted-keys.ts';
import { nodeFailure } from './node-failure.ts';
import { verifyAll } from './verify-all.ts';

interface Options {
  readonly rpc: string;
  readonly contract?: string;
  readonly keys?: string;
}

type Found = ConfirmedAnchor | UnconfirmedAnchor;

const FIELDS = ['confirmed', 'code', 'reason', 'chain_id', 'contract', 'time', 'block_number', 'finality'];

const LINES: readonly Column<ConfirmedAnchor>[] = [
  { title: 'Chain', of: ({ chain_id }) => `${chain_id}` },
  { title: 'Contract', of: ({ contract }) => contract },
  { title: 'Since', of: ({ time }) => time },
  { title: 'Block', of: ({ block_number, finality }) => `${block_number ?? 'not the one that the receipt names'} (${finality})` },
];

export const verifyAnchors = (anchors: Command, perform: Perform): Command =>
  withJson(
    FIELDS,
    anchors
      .command('verify')
      .description(
        'Ask a node of the chain whether it holds the state of the log that a receipt names; without a receipt, every anchor of the gateway',
      )
      .argument('[file]', 'the receipt; - for stdin')
      .requiredOption('--rpc <url>', 'a node of the chain that you trust')
      .option('--contract <address>', 'the contract as you know it; default: the one that the service names')
      .option('--keys <file>', 'public keys (vaas-keys.json); default: those stored at login')
      .addHelpText('after', '\nExits with 0 when the chain confirms it, with 3 when it does not.'),
  ).action(perform(verify));

async function verify(world: CommandWorld, { args: [file], options }: Typed<Options>): Promise<ExitCode> {
  const { rpc: rpcUrl, contract } = options;
  const asked = { rpcUrl, signal: world.signal, ...(contract !== undefined && { contract }) };
  if (file === undefined) return verifyAll(world, asked);
  const { confirmAnchor } = await import('@tallygate/receipts');
  const { anchored, origin } = await anchorOf(world, file, options.keys);
  const found = await confirmAnchor(anchored, asked).catch((error: unknown) => {
    throw nodeFailure(error);
  });
  const isCompared = !found.confirmed || origin === undefined || (await isAnchoredInOneHistory(world, { origin, anchored }));
  show(world, found);
  if (!found.confirmed) return EXIT.receiptNotValid;
  return isCompared ? EXIT.ok : EXIT.receiptNotChecked;
}

function show(world: CommandWorld, found: Found): void {
  if (world.jsonFields !== undefined) printRecord(world, found, []);
  else if (!found.confirmed) world.out.write(plainText(`not confirmed: ${found.reason} (${found.code})\n`));
  else {
    world.out.write('confirmed\n');
    printRecord(world, found, LINES);
  }
}

interface Named {
  readonly anchored: AnchoredReceipt;
  /** The log that the receipt was proven to be in; undefined without a proof. */
  readonly origin: string | undefined;
}

/** Of a receipt that holds by itself. */
async function anchorOf(world: CommandWorld, file: string, keysFile: string | undefined): Promise<Named> {
  const text = await readExactText(world, file, 'Fetch it with `tallygate receipts get ID -o FILE`.');
  const keys = await trustedKeys(world, keysFile);
  const { verifyReceiptText } = await import('@tallygate/receipts');
  const found = verifyReceiptText(text, keys, witnessTrust(await demandedWitnesses(world, { witness: [] })));
  if (!found.valid) throw new Failure(found.code, `The receipt is not valid: ${found.reason}`, EXIT.receiptNotValid);
  if (found.logged) await isOfOneHistory(world, found.logged);
  if (found.anchored) return { anchored: found.anchored, origin: found.logged?.origin };
  const reason = 'The receipt names no state of the log on a chain.';
  throw new Failure('not_anchored', reason, EXIT.receiptNotValid, 'Fetch it again later: an anchor comes with the next one of the log.');
}
