import { readFileSync } from 'node:fs';
import { Contract, ContractFactory, type ContractTransactionReceipt, isError, JsonRpcProvider, NonceManager, Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { artefactText } from '../scripts/artefact-text.ts';
import { type LocalChain, startLocalChain } from '../testing/local-chain.ts';
import { Tree } from '../testing/tree.ts';
import { receiptAnchor } from './index.ts';

const ZERO = `0x${'00'.repeat(32)}`;

let chain: LocalChain;
let provider: JsonRpcProvider;
let owner: NonceManager;
let stranger: NonceManager;
beforeAll(async () => {
  chain = await startLocalChain();
  provider = new JsonRpcProvider(chain.url, chain.chainId, { staticNetwork: true, pollingInterval: 20, cacheTimeout: -1 });
  owner = new NonceManager(new Wallet(chain.keys[0], provider));
  stranger = new NonceManager(new Wallet(chain.keys[1], provider));
});
afterAll(async () => {
  provider?.destroy();
  await chain?.stop();
});

/** A contract of the test's own, whose owner publishes. */
async function deploy() {
  const factory = new ContractFactory(receiptAnchor.abi, receiptAnchor.bytecode, owner);
  const made = await factory.deploy(await owner.getAddress());
  await made.waitForDeployment();
  const contract = new Contract(made.target, receiptAnchor.abi, owner);
  /** @returns the gas it took */
  const send = async (name: string, ...args: unknown[]): Promise<number> => {
    const sent = await contract.getFunction(name).send(...args);
    const mined: ContractTransactionReceipt | null = await sent.wait();
    return Number(mined?.gasUsed);
  };
  const deployed = await made.deploymentTransaction()?.wait();
  return {
    contract,
    deployGas: Number(deployed?.gasUsed),
    send,
    anchor: (tree: Tree, from: number, to: number) => send('anchor', tree.root(to), to, tree.consistency(from, to)),
  };
}

/** The name of the error with which the contract refuses the call. */
async function refusalOf(contract: Contract, name: string, ...args: unknown[]): Promise<string | undefined> {
  try {
    await contract.getFunction(name).staticCall(...args);
    return undefined;
  } catch (error) {
    return isError(error, 'CALL_EXCEPTION') ? error.revert?.name : String(error);
  }
}

test('the committed artefact is what the contract compiles to', () => {
  expect(readFileSync(new URL('generated/receipt-anchor.ts', import.meta.url), 'utf8')).toBe(artefactText());
});

describe('the contract', () => {
  test('takes every state that begins with the newest one, and knows each of them for ever', async () => {
    const { contract, anchor } = await deploy();
    const tree = new Tree();
    const sizes = [1, 2, 3, 7, 8, 13, 64, 65, 130, 1_000];
    for (const [place, size] of sizes.entries()) {
      await anchor(tree, sizes[place - 1] ?? 0, size);
      expect(await contract.getFunction('latestSize')()).toBe(BigInt(size));
      expect(await contract.getFunction('latestRoot')()).toBe(tree.root(size));
    }
    for (const size of sizes) {
      const [found, time] = await contract.getFunction('anchors')(tree.root(size));
      expect([found, time > 0n]).toEqual([BigInt(size), true]);
    }
    const events = await contract.queryFilter('AnchoredState');
    expect(events).toHaveLength(sizes.length);
  });

  test('refuses a rewritten history, a wrong path, a smaller or equal state, and one without entries', async () => {
    const { contract, anchor } = await deploy();
    const tree = new Tree();
    const rewritten = new Tree((index) => (index === 3 ? 'another' : `entry ${index}`));
    expect(await refusalOf(contract, 'anchor', ZERO, 0, [])).toBe('NotGrowing');
    expect(await refusalOf(contract, 'anchor', tree.root(7), 7, [ZERO])).toBe('Inconsistent');
    await anchor(tree, 0, 7);
    const path = tree.consistency(7, 12);
    const refusals = [
      [rewritten.root(12), 12, rewritten.consistency(7, 12)],
      [rewritten.root(12), 12, path],
      [tree.root(13), 12, path],
      [tree.root(12), 12, []],
      [tree.root(12), 12, path.slice(0, -1)],
      [tree.root(12), 12, [...path, ZERO]],
      [tree.root(12), 12, path.toReversed()],
      ...path.map((_, place) => [tree.root(12), 12, path.with(place, ZERO)]),
    ];
    for (const refused of refusals) expect(await refusalOf(contract, 'anchor', ...refused)).toBe('Inconsistent');
    expect(await refusalOf(contract, 'anchor', tree.root(7), 7, [])).toBe('NotGrowing');
    expect(await refusalOf(contract, 'anchor', tree.root(6), 6, [])).toBe('NotGrowing');
    expect(await refusalOf(contract, 'anchor', tree.root(12), 12, path)).toBeUndefined();
  });

  test('shows of every entry that it is included, at its own index alone', async () => {
    const { contract, anchor } = await deploy();
    const tree = new Tree();
    const size = 11;
    await anchor(tree, 0, size);
    const isIncluded = (...args: unknown[]) => contract.getFunction('isIncluded').staticCall(...args);
    for (let index = 0; index < size; index += 1) {
      const path = tree.inclusion(index, size);
      expect(await isIncluded(tree.root(size), index, tree.leaf(index), path)).toBe(true);
      const broken = [
        [tree.root(size), index + 1, tree.leaf(index), path],
        [tree.root(size), index + size, tree.leaf(index), path],
        [tree.root(size), index, tree.leaf((index + 1) % size), path],
        [tree.root(size), index, tree.leaf(index), path.slice(1)],
        [tree.root(size), index, tree.leaf(index), [...path, ZERO]],
        [tree.root(size + 1), index, tree.leaf(index), tree.inclusion(index, size + 1)],
      ];
      for (const claim of broken) expect(await isIncluded(...claim)).toBe(false);
    }
  });

  test('lets only publishers publish and only the owner choose them', async () => {
    const { contract, send } = await deploy();
    const tree = new Tree();
    const other = await stranger.getAddress();
    const elsewhere = new Contract(contract.target, receiptAnchor.abi, stranger);
    expect(await refusalOf(elsewhere, 'anchor', tree.root(1), 1, [])).toBe('NotPublisher');
    for (const [name, ...args] of [['setPublisher', other, true], ['offerOwnership', other], ['acceptOwnership']] as const)
      expect(await refusalOf(elsewhere, name, ...args)).toBe('NotOwner');

    await send('setPublisher', other, true);
    expect(await refusalOf(elsewhere, 'anchor', tree.root(1), 1, [])).toBeUndefined();
    await send('setPublisher', other, false);
    expect(await refusalOf(elsewhere, 'anchor', tree.root(1), 1, [])).toBe('NotPublisher');

    await send('offerOwnership', other);
    await (await elsewhere.getFunction('acceptOwnership').send()).wait();
    expect(await contract.getFunction('owner')()).toBe(other);
    expect(await refusalOf(contract, 'setPublisher', other, true)).toBe('NotOwner');
  });

  test('costs what the guide says, and little more where the log has grown much', async () => {
    const { deployGas, anchor } = await deploy();
    const tree = new Tree();
    const first = await anchor(tree, 0, 1_000);
    const small = await anchor(tree, 1_000, 1_100);
    const large = await anchor(tree, 1_100, 9_001);
    expect(deployGas).toBeLessThan(740_000);
    for (const gas of [first, small, large]) expect(gas).toBeLessThan(80_000);
  });
});
