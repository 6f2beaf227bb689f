import type { AnchoredReceipt } from './receipt-anchor.ts';

export interface NodeOptions {
  /** Of any node of the chain. The answer is as good as the node: ask one that you trust, or several. */
  readonly rpcUrl: string;
  readonly signal?: AbortSignal;
  /** Time for all of the node's answers together, to their last byte, milliseconds. Default: ten seconds. */
  readonly timeoutMs?: number;
  /** In place of the platform's `fetch`. */
  readonly fetch?: (
    url: string,
    init: { method: string; headers: Record<string, string>; body: string; signal: AbortSignal | null },
  ) => Promise<Response>;
}

export interface ConfirmOptions extends NodeOptions {
  /** The contract that was had in a safe way. Without it the receipt itself names the contract, and whoever made the receipt may have made that one too. */
  readonly contract?: string;
}

/** The chain holds the state of the log. */
export interface ConfirmedAnchor {
  readonly confirmed: true;
  readonly chain_id: number;
  readonly contract: string;
  /** Of the block in which it came there, RFC 3339: the state of the log, and all that is in it, existed then. */
  readonly time: string;
  /** As the receipt names it; null where it names none, or one of another time. */
  readonly block_number: number | null;
  /** How settled the block is, by the chain's own word: `latest` may still be taken back. */
  readonly finality: 'finalized' | 'safe' | 'latest';
}

export interface UnconfirmedAnchor {
  readonly confirmed: false;
  readonly code: 'other_chain' | 'other_contract' | 'no_contract' | 'not_on_chain' | 'other_size';
  /** One sentence that names what differs. */
  readonly reason: string;
}

/** The first four bytes of Keccak-256 of `anchors(bytes32)`: the contract's answer is the size and the time of the state with that root. */
const ANCHORS = '0xb01b6d53';
const WORD_DIGITS = 64;
const TIMEOUT_MS = 10_000;
/** A block without its transactions has some kilobytes. */
const MOST_BYTES = 1_000_000;

/**
 * Asks a node whether the contract holds the state of the log that an anchor names. A few JSON-RPC calls by `fetch`, no library.
 *
 * @param anchor of a receipt that was verified
 * @throws Error where the node cannot be asked, or says nothing that could be understood
 */
export const confirmAnchor = (anchor: AnchoredReceipt, options: ConfirmOptions): Promise<ConfirmedAnchor | UnconfirmedAnchor> =>
  withDeadline(options, (within) => confirm(anchor, within));

async function confirm(anchor: AnchoredReceipt, options: ConfirmOptions): Promise<ConfirmedAnchor | UnconfirmedAnchor> {
  const { contract = anchor.contract } = options;
  if (contract.toLowerCase() !== anchor.contract.toLowerCase())
    return refused('other_contract', `The receipt names the contract ${anchor.contract}, asked for is ${contract}.`);
  const chainId = await askChainId(options);
  if (chainId !== anchor.chain_id)
    return refused('other_chain', `The receipt names chain ${anchor.chain_id}, the node is of chain ${chainId}.`);

  const call = [{ to: contract, data: `${ANCHORS}${anchor.root.slice(2)}` }] as const;
  const held = textOf(await ask('eth_call', [...call, 'latest'], options));
  const words = wordsOf(held);
  if (!words) return refused('no_contract', `There is no contract for anchors at ${contract} on chain ${chainId}.`);
  const [size, time] = words;
  if (size === 0n)
    return refused('not_on_chain', `The contract ${contract} on chain ${chainId} holds no state with the root ${anchor.root}.`);
  if (size !== BigInt(anchor.tree_size))
    return refused('other_size', `The contract holds that root for ${size} entries, the receipt says ${anchor.tree_size}.`);
  return {
    ...{ confirmed: true, chain_id: chainId, contract, time: new Date(Number(time) * 1_000).toISOString() },
    block_number: await blockOf(anchor, time, options),
    finality: await finalityOf(call, held, options),
  };
}

