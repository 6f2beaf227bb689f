import { once } from 'node:events';
import { createServer } from 'node:net';
import { receiptAnchor } from '@tallygate/receipt-anchor';
import { deployReceiptAnchor, type LocalChain, startLocalChain } from '@tallygate/receipt-anchor/local-chain';
import { Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openEthersChain } from './ethers-chain.ts';
import type { AnchorChain, NextState } from './port.ts';

const stateOf = (size: number): NextState => ({ size, root: new Uint8Array(32).fill(size), path: [] });

let local: LocalChain;
let contract: string;
const opened: AnchorChain[] = [];
const open = (wish: Partial<Parameters<typeof openEthersChain>[0]> = {}): AnchorChain => {
  const chain = openEthersChain({
    ...{ rpcUrl: local.url, chainId: local.chainId, contract, abi: receiptAnchor.abi, privateKey: local.keys[0], confirmations: 'safe' },
    ...wish,
  });
  opened.push(chain);
  return chain;
};

beforeAll(async () => {
  local = await startLocalChain();
});
afterAll(async () => {
  for (const chain of opened) chain.close();
  await local?.stop();
});

describe('the contract over JSON-RPC', () => {
  test('a state goes from what it costs to the block in which it stands, under the hash that was known before it was sent', async () => {
    contract = await deployReceiptAnchor(local);
    const chain = open();
    expect(await chain.newest()).toBeUndefined();
    const state = stateOf(3);
    const before = await chain.account();
    const terms = { nonce: before.nextNonce, gasLimit: await chain.estimate(state), fees: await chain.fees() };
    const { hash, raw } = await chain.sign(state, terms);
    expect(await chain.inclusionOf(hash)).toBeUndefined();
    expect(await chain.broadcast(raw)).toBe('accepted');
    // Anvil takes a transaction in before it makes the block.
    const inclusion = await vi.waitUntil(() => chain.inclusionOf(hash), { timeout: 60_000 });
    expect(inclusion).toMatchObject({ succeeded: true });
    const after = await chain.account();
    expect(before.balanceWei - after.balanceWei).toBe(inclusion.feeWei);
    expect(after.nextNonce).toBe(before.nextNonce + 1);
    expect(await chain.newest()).toEqual({ size: 3, root: Buffer.from(state.root) });
    expect(await chain.find(state.root)).toEqual({ size: 3, time: inclusion.blockTime });
    expect(await chain.find(stateOf(4).root)).toBeUndefined();
    expect(await chain.broadcast(raw)).toBe('nonce_spent');
    await local.rpc('anvil_mine', '0x10');
    expect(await chain.transactionOf(state)).toBe(hash);
    expect(await chain.transactionOf(stateOf(4))).toBeUndefined();
  });

  test('a node that answers a byte at a time is given up, and its connection closed', async () => {
    const closed: Promise<unknown>[] = [];
    const server = createServer((socket) => {
      socket.on('error', () => {}).resume();
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n');
      const beat = setInterval(() => socket.write(' '), 20);
      closed.push(new Promise<void>((resolve) => socket.once('close', resolve)).then(() => clearInterval(beat)));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const rpcUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
    await expect(open({ rpcUrl, answerWithinMs: 200 }).account()).rejects.toThrow();
    await Promise.all(closed);
    server.close();
  });

  test('a transaction that waits is known, is no inclusion, and gives way to one that pays more', async () => {
    contract = await deployReceiptAnchor(local);
    const chain = open();
    const state = stateOf(5);
    await local.rpc('evm_setAutomine', false);
    try {
      const { nextNonce: nonce } = await chain.account();
      const [gasLimit, fees] = [await chain.estimate(state), await chain.fees()];
      const first = await chain.sign(state, { nonce, gasLimit, fees });
      expect(await chain.broadcast(first.raw)).toBe('accepted');
      expect(await chain.broadcast(first.raw)).toBe('accepted');
      expect(await chain.inclusionOf(first.hash)).toBeUndefined();
      const forTheSame = await chain.sign(state, { nonce, gasLimit: gasLimit + 1n, fees });
      expect(await chain.broadcast(forTheSame.raw)).toBe('underpriced');
      const more = { maxPerGas: fees.maxPerGas * 2n, maxPriorityPerGas: fees.maxPriorityPerGas * 2n };
      const second = await chain.sign(state, { nonce, gasLimit, fees: more });
      expect(await chain.broadcast(second.raw)).toBe('accepted');
      await local.rpc('evm_mine');
      expect(await chain.inclusionOf(first.hash)).toBeUndefined();
      expect(await chain.inclusionOf(second.hash)).toMatchObject({ succeeded: true });
    } finally {
      await local.rpc('evm_setAutomine', true);
    }
  });

  test('a block counts as settled by the chain’s own word: finalized ones are older than safe ones', async () => {
    contract = await deployReceiptAnchor(local);
    await local.rpc('anvil_mine', '0x8');
    const newest = Number(await local.rpc('eth_blockNumber'));
    const [safe, finalized] = [await open().settledBlock(), await open({ confirmations: 'finalized' }).settledBlock()];
    expect(safe).toBeLessThan(newest);
    expect(finalized).toBeLessThan(safe);
  });

  test('says by its name with which error the contract would refuse', async () => {
    contract = await deployReceiptAnchor(local);
    await expect(open({ privateKey: local.keys[1] }).estimate(stateOf(1))).rejects.toMatchObject({ refusal: 'NotPublisher' });
    await expect(open().estimate({ ...stateOf(1), path: [stateOf(2).root] })).rejects.toMatchObject({ refusal: 'Inconsistent' });
  });

  test('a node of another chain, an address without a contract and a node that is down are failures, not answers', async () => {
    contract = await deployReceiptAnchor(local);
    await expect(open({ chainId: 1 }).newest()).rejects.toThrow('The node is of chain 31337, the configuration says 1');
    await expect(open({ contract: new Wallet(local.keys[2]).address }).newest()).rejects.toThrow('There is no contract at');
    await expect(open({ rpcUrl: 'http://127.0.0.1:9' }).account()).rejects.toThrow();
  });
});
