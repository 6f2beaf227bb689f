import type { PublishedPrices, ReceiptPayload, Subjects, Verification, Verified, VerifyOptions } from '@tallygate/receipts';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { keptPricesPath } from '../credentials.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { readExactText, readText } from '../given-file.ts';
import { type HistoryOptions, isAnchoredInOneHistory, isOfOneHistory } from '../log/history.ts';
import { demandedWitnesses, type WitnessOptions, withWitnesses, witnessTrust } from '../log/witnesses.ts';
import { type Column, plainText, printRecord } from '../print.ts';
import { calculation, nanoUsdText, usageText } from './calculation.ts';
import { type Chain, type ChainOptions, chainOf, chainText, type OnChain } from './on-chain.ts';
import { explainPromise } from './promise.ts';
import { publishedPrices } from './published-prices.ts';
import { trustedKeys } from './trusted-keys.ts';
import { HOW_TO_CHECK, isUnchecked } from './unchecked.ts';
import { EXPORT_FIELDS, explainExport } from './verify-export.ts';

interface Options extends ChainOptions, WitnessOptions, HistoryOptions {
  readonly requireLog?: boolean;
  readonly promise?: string;
  readonly keys?: string;
  readonly account?: string;
  readonly project?: string;
  readonly endUser?: string;
  readonly tag?: readonly string[];
  /** False for `--no-prices`. */
  readonly prices?: string | false;
}

export const NOT_COMPARED =
  'The unit prices were not compared with published ones: `tallygate login` keeps those, --prices names a file.\n';

const NOT_OF_EXPORTS = '--project, --end-user and --tag are compared with one receipt, and this is an export of many.';

export const COSIGNATURES_FOLLOW =
  'Cosignatures follow an entry of the log by seconds: fetch the file again. A log without cosigned states may show others a different history; --no-witnesses requires none.\n';

const FIELDS = [
  'valid',
  'code',
  'reason',
  'state',
  'promise',
  'checks',
  'payload',
  'logged',
  'proves',
  'does_not_prove',
  'on_chain',
  ...EXPORT_FIELDS,
];

const SUMMARY: readonly Column<ReceiptPayload>[] = [
  { title: 'Receipt', of: ({ receipt_id, kind }) => (kind === 'usage' ? receipt_id : `${receipt_id} (${kind.replaceAll('_', ' ')})`) },
  { title: 'Request', of: ({ request_id }) => request_id },
  { title: 'Model', of: ({ model_served, provider }) => `${model_served} (${provider})` },
  { title: 'Usage', of: ({ usage }) => usageText(usage) },
];

const REFUND: readonly Column<ReceiptPayload>[] = [
  { title: 'Of receipt', of: ({ refund_of }) => refund_of },
  { title: 'Reason', of: ({ refund_reason }) => refund_reason },
];

const COST: Column<ReceiptPayload> = {
  title: 'Cost',
  of: ({ cost_nano_usd, kind }) => `${nanoUsdText(cost_nano_usd)} USD${kind === 'refund' ? ' given back' : ''}`,
};

const CIRCUMSTANCES: readonly Column<ReceiptPayload>[] = [
  { title: 'Completed', of: ({ completed_at, outcome }) => `${completed_at} (${outcome})` },
  { title: 'Mode', of: ({ livemode }) => (livemode ? 'live' : 'test') },
];

