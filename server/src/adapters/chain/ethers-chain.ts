import {
  type FetchGetUrlFunc,
  FetchRequest,
  getAddress,
  hexlify,
  Interface,
  type InterfaceAbi,
  isError,
  JsonRpcProvider,
  keccak256,
  toQuantity,
  Wallet,
} from 'ethers';
import * as z from 'zod';
import { anchoringTransaction } from './anchoring-transaction.ts';
import { type AnchorChain, AnchorRefused, type Broadcast, type NextState } from './port.ts';

export interface EthersChainOptions {
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly contract: string;
  /** Of `packages/receipt-anchor`. */
  readonly abi: InterfaceAbi;
  /** 32 bytes, 0x and hex. */
  readonly privateKey: string;
  /** What the chain's own word for a settled block is. */
  readonly confirmations: 'safe' | 'finalized';
  /** Time for one answer of the node, to its last byte. Default: 15 seconds. */
  readonly answerWithinMs?: number;
}

const ANSWER_WITHIN_MS = 15_000;

const quantity = z
  .string()
  .regex(/^0x[0-9a-f]+$/i)
  .transform((text) => BigInt(text));
const number = quantity.transform(Number).pipe(z.int());
const Block = z.object({ number, timestamp: number });
const PricedBlock = z.object({ baseFeePerGas: quantity });
/** A node that knows a transaction from its pool alone names no block. `l1Fee`: what chains of the OP Stack charge beside the gas. */
const Waiting = z.object({ blockNumber: z.null() });
const Receipt = z.object({
  blockNumber: number,
  status: number,
  gasUsed: quantity,
  effectiveGasPrice: quantity,
  l1Fee: quantity.nullish(),
});
const Found = z.union([z.null(), Waiting, Receipt]);

/** Ethers' own timeout is of the silence: a node that answers a byte a second would never be given up. */
const wholeAnswerWithin =
  (timeoutMs: number): FetchGetUrlFunc =>
  async ({ url, method, headers, body }) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const answer = await fetch(url, { method, headers, body: body && Buffer.from(body), signal, redirect: 'manual' });
    return {
      ...{ statusCode: answer.status, statusMessage: answer.statusText, headers: Object.fromEntries(answer.headers) },
      body: new Uint8Array(await answer.arrayBuffer()),
    };
  };

