import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { receiptAnchor } from '@tallygate/receipt-anchor';
import { deployReceiptAnchor, type LocalChain, startLocalChain } from '@tallygate/receipt-anchor/local-chain';
import { inclusionRanges, leafHash, toHex } from '@tallygate/receipts';
import { Contract, JsonRpcProvider, Wallet } from 'ethers';
import type { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openEthersChain } from '../../adapters/chain/ethers-chain.ts';
import type { AnchorChain } from '../../adapters/chain/port.ts';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { silentLog } from '../../kernel/log.ts';
import { digestOf } from '../issue-receipt.ts';
import { appendAll } from '../log/append.ts';
import { readRanges } from '../log/stored-tree.ts';
import { newSigningSeed, signingKeyFromSeed } from '../signing-keys.ts';
import { keptInMemory, storeSmallReceipts } from '../testing/receipts.ts';
import { ANCHORS, selectAnchors } from './anchor-rows.ts';
import { AnchorWorker } from './anchor-worker.ts';
import type { AnchoringSettings, AnchoringView } from './anchoring.ts';

const HOUR_MS = 3_600_000;
const SETTINGS: AnchoringSettings = {
  everyMs: HOUR_MS,
  wishedWithinMs: 60_000,
  maxFeePerGas: 100n * 10n ** 9n,
  raiseAfterMs: 120_000,
  lowBalance: 10n ** 17n,
  coinPrice: 3_000n * 10n ** 9n,
};
const key = signingKeyFromSeed(newSigningSeed());

let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;
let local: LocalChain;
let provider: JsonRpcProvider;
let contract: string;
let passedMs = 0;
const clock = { now: () => Date.now() + passedMs };
const opened: AnchorChain[] = [];

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 8 });
  local = await startLocalChain();
  provider = new JsonRpcProvider(local.url, local.chainId, { staticNetwork: true, cacheTimeout: -1 });
});
beforeEach(async () => {
  await pool.query('truncate receipts, receipt_log_tiles, receipt_log_checkpoints, anchors, anchor_transactions, webhook_messages cascade');
  await pool.query('update receipt_log set size = 0');
  contract = await deployReceiptAnchor(local);
});
afterEach(() => {
  for (const chain of opened.splice(0)) chain.close();
});
afterAll(async () => {
  provider?.destroy();
  await local?.stop();
  await pool?.end();
  await database?.drop();
});

const chainOf = (node: LocalChain, address: string): AnchorChain => {
  const chain = openEthersChain({
    ...{ rpcUrl: node.url, chainId: node.chainId, contract: address, abi: receiptAnchor.abi, privateKey: node.keys[0] },
    confirmations: 'safe',
  });
  opened.push(chain);
  return chain;
};

/** A worker, and what it has said of its chain last. */
function workerOn(chain: AnchorChain = chainOf(local, contract), wish: Partial<AnchoringSettings> = {}) {
  const views: AnchoringView[] = [];
  const settings = { ...SETTINGS, ...wish };
  const worker = new AnchorWorker({ chain, settings, pool, logKeys: [key], clock, log: silentLog(), onLook: (view) => views.push(view) });
  /** Some steps on: what is sent in one is seen in a block by the next. */
  const steps = async () => {
    for (let at = 0; at < 3; at += 1) await worker.step();
  };
  return { step: () => worker.step(), steps, view: () => views.at(-1) };
}

/** So many receipts, in the log. @returns their payloads by id, in no order */
async function settle(count: number, wish: { isWished?: boolean } = {}): Promise<Map<string, string>> {
  const made = await storeSmallReceipts(pool, key, count, { ...wish, at: clock.now() });
  await appendAll({ pool, keys: [key], kept: keptInMemory(), clock, log: silentLog() }, new AbortController().signal);
  return made;
}

const anchors = () => selectAnchors(pool, ANCHORS.orderBy('tree_size').orderBy('chain_id'));
const states = async () => (await anchors()).map(({ size, state }) => [size, state]);
/** The sizes that the contract has taken, in its order, from its events. */
async function anchored(address = contract, node = provider): Promise<number[]> {
  const events = await new Contract(address, receiptAnchor.abi, node).queryFilter('AnchoredState');
  return events.map((event) => ('args' in event ? Number(event.args['size']) : Number.NaN));
}
const mine = (blocks: number) => local.rpc('anvil_mine', `0x${blocks.toString(16)}`);
const pass = (ms: number) => {
  passedMs += ms;
};
/** Without blocks, until the work is done. */
async function withoutBlocks(work: () => Promise<void>): Promise<void> {
  await local.rpc('evm_setAutomine', false);
  try {
    await work();
  } finally {
    await local.rpc('evm_setAutomine', true);
    await mine(1);
  }
}