export const verifyReceipt = (receipts: Command, perform: Perform): Command =>
  withJson(
    FIELDS,
    withWitnesses(
      receipts
        .command('verify')
        .description(
          'Check a receipt from its file: signature, that the cost follows from usage and prices, that the prices are the published ones, and that the log is the one that was seen before',
        ),
    )
      .option('--require-log', 'require a proof of inclusion in the log')
      .argument('<file>', 'the receipt, or an export of many; - for stdin')
      .option('--keys <file>', 'public keys (vaas-keys.json); default: those stored at login')
      .option('--prices <file>', 'published prices (a saved answer of GET /v1/prices); default: those stored at login')
      .option('--account <id>', 'the account that the receipt, or every receipt of an export, must belong to')
      .option('--project <id>', 'the project that the receipt must belong to')
      .option('--end-user <name>', 'the end user, as the request named them, that the receipt must be for')
      .option('--tag <tag...>', 'tags that the receipt must have')
      .option('--rpc <url>', 'a node of the chain that you trust: asks it for the anchor too')
      .option('--contract <address>', 'the contract as you know it; default: the one that the receipt names')
      .option('--offline', 'make no requests: an unproven state of the log is accepted, stored, and compared by a later command')
      .option('--promise <jws>', 'the X-Receipt-Promise of the answer: refuses where the receipt, fetched after its time, does not keep it')
      .option('--no-prices', 'do not compare the unit prices with published ones')
      .addHelpText(
        'after',
        '\nExits with 0 when the receipt is valid, and with --rpc on the chain; with 3 when it is not, with 6 when its price is missing or the log cannot be reached, with 7 when the log contradicts a stored state.',
      ),
  ).action(perform(verify));

async function verify(world: CommandWorld, { args: [file = ''], options }: Typed<Options>): Promise<ExitCode> {
  world.finishUnread();
  const text = await readExactText(world, file, 'Fetch it with `tallygate receipts get ID -o FILE`.');
  const keys = await trustedKeys(world, options.keys);
  const { isExport, verifyExport } = await import('@tallygate/receipts');
  const chain = chainOf(world, options);
  const prices = await readPrices(world, options.prices);
  if (prices === undefined) world.err.write(NOT_COMPARED);
  const { requireLog = false } = options;
  const demands: VerifyOptions = { ...(prices && { prices }), requireLog, ...witnessTrust(await demandedWitnesses(world, options)) };
  const { account: accountId, project: projectId, endUser, tag: tags } = options;
  if (isExport(text)) {
    if ([projectId, endUser, tags].some((one) => one !== undefined)) throw new Failure('export_of_many', NOT_OF_EXPORTS, EXIT.usage);
    const isCompared = await isExportOfOneHistory(world, text, { keys, demands, options });
    const code = await explainExport(
      world,
      verifyExport(text.split('\n'), keys, { ...demands, ...(options.account && { accountId: options.account }) }),
      chain,
    );
    return code === EXIT.ok && !isCompared ? EXIT.receiptNotChecked : code;
  }
  const { found, onChain } = await verdictOf(text, { keys, demands, chain, subjects: { accountId, projectId, endUser, tags } });
  // Before any output: if the log has shown two histories, no receipt is called valid.
  const isCompared = await isReceiptOfOneHistory(world, { found, onChain }, options);
  if (options.promise !== undefined && isOwn(found)) return explainPromise(world, { jws: options.promise, keys, receipt: found });
  if (world.jsonFields !== undefined) printRecord(world, { ...found, ...(onChain && { on_chain: onChain }) }, []);
  else await explain(world, found, onChain);
  if (isUnchecked(found)) return EXIT.receiptNotChecked;
  if (!found.valid || onChain?.confirmed === false) return EXIT.receiptNotValid;
  return isCompared ? EXIT.ok : EXIT.receiptNotChecked;
}

/** The state that an anchor names is one of the log only when the chain confirms it. */
async function isReceiptOfOneHistory(
  world: CommandWorld,
  { found, onChain }: { readonly found: Verification | Foreign; readonly onChain: OnChain | undefined },
  options: HistoryOptions,
): Promise<boolean> {
  if (!found.valid || !found.logged) return true;
  const { logged, anchored } = found;
  const isLogCompared = await isOfOneHistory(world, logged, options);
  if (!anchored || !onChain?.confirmed || !isLogCompared) return isLogCompared;
  return isAnchoredInOneHistory(world, { origin: logged.origin, anchored }, options);
}

interface ExportToCompare {
  readonly keys: unknown;
  readonly demands: VerifyOptions;
  readonly options: HistoryOptions;
}

/** A state that the log did not sign refuses every receipt of the file by itself. */
async function isExportOfOneHistory(world: CommandWorld, text: string, { keys, demands, options }: ExportToCompare): Promise<boolean> {
  const { checkpointOfExport, verifyCheckpoint } = await import('@tallygate/receipts');
  const checkpoint = checkpointOfExport(text);
  return checkpoint === undefined || !verifyCheckpoint(checkpoint, keys, demands).valid || isOfOneHistory(world, { checkpoint }, options);
}