/** The contract over the JSON-RPC of a node, any EVM chain with EIP-1559 fees. Nothing is asked before the first call. */
export function openEthersChain({
  rpcUrl,
  chainId,
  abi,
  privateKey,
  confirmations,
  answerWithinMs = ANSWER_WITHIN_MS,
  ...given
}: EthersChainOptions): AnchorChain {
  const request = new FetchRequest(rpcUrl);
  request.timeout = answerWithinMs;
  request.getUrlFunc = wholeAnswerWithin(answerWithinMs);
  // A cached answer is a block too old: what is decided here depends on the newest.
  const provider = new JsonRpcProvider(request, chainId, { staticNetwork: true, cacheTimeout: -1, batchMaxCount: 1 });
  const wallet = new Wallet(privateKey);
  const contract = getAddress(given.contract);
  const contractInterface = new Interface(abi);

  let isRightChain = false;
  async function ask(method: string, ...params: readonly unknown[]): Promise<unknown> {
    try {
      if (!isRightChain) {
        const found = number.parse(await provider.send('eth_chainId', []));
        if (found !== chainId) throw new Error(`The node is of chain ${found}, the configuration says ${chainId}`);
        isRightChain = true;
      }
      return await provider.send(method, [...params]);
    } catch (error) {
      throw withoutAddress(error, chainId);
    }
  }

  async function read(name: string, ...args: readonly unknown[]) {
    const data = contractInterface.encodeFunctionData(name, args);
    const answer = z.string().parse(await ask('eth_call', { to: contract, data }, 'latest'));
    if (answer === '0x') throw new Error(`There is no contract at ${contract} on chain ${chainId}`);
    return contractInterface.decodeFunctionResult(name, answer);
  }

  async function find(root: Uint8Array) {
    const [size, time] = await read('anchors', hexlify(root));
    return size === 0n ? undefined : { size: Number(size), time: new Date(Number(time) * 1_000) };
  }

  const calldata = ({ root, size, path }: NextState): string =>
    contractInterface.encodeFunctionData('anchor', [hexlify(root), size, path.map((hash) => hexlify(hash))]);
  const blockAt = async (tag: number | string) =>
    Block.parse(await ask('eth_getBlockByNumber', typeof tag === 'number' ? toQuantity(tag) : tag, false));

  return {
    chainId,
    contract,
    publisher: wallet.address,

    async newest() {
      const [size] = await read('latestSize');
      if (size === 0n) return undefined;
      // Between the two answers the contract may have taken another state: the root has the last word on its size.
      const [root] = await read('latestRoot');
      const [found] = await read('anchors', root);
      return { size: Number(found), root: Buffer.from(root.slice(2), 'hex') };
    },

    find,

    async account() {
      const nextNonce = number.parse(await ask('eth_getTransactionCount', wallet.address, 'latest'));
      return { nextNonce, balanceWei: quantity.parse(await ask('eth_getBalance', wallet.address, 'latest')) };
    },

    async fees() {
      const { baseFeePerGas } = PricedBlock.parse(await ask('eth_getBlockByNumber', 'latest', false));
      const maxPriorityPerGas = quantity.parse(await ask('eth_maxPriorityFeePerGas'));
      // Twice the present base fee: it grows by an eighth a block at most, so the offer holds for six full ones.
      return { maxPerGas: 2n * baseFeePerGas + maxPriorityPerGas, maxPriorityPerGas };
    },

    async estimate(state) {
      try {
        return quantity.parse(await ask('eth_estimateGas', { from: wallet.address, to: contract, data: calldata(state) }, 'latest'));
      } catch (error) {
        if (!isError(error, 'CALL_EXCEPTION')) throw error;
        const known = error.data ? contractInterface.parseError(error.data) : null;
        throw new AnchorRefused(known?.name ?? error.shortMessage, { cause: error });
      }
    },

    async sign(state, { nonce, gasLimit, fees }) {
      const raw = await wallet.signTransaction({
        ...{ type: 2, chainId, to: contract, data: calldata(state), nonce, gasLimit },
        ...{ maxFeePerGas: fees.maxPerGas, maxPriorityFeePerGas: fees.maxPriorityPerGas },
      });
      return { hash: keccak256(raw), raw };
    },

    async broadcast(raw) {
      try {
        await ask('eth_sendRawTransaction', raw);
        return 'accepted';
      } catch (error) {
        return refusedBroadcast(error);
      }
    },

    async inclusionOf(hash) {
      const receipt = Found.parse(await ask('eth_getTransactionReceipt', hash));
      if (!receipt || !('status' in receipt)) return undefined;
      const { blockNumber, status, gasUsed, effectiveGasPrice, l1Fee } = receipt;
      return {
        blockNumber,
        blockTime: new Date((await blockAt(blockNumber)).timestamp * 1_000),
        succeeded: status === 1,
        gasUsed,
        feeWei: gasUsed * effectiveGasPrice + (l1Fee ?? 0n),
      };
    },

    async transactionOf({ root }) {
      const found = await find(root);
      const topics = contractInterface.encodeFilterTopics('AnchoredState', [null, hexlify(root)]);
      return found && anchoringTransaction({ time: found.time.getTime() / 1_000, filter: { address: contract, topics }, blockAt, ask });
    },

    settledBlock: async () => (await blockAt(confirmations)).number,
    close: () => provider.destroy(),
  };
}

/** What nodes say of a transaction that they have already: geth, Nethermind, Besu, Erigon, anvil. */
const KNOWN = /already (?:known|imported|in the (?:pool|mempool))|known transaction|alreadyknown/i;

function refusedBroadcast(error: unknown): Broadcast {
  if (isError(error, 'NONCE_EXPIRED')) return 'nonce_spent';
  if (isError(error, 'REPLACEMENT_UNDERPRICED')) return 'underpriced';
  if (KNOWN.test(String(error))) return 'accepted';
  throw error;
}

/** What a node said, and what a caller has to tell apart. */
const MEANT = ['CALL_EXCEPTION', 'NONCE_EXPIRED', 'REPLACEMENT_UNDERPRICED'] as const;

/** The address of a node often holds the key to it, and the library's errors name it: it is not to get into a log. */
function withoutAddress(error: unknown, chainId: number): unknown {
  if (MEANT.some((code) => isError(error, code))) return error;
  if (isError(error, 'INSUFFICIENT_FUNDS')) return new Error(`The account that pays for anchors on chain ${chainId} is empty`);
  if (isError(error, 'UNKNOWN_ERROR'))
    return new Error(`The node of chain ${chainId} refuses: ${messageOf(error.error) || error.shortMessage}`);
  if (error instanceof Error && 'shortMessage' in error) return new Error(`The node of chain ${chainId} fails: ${error.shortMessage}`);
  return error;
}

const messageOf = (value: unknown): string =>
  typeof value === 'object' && value !== null && 'message' in value && typeof value.message === 'string' ? value.message : '';