describe('the log on a chain', () => {
  test('is anchored as it grows, each state once, from its node to blocks that stay', async () => {
    const { step, steps, view } = workerOn();
    await step();
    expect(await anchors()).toEqual([]);
    await settle(5);
    await steps();
    expect(await states()).toEqual([[5, 'included']]);
    expect(view()).toMatchObject({ waiting: 0, fault: null, isBalanceLow: false });

    await settle(3);
    await step();
    expect(view()).toMatchObject({ waiting: 3 });
    await mine(4);
    pass(HOUR_MS);
    await steps();
    expect(await states()).toEqual([
      [5, 'finalized'],
      [8, 'included'],
    ]);
    await expect.poll(() => anchored()).toEqual([5, 8]);
    const [first] = await anchors();
    expect(first?.inclusion).toMatchObject({ gasUsed: expect.any(BigInt), feeNanoUsd: expect.any(BigInt) });
    expect(view()?.feesWei).toBeGreaterThan(first?.inclusion?.feeWei ?? 0n);
    pass(HOUR_MS);
    await step();
    await expect.poll(() => anchored()).toEqual([5, 8]);
  });

  test('is told of to the accounts whose receipts asked for it, once it is in blocks that stay', async () => {
    const told = async () =>
      (await pool.query("select account_id, data from webhook_messages where type = 'receipt.anchored' order by id")).rows;
    const { steps } = workerOn();
    await settle(2);
    const wished = await settle(1, { isWished: true });
    await steps();
    expect(await told()).toEqual([]);
    await mine(4);
    pass(HOUR_MS);
    await steps();
    const [id = ''] = wished.keys();
    const anchored = { chain_id: local.chainId, tree_size: 3, receipt_count: 1, receipt_ids: [id] };
    expect(await told()).toEqual([{ account_id: id, data: expect.objectContaining(anchored) }]);
    const { rows } = await pool.query('select anchor_id, transaction_hash from anchors');
    expect((await told())[0].data).toMatchObject(rows[0]);
    pass(HOUR_MS);
    await steps();
    expect(await told()).toHaveLength(1);
  });

  test('holds every receipt of the state at its own place, as the contract itself finds', async () => {
    const receipts = await settle(9);
    await workerOn().step();
    const [anchor] = await anchors();
    const deployed = new Contract(contract, receiptAnchor.abi, provider);
    const { rows } = await pool.query<{ receipt_id: string; log_index: bigint }>('select receipt_id, log_index from receipts');
    expect(rows).toHaveLength(9);
    const root = `0x${toHex(anchor?.root ?? new Uint8Array())}`;
    for (const { receipt_id, log_index } of rows) {
      const leaf = leafHash(digestOf(receipts.get(receipt_id) ?? ''));
      const path = (await readRanges(pool, inclusionRanges(Number(log_index), 9))).map((hash) => `0x${toHex(hash)}`);
      const isIncluded = (index: bigint) => deployed.getFunction('isIncluded')(root, index, `0x${toHex(leaf)}`, path);
      expect([await isIncluded(log_index), await isIncluded((log_index + 1n) % 9n)]).toEqual([true, false]);
    }
  });

  test('is anchored before its time for a receipt that asks, and once for all that ask meanwhile', async () => {
    const { step } = workerOn();
    await settle(1);
    await step();
    await settle(1, { isWished: true });
    await step();
    await expect.poll(() => anchored()).toEqual([1]);
    pass(SETTINGS.wishedWithinMs / 2);
    await settle(1, { isWished: true });
    pass(SETTINGS.wishedWithinMs / 2);
    await step();
    await expect.poll(() => anchored()).toEqual([1, 3]);
    pass(SETTINGS.wishedWithinMs);
    await settle(1);
    await step();
    await expect.poll(() => anchored()).toEqual([1, 3]);
  });

  test('gets to the chain by a higher fee where no block takes it, within the limit, under the same nonce', async () => {
    const [present] = [await chainOf(local, contract).fees()];
    const limit = (present.maxPerGas * 3n) / 2n;
    const { step } = workerOn(undefined, { maxFeePerGas: limit });
    await settle(2);
    const attempts = async () =>
      (
        await pool.query<{ nonce: bigint; fee: string }>(
          'select nonce, max_fee_per_gas as fee from anchor_transactions order by recorded_at',
        )
      ).rows;
    await withoutBlocks(async () => {
      for (let at = 0; at < 8; at += 1) {
        await step();
        pass(SETTINGS.raiseAfterMs);
      }
      const sent = await attempts();
      expect(sent.length).toBeGreaterThan(2);
      expect(new Set(sent.map(({ nonce }) => nonce)).size).toBe(1);
      const fees = sent.map(({ fee }) => BigInt(fee));
      for (const [at, fee] of fees.entries())
        expect([fee <= limit, at === 0 || fee * 8n >= (fees[at - 1] ?? 0n) * 9n]).toEqual([true, true]);
      expect(await states()).toEqual([[2, 'submitted']]);
    });
    await step();
    expect(await states()).toEqual([[2, 'included']]);
    await expect.poll(() => anchored()).toEqual([2]);
  });

  test('comes back where the chain takes its block back', async () => {
    const { step, steps } = workerOn();
    await settle(4);
    await steps();
    await settle(4);
    pass(HOUR_MS);
    await steps();
    expect(await states()).toEqual([
      [4, 'included'],
      [8, 'included'],
    ]);
    await withoutBlocks(async () => {
      await local.rpc('anvil_reorg', 2, []);
      await expect.poll(() => anchored()).toEqual([]);
      pass(HOUR_MS);
      await step();
      expect(await states()).toEqual([
        [4, 'submitted'],
        [8, 'submitted'],
      ]);
    });
    await step();
    expect(await states()).toEqual([
      [4, 'included'],
      [8, 'included'],
    ]);
    await expect.poll(() => anchored()).toEqual([4, 8]);
  });

  test('gets there although its nonce was spent on something else', async () => {
    const { step } = workerOn();
    await settle(3);
    await withoutBlocks(async () => {
      await step();
      const [waiting] = await anchors();
      await local.rpc('anvil_dropAllTransactions');
      const other = new Wallet(local.keys[0], provider);
      await other.sendTransaction({ to: other.address, value: 0n, nonce: waiting?.nonce ?? 0 });
    });
    await step();
    await step();
    expect(await states()).toEqual([[3, 'included']]);
    await expect.poll(() => anchored()).toEqual([3]);
  });

  test('is in the books again where the books were restored to an older state', async () => {
    const { steps } = workerOn();
    await settle(3);
    await steps();
    const before = await anchors();
    await pool.query('truncate anchors, anchor_transactions');
    await settle(2);
    await steps();
    expect(await states()).toEqual([
      [3, 'included'],
      [5, 'included'],
    ]);
    expect((await anchors())[0]?.inclusion).toEqual(before[0]?.inclusion);
    await expect.poll(() => anchored()).toEqual([3, 5]);
  });

  test('is not sent where the contract holds the history of another log', async () => {
    await settle(3);
    await workerOn().step();
    await pool.query('truncate receipts, receipt_log_tiles, receipt_log_checkpoints, anchors, anchor_transactions');
    await pool.query('update receipt_log set size = 0');
    await settle(7);
    const { step, view } = workerOn();
    await step();
    expect(view()?.fault).toContain('that this log never had');
    expect(await anchors()).toEqual([]);
    await expect.poll(() => anchored()).toEqual([3]);
  });

  test('waits, and says so, while the contract does not let the account publish', async () => {
    const owner = new Contract(contract, receiptAnchor.abi, new Wallet(local.keys[0], provider));
    const allow = async (allowed: boolean) => (await owner.getFunction('setPublisher')(new Wallet(local.keys[0]).address, allowed)).wait();
    await allow(false);
    const { step, view } = workerOn();
    await settle(2);
    await step();
    expect(view()?.fault).toContain('NotPublisher');
    await allow(true);
    await step();
    expect(view()?.fault).toBeNull();
    await expect.poll(() => anchored()).toEqual([2]);
  });

  test('is anchored once however many workers step at a time', async () => {
    const workers = Array.from({ length: 4 }, () => workerOn());
    await settle(6);
    await Promise.all(workers.map(({ step }) => step()));
    await expect.poll(() => anchored()).toEqual([6]);
    const { rows } = await pool.query<{ sent: bigint }>('select count(*) as sent from anchor_transactions');
    expect(rows).toEqual([{ sent: 1n }]);
  });

  test.each([
    ['before it has signed', 'sign'],
    ['between writing down and sending', 'before broadcast'],
    ['between sending and writing down', 'after broadcast'],
  ])('is anchored once and not lost where the process is killed %s', async (_, moment) => {
    await settle(4);
    const victim = killedAt(moment);
    expect(await once(victim, 'exit')).toEqual([null, 'SIGKILL']);
    const { steps } = workerOn();
    // Its lock goes with its connection, which the database may notice a moment later.
    await expect.poll(() => steps().then(states)).toEqual([[4, 'included']]);
    await expect.poll(() => anchored()).toEqual([4]);
    const [anchor] = await anchors();
    const { rows } = await pool.query<{ transaction_hash: string }>('select transaction_hash from anchor_transactions');
    expect(rows.map(({ transaction_hash }) => transaction_hash)).toEqual([anchor?.inclusion?.hash]);
  });

  test('goes to every chain at its own pace: one that cannot be reached holds up no other', async () => {
    const other = await startLocalChain({ chainId: 4_242 });
    try {
      const address = await deployReceiptAnchor(other);
      const [here, there] = [workerOn(), workerOn(chainOf(other, address))];
      await settle(4);
      await Promise.all([here.steps(), there.steps()]);
      expect((await anchors()).map(({ chainId, state }) => [chainId, state])).toEqual([
        [4_242, 'included'],
        [31_337, 'included'],
      ]);
      await other.stop();
      await settle(1);
      pass(HOUR_MS);
      await Promise.all([here.steps(), there.steps()]);
      expect(there.view()?.fault).not.toBeNull();
      expect(here.view()?.fault).toBeNull();
      await expect.poll(() => anchored()).toEqual([4, 5]);
    } finally {
      await other.stop();
    }
  });

  test('says when the account that pays is nearly empty', async () => {
    const { step, view } = workerOn(undefined, { lowBalance: 10n ** 30n });
    await step();
    expect(view()).toMatchObject({ isBalanceLow: true, balanceWei: expect.any(BigInt) });
  });
});

