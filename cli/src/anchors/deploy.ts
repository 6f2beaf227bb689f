import type { Command } from 'commander';
import type { FetchGetUrlFunc } from 'ethers';
import type { CommandWorld, Perform, Typed } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { noSuchFile } from '../given-file.ts';
import { requireConsent } from '../plans/confirm.ts';
import { plainText } from '../print.ts';
import { nodeFailure } from './node-failure.ts';

interface Options {
  readonly rpc: string;
  readonly publisher?: string;
  readonly keyFile?: string;
  readonly yes?: true;
}

const VARIABLE = 'TALLYGATE_DEPLOY_KEY';
const KEY = /^0x[0-9a-fA-F]{64}$/;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

export const deployAnchor = (anchors: Command, perform: Perform): Command =>
  anchors
    .command('deploy')
    .description('Deploy the contract for anchors on a chain')
    .requiredOption('--rpc <url>', 'a node of the chain')
    .option('--publisher <address>', 'the account that the gateway will publish with; default: the one that pays now')
    .option('--key-file <file>', `file with the private key of the account that pays, and will own the contract; default: ${VARIABLE}`)
    .option('--yes', 'do not ask')
    .addHelpText('after', `\nThe key is 0x and 64 hex digits. It is never an argument, which others on this computer could read.`)
    .action(perform(deploy));

async function deploy(world: CommandWorld, { options }: Typed<Options>): Promise<void> {
  if (options.publisher !== undefined && !ADDRESS.test(options.publisher))
    throw new Failure('usage', '--publisher must be an address: 0x and 40 hex digits.', EXIT.usage);
  const key = await readKey(world, options.keyFile);
  const [{ receiptAnchor }, { ContractFactory, FetchRequest, formatEther, JsonRpcProvider, Wallet }] = await Promise.all([
    import('@tallygate/receipt-anchor'),
    import('ethers'),
  ]);
  const chainId = await chainOf(options.rpc, world.signal);
  const request = new FetchRequest(options.rpc);
  request.getUrlFunc = wholeAnswerWithin;
  const provider = new JsonRpcProvider(request, chainId, { staticNetwork: true, cacheTimeout: -1 });
  try {
    const wallet = new Wallet(key, provider);
    const factory = new ContractFactory(receiptAnchor.abi, receiptAnchor.bytecode, wallet);
    const publisher = options.publisher ?? wallet.address;
    const gas = await provider.estimateGas({ ...(await factory.getDeployTransaction(publisher)), from: wallet.address });
    const { maxFeePerGas } = await provider.getFeeData();
    const most = formatEther(gas * (maxFeePerGas ?? 0n));
    await requireConsent(
      world,
      `Make the contract on chain ${chainId}, paid by ${wallet.address}, for at most ${most} coins?`,
      options.yes,
    );
    const made = await factory.deploy(publisher);
    world.err.write(plainText(`Sent ${made.deploymentTransaction()?.hash ?? ''}; waiting for a block.\n`));
    await made.waitForDeployment();
    world.out.write(`ANCHOR_CHAIN_ID=${chainId}\nANCHOR_CONTRACT=${await made.getAddress()}\n`);
    world.err.write(
      plainText(`${publisher} may publish there: give its key to the gateway as ANCHOR_PRIVATE_KEY, and a node as ANCHOR_RPC_URL.\n`),
    );
  } catch (error) {
    throw isOfChain(error) ? new Failure('deploy_failed', `The contract was not deployed: ${error.shortMessage}`, EXIT.failure) : error;
  } finally {
    provider.destroy();
  }
}

const ANSWER_WITHIN_MS = 15_000;

/** Ethers' own timeout is of the silence: a node that answers a byte a second would never be given up. */
const wholeAnswerWithin: FetchGetUrlFunc = async ({ url, method, headers, body }) => {
  const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
  const answer = await fetch(url, { method, headers, body: body && Buffer.from(body), signal, redirect: 'manual' });
  return {
    ...{ statusCode: answer.status, statusMessage: answer.statusText, headers: Object.fromEntries(answer.headers) },
    body: new Uint8Array(await answer.arrayBuffer()),
  };
};

const isOfChain = (error: unknown): error is Error & { shortMessage: string } =>
  error instanceof Error && 'shortMessage' in error && typeof error.shortMessage === 'string';

async function chainOf(rpcUrl: string, signal: AbortSignal): Promise<number> {
  const { chainIdOf } = await import('@tallygate/receipts');
  return chainIdOf({ rpcUrl, signal }).catch((error: unknown) => {
    throw nodeFailure(error);
  });
}

async function readKey(world: CommandWorld, file: string | undefined): Promise<string> {
  const nextStep = `Set ${VARIABLE}, or name a file with --key-file.`;
  const kept = file === undefined ? undefined : await world.readPrivateFile(file);
  if (file !== undefined && kept === undefined) throw noSuchFile(file, nextStep);
  if (kept?.wasExposed) world.err.write(plainText(`Others could read ${file} until now; nobody else can any more.\n`));
  const key = (kept?.content ?? world.env.variable(VARIABLE))?.trim();
  if (key === undefined || !KEY.test(key))
    throw new Failure('usage', 'There is no private key. It is 0x and 64 hex digits.', EXIT.usage, nextStep);
  return key;
}