interface Asked {
  readonly keys: unknown;
  readonly demands: VerifyOptions;
  readonly chain: Chain;
  readonly subjects: Subjects;
}

/** What the file shows by itself, whose it is where that is asked, and what the chain says where that is asked. */
async function verdictOf(
  text: string,
  { keys, demands, chain, subjects }: Asked,
): Promise<{ found: Verification | Foreign; onChain?: OnChain }> {
  const { foreignSubject, statementOnChain, verifyReceiptText } = await import('@tallygate/receipts');
  const found = verifyReceiptText(text, keys, demands);
  if (!found.valid) return { found };
  const foreign = foreignSubject(found.payload, subjects);
  if (foreign !== undefined)
    return { found: { valid: false, code: 'foreign_receipt', reason: `${found.payload.receipt_id} is ${foreign}.` } };
  const onChain = await chain?.(found.anchored);
  return onChain ? { found: onChain.confirmed ? { ...found, ...statementOnChain(found, onChain) } : found, onChain } : { found };
}

const isOwn = (found: Verification | Foreign): found is Verification => found.valid || found.code !== 'foreign_receipt';

interface Foreign {
  readonly valid: false;
  readonly code: 'foreign_receipt';
  readonly reason: string;
}

async function explain(world: CommandWorld, found: Verification | Foreign, onChain: OnChain | undefined): Promise<void> {
  if (!found.valid) {
    world.out.write(plainText(`${isUnchecked(found) ? 'cannot be checked' : 'not valid'}: ${found.reason} (${found.code})\n`));
    if (found.code === 'unknown_key' || found.code === 'unknown_log_key')
      world.err.write('The stored keys may be older than the receipt: `tallygate receipts keys` fetches them.\n');
    if (found.code === 'too_few_witnesses') world.err.write(COSIGNATURES_FOLLOW);
    if (isUnchecked(found)) world.err.write(HOW_TO_CHECK);
    return;
  }
  world.out.write(onChain?.confirmed === false ? 'valid by itself, not confirmed by the chain\n' : 'valid\n');
  const { payload } = found;
  const refund = payload.refund_of === null ? [] : REFUND;
  const log: Column<ReceiptPayload> = { title: 'Log', of: () => logText(found) };
  const chain: Column<ReceiptPayload>[] = onChain ? [{ title: 'Chain', of: () => chainText(onChain) }] : [];
  printRecord(world, payload, [...SUMMARY, ...refund, COST, ...(await calculation(payload)), ...CIRCUMSTANCES, log, ...chain]);
  world.out.write(plainText(`\nThis proves:\n${listText(found.proves)}It does not prove:\n${listText(found.does_not_prove)}`));
}

const listText = (sentences: readonly string[]): string => sentences.map((sentence) => `- ${sentence}\n`).join('');

const logText = ({ checks, logged }: Verified): string =>
  logged ? `entry ${logged.index} of ${logged.tree_size} in ${logged.origin}` : checks.log === 'pending' ? 'pending' : 'not checked';

/** `undefined` where there are none to compare with, or none are wanted. A file that was named must be there. */
export async function readPrices(world: CommandWorld, named: string | false | undefined): Promise<PublishedPrices | undefined> {
  if (named === false) return undefined;
  const path = named ?? keptPricesPath(world, world.profile);
  const text = named === undefined ? await world.readFile(path) : await readText(world, path, 'Save the answer of GET /v1/prices in it.');
  if (text === undefined) return undefined;
  try {
    return publishedPrices(JSON.parse(text));
  } catch (error) {
    const reason = error instanceof SyntaxError || !(error instanceof Error) ? 'it is not valid JSON' : error.message;
    const nextStep = named === undefined ? 'Fetch them with `tallygate receipts keys`.' : 'Save the answer of GET /v1/prices as it is.';
    throw new Failure('prices_unreadable', `${path} holds no prices: ${reason}.`, EXIT.failure, nextStep);
  }
}
