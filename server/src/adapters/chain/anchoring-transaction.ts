import { toQuantity } from 'ethers';
import * as z from 'zod';

interface Search {
  /** Of the block in which the contract took the state, Unix seconds. */
  readonly time: number;
  /** The contract, and the event with which it took the state. */
  readonly filter: { readonly address: string; readonly topics: readonly unknown[] };
  blockAt(tag: number | 'latest'): Promise<{ number: number; timestamp: number }>;
  ask(method: string, ...params: readonly unknown[]): Promise<unknown>;
}

const Logs = z.array(z.object({ transactionHash: z.string(), removed: z.boolean().nullish() }));

/**
 * The transaction by which the contract took a state. Many nodes look through some thousand blocks at a time only, and a block number that a
 * contract sees is on some chains that of another: so the blocks of its time are found by halving, and those alone are looked through.
 */
export async function anchoringTransaction({ time, filter, blockAt, ask }: Search): Promise<string | undefined> {
  const newest = (await blockAt('latest')).number;
  /** The first block that is not before a time. */
  const firstFrom = async (since: number): Promise<number> => {
    let [low, high] = [0, newest + 1];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if ((await blockAt(middle)).timestamp >= since) high = middle;
      else low = middle + 1;
    }
    return low;
  };
  const fromBlock = toQuantity(await firstFrom(time));
  const toBlock = toQuantity(Math.min(newest, await firstFrom(time + 1)));
  const logs = Logs.parse(await ask('eth_getLogs', { ...filter, fromBlock, toBlock }));
  return logs.find(({ removed }) => !removed)?.transactionHash;
}
