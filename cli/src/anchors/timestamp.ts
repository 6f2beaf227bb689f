import type { ReceiptTimestamp } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { readExactText } from '../given-file.ts';
import { isAnchoredInOneHistory, isOfOneHistory } from '../log/history.ts';
import { demandedWitnesses, witnessTrust } from '../log/witnesses.ts';
import { plainText, printRecord } from '../print.ts';
import { deliver } from '../receipts/get.ts';
import { trustedKeys } from '../receipts/trusted-keys.ts';

interface Options {
  readonly tsaCa: string;
  readonly timestamp?: string;
  readonly output?: string;
  readonly keys?: string;
  readonly offline?: true;
}

interface Found {
  readonly confirmed: boolean;
  readonly reason: string | null;
  readonly time: string | null;
  readonly authority: string;
  readonly tree_size: number;
}

const FIELDS: readonly (keyof Found)[] = ['confirmed', 'reason', 'time', 'authority', 'tree_size'];

export const timestampCommand = (anchors: Command, perform: Perform): Command =>
  withJson(
    FIELDS,
    anchors
      .command('timestamp')
      .description('Check since when a receipt exists, by the timestamp of an authority (RFC 3161) on a state of the log')
      .argument('<file>', 'the receipt; - for stdin')
      .requiredOption('--tsa-ca <file>', 'certificates (PEM) that the authority’s has to be issued by')
      .option('--timestamp <file>', 'the stored timestamp; default: the gateway’s')
      .option('-o, --output <file>', 'write the timestamp to a file')
      .option('--keys <file>', 'public keys (vaas-keys.json); default: those stored at login')
      .option('--offline', 'do not ask the log whether the stamped state is consistent with the stored one')
      .addHelpText('after', '\nExits with 0 when the timestamp holds, with 3 when it does not.'),
  ).action(perform(check));

async function check(world: CommandWorld, { args: [file = ''], options }: Typed<Options>): Promise<ExitCode> {
  const text = await readExactText(world, file, 'Fetch it with `tallygate receipts get ID -o FILE`.');
  const { verifyReceiptText } = await import('@tallygate/receipts');
  const verdict = verifyReceiptText(
    text,
    await trustedKeys(world, options.keys),
    witnessTrust(await demandedWitnesses(world, { witness: [] })),
  );
  if (!verdict.valid) throw new Failure(verdict.code, `The receipt is not valid: ${verdict.reason}`, EXIT.receiptNotValid);
  const stamp = await timestampOf(world, verdict.payload.receipt_id, options);
  const { payload, logged } = verdict;
  const { refusal, state } = await placeIn(stamp, payload);
  const isCompared = !state || !logged || refusal !== undefined || (await isOneLog(world, logged, state, options));
  const found = refusal === undefined ? await tokenOf(world, stamp, options.tsaCa) : { confirmed: false, reason: refusal, time: null };
  const isOtherLog = state && logged && state.origin !== logged.origin;
  const said = isOtherLog ? { confirmed: false, reason: `The timestamp is of the log ${state.origin}.`, time: null } : found;
  show(world, { ...said, authority: stamp.authority, tree_size: stamp.tree_size });
  if (!said.confirmed) return EXIT.receiptNotValid;
  return isCompared ? EXIT.ok : EXIT.receiptNotChecked;
}

async function timestampOf(world: CommandWorld, receiptId: string, { timestamp: file, output }: Options): Promise<ReceiptTimestamp> {
  if (file !== undefined) {
    const text = await readExactText(world, file, 'Keep it with `tallygate anchors timestamp RECEIPT -o FILE`.');
    try {
      return JSON.parse(text);
    } catch {
      throw new Failure('timestamp_unreadable', `${file} is not valid JSON.`, EXIT.receiptNotValid);
    }
  }
  const client = await world.connect('none');
  const stamp = await client.anchors.timestampOf(receiptId, { signal: world.signal });
  if (output !== undefined) await deliver(world, stamp, output);
  return stamp;
}

interface Placed {
  /** Why the receipt is not shown to be in what was stamped. */
  readonly refusal?: string;
  readonly state?: { readonly origin: string; readonly size: number; readonly root: Uint8Array };
}

/** The receipt is an entry of the state whose text was stamped. */
async function placeIn(
  stamp: ReceiptTimestamp,
  payload: Parameters<typeof import('@tallygate/receipts').receiptDigest>[0],
): Promise<Placed> {
  const { fromBase64, isIncluded, leafHash, parseCheckpoint, receiptDigest } = await import('@tallygate/receipts');
  const state = typeof stamp.checkpoint === 'string' ? parseCheckpoint(stamp.checkpoint) : undefined;
  if (!state || !Array.isArray(stamp.path)) return { refusal: 'This is no timestamp of a receipt.' };
  const path = stamp.path.map((hash) => fromBase64(hash) ?? new Uint8Array());
  const { size, root } = state;
  if (isIncluded({ index: stamp.index, size, leafHash: leafHash(receiptDigest(payload)), root, path })) return { state };
  return { refusal: 'The receipt is not in the state of the log that was stamped.', state };
}

async function isOneLog(
  world: CommandWorld,
  logged: { readonly origin: string; readonly checkpoint: string },
  { size, root }: { readonly size: number; readonly root: Uint8Array },
  { offline }: Options,
): Promise<boolean> {
  const asked = offline ? { offline } : {};
  const anchored = { tree_size: size, root: `0x${Buffer.from(root).toString('hex')}` };
  return (await isOfOneHistory(world, logged, asked)) && isAnchoredInOneHistory(world, { origin: logged.origin, anchored }, asked);
}

async function tokenOf(
  world: CommandWorld,
  stamp: ReceiptTimestamp,
  rootsFile: string,
): Promise<Pick<Found, 'confirmed' | 'reason' | 'time'>> {
  const roots = await readExactText(world, rootsFile, 'The authority publishes it.');
  const { checkToken, TokenRefused } = await import('./timestamp-token.ts');
  try {
    const { time } = await checkToken(Buffer.from(stamp.token, 'base64'), stamp.checkpoint, roots);
    return { confirmed: true, reason: null, time: time.toISOString() };
  } catch (error) {
    if (error instanceof TokenRefused) return { confirmed: false, reason: error.message, time: null };
    throw error;
  }
}

function show(world: CommandWorld, found: Found): void {
  if (world.jsonFields !== undefined) printRecord(world, found, []);
  else if (!found.confirmed) world.out.write(plainText(`not confirmed: ${found.reason}\n`));
  else {
    world.out.write('confirmed\n');
    printRecord(world, found, [
      { title: 'Existed at', of: ({ time }) => time },
      { title: 'By the clock of', of: ({ authority }) => authority },
      { title: 'Entries', of: ({ tree_size }) => tree_size },
    ]);
  }
}