/** A worker in a process of its own that is killed, as by `kill -9`, at a moment of its first anchor. */
function killedAt(moment: string) {
  const options = { rpcUrl: local.url, chainId: local.chainId, contract, privateKey: local.keys[0], confirmations: 'safe' };
  const settings = Object.entries(SETTINGS).map(([name, value]) => `${name}: ${value}${typeof value === 'bigint' ? 'n' : ''}`);
  const from = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const script = `
    import { pino } from 'pino';
    import { receiptAnchor } from '@tallygate/receipt-anchor';
    import { openEthersChain } from ${from('../../adapters/chain/ethers-chain.ts')};
    import { openPool } from ${from('../../adapters/postgres/database.ts')};
    import { AnchorWorker } from ${from('./anchor-worker.ts')};
    const log = pino({ level: 'silent' });
    const chain = openEthersChain({ ...${JSON.stringify(options)}, abi: receiptAnchor.abi });
    const die = () => { process.kill(process.pid, 'SIGKILL'); return new Promise(() => {}); };
    const sign = (...given) => ${moment === 'sign' ? 'die()' : 'chain.sign(...given)'};
    const broadcast = async (raw) => {
      if (${moment === 'after broadcast'}) await chain.broadcast(raw);
      return die();
    };
    const pool = openPool({ url: ${JSON.stringify(database.url)}, log, poolSize: 2 });
    const logKeys = [${JSON.stringify({ kid: key.kid, x: key.x })}];
    await new AnchorWorker({ chain: { ...chain, sign, broadcast }, settings: { ${settings.join(', ')} }, pool, logKeys, clock: { now: () => ${clock.now()} }, log }).step();`;
  const args = ['--conditions=tallygate-source', '--input-type=module-typescript', '-e', script];
  return spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'], cwd: new URL('.', import.meta.url) });
}