/** The number of the node's chain (EIP-155). @throws Error where the node cannot be asked */
export const chainIdOf = (options: NodeOptions): Promise<number> => withDeadline(options, askChainId);

const askChainId = async (options: NodeOptions): Promise<number> => Number(textOf(await ask('eth_chainId', [], options)));

/** A node that hangs, or answers a byte a second, is given up. */
async function withDeadline<Options extends NodeOptions, T>(options: Options, work: (within: Options) => Promise<T>): Promise<T> {
  const { signal: caller, timeoutMs = TIMEOUT_MS } = options;
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(new Error(`The node has not answered within ${timeoutMs / 1000} seconds.`)), timeoutMs);
  const end = () => deadline.abort(caller?.reason);
  if (caller?.aborted) end();
  caller?.addEventListener('abort', end);
  try {
    return await work({ ...options, signal: deadline.signal });
  } finally {
    clearTimeout(timer);
    caller?.removeEventListener('abort', end);
  }
}

const refused = (code: UnconfirmedAnchor['code'], reason: string): UnconfirmedAnchor => ({ confirmed: false, code, reason });

/** The size and the time, of 32 bytes each. */
function wordsOf(answer: string): readonly [bigint, bigint] | undefined {
  const [, size, time] = new RegExp(`^0x([0-9a-f]{${WORD_DIGITS}})([0-9a-f]{${WORD_DIGITS}})$`, 'i').exec(answer) ?? [];
  return size !== undefined && time !== undefined ? [BigInt(`0x${size}`), BigInt(`0x${time}`)] : undefined;
}

/** A block that the chain has taken back since, or one of another time, says nothing. */
async function blockOf({ block_number: number }: AnchoredReceipt, time: bigint, options: ConfirmOptions): Promise<number | null> {
  if (number === null) return null;
  const block = await ask('eth_getBlockByNumber', [`0x${number.toString(16)}`, false], options);
  if (typeof block !== 'object' || block === null || !('timestamp' in block) || typeof block.timestamp !== 'string') return null;
  return BigInt(block.timestamp) === time ? number : null;
}

/** The strongest word of the chain under which the contract answers the same. Nodes that do not know a word refuse it. */
async function finalityOf(call: readonly unknown[], held: string, options: ConfirmOptions): Promise<ConfirmedAnchor['finality']> {
  for (const tag of ['finalized', 'safe'] as const) {
    const answer = await ask('eth_call', [...call, tag], options).catch((error: unknown) => {
      if (error instanceof NodeRefusal) return undefined;
      throw error;
    });
    if (answer === held) return tag;
  }
  return 'latest';
}

async function ask(method: string, params: readonly unknown[], { rpcUrl, signal, fetch: send = fetch }: NodeOptions): Promise<unknown> {
  const response = await send(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: signal ?? null,
  });
  if (!response.ok) throw new NodeRefusal(`The node answers ${method} with status ${response.status}.`);
  const answer: unknown = JSON.parse(await textWithin(response, MOST_BYTES));
  if (typeof answer === 'object' && answer !== null && 'result' in answer) return answer.result;
  throw new NodeRefusal(
    `The node refuses ${method}${typeof answer === 'object' && answer !== null && 'error' in answer ? `: ${JSON.stringify(answer.error)}` : '.'}`,
  );
}

/** The node has answered, and not with what was asked for. */
class NodeRefusal extends Error {}

async function textWithin({ body }: Response, most: number): Promise<string> {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const piece = await reader?.read();
    if (!piece || piece.done) return text + decoder.decode();
    text += decoder.decode(piece.value, { stream: true });
    if (text.length <= most) continue;
    await reader?.cancel();
    throw new Error(`The node answers with more than ${most} bytes.`);
  }
}

function textOf(answer: unknown): string {
  if (typeof answer === 'string') return answer;
  throw new Error('The node says nothing that could be understood.');
}
