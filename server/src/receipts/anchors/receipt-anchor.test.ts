import { receiptAnchor } from '@tallygate/receipt-anchor';
import { deployReceiptAnchor, type LocalChain, startLocalChain } from '@tallygate/receipt-anchor/local-chain';
import { confirmAnchor, verifyReceipt } from '@tallygate/receipts';
import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openEthersChain } from '../../adapters/chain/ethers-chain.ts';
import type { AnchorChain } from '../../adapters/chain/port.ts';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { emptyArchive } from '../../archive/testing/archives.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLog } from '../../kernel/log.ts';
import { appendAll } from '../log/append.ts';
import { findReceipt } from '../read-receipt.ts';
import { newSigningSeed, publishSigningKeys, signingKeyFromSeed, storedKeySet } from '../signing-keys.ts';
import { keptInMemory, storeReceipts } from '../testing/receipts.ts';
import { AnchorWorker } from './anchor-worker.ts';
import { findAnchor, listAnchors } from './read-anchors.ts';
import { withAnchors } from './receipt-anchor.ts';

/** The chain goes by the real clock, and holds nothing before it exists. */
const NOW = Date.now();
const [key, logKey] = [signingKeyFromSeed(newSigningSeed()), signingKeyFromSeed(newSigningSeed())];
let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;
let local: LocalChain;
let chain: AnchorChain;
let passedMs = 0;
const clock = { now: () => NOW + passedMs };

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 4 });
  await publishSigningKeys(pool, [key], NOW);
  await publishSigningKeys(pool, [logKey], NOW, 'checkpoint');
  local = await startLocalChain();
  // The contract knows the time of a state: the first block must not have the same one.
  await local.rpc('evm_increaseTime', 60);
  chain = openEthersChain({
    ...{ rpcUrl: local.url, chainId: local.chainId, abi: receiptAnchor.abi, privateKey: local.keys[0], confirmations: 'finalized' },
    contract: await deployReceiptAnchor(local),
  });
});
afterAll(async () => {
  chain?.close();
  await local?.stop();
  await pool?.end();
  await database?.drop();
});

const append = () => appendAll({ pool, keys: [logKey], kept: keptInMemory(), clock, log: silentLog() }, new AbortController().signal);
const shown = async (id: string) => {
  const [receipt] = await withAnchors(pool, [await findReceipt({ pool, archive: emptyArchive(pool), key }, id)], true);
  if (!receipt) throw new Error('no receipt');
  return receipt;
};

/** As an auditor checks it: the file first, then the chain. */
async function audited(id: string, contract?: string) {
  const found = verifyReceipt(await shown(id), await storedKeySet(pool));
  if (!found.valid) throw new Error(found.reason);
  return found.anchored && confirmAnchor(found.anchored, { rpcUrl: local.url, ...(contract !== undefined && { contract }) });
}

describe('the anchor of a receipt', () => {
  test('is pending, then sent, then in a block, then final, and at every stage the receipt verifies by itself and by the chain', async () => {
    const settings = { everyMs: 3_600_000, wishedWithinMs: 1_000, maxFeePerGas: 10n ** 12n, raiseAfterMs: 60_000, lowBalance: 0n };
    const worker = new AnchorWorker({
      chain,
      settings: { ...settings, coinPrice: 2_500_000_000_000n },
      pool,
      logKeys: [logKey],
      clock,
      log: silentLog(),
    });
    const [early = ''] = await storeReceipts(pool, logKey, [{ completedAt: NOW }, { completedAt: NOW }, { completedAt: NOW }]);
    expect((await shown(early)).anchor).toEqual({ state: 'pending' });
    await append();
    expect((await shown(early)).anchor).toEqual({ state: 'pending' });

    await local.rpc('evm_setAutomine', false);
    await worker.step();
    expect((await shown(early)).anchor).toMatchObject({ state: 'submitted', tree_size: 3, block_number: null, transaction_hash: null });
    expect(await audited(early)).toMatchObject({ confirmed: false, code: 'not_on_chain' });

    await local.rpc('evm_setAutomine', true);
    await local.rpc('evm_mine');
    await worker.step();
    const { anchor } = await shown(early);
    expect(anchor).toMatchObject({ state: 'included', block_number: expect.any(Number), transaction_hash: expect.any(String) });
    const blockNumber = anchor && 'block_number' in anchor ? anchor.block_number : null;
    expect(await audited(early)).toMatchObject({ confirmed: true, finality: 'latest', block_number: blockNumber });

    await local.rpc('anvil_mine', '0x10');
    passedMs += 60_000;
    await worker.step();
    expect((await shown(early)).anchor).toMatchObject({ state: 'finalized' });
    expect(await audited(early, chain.contract.toLowerCase())).toMatchObject({ confirmed: true, finality: 'finalized' });

    const [late = ''] = await storeReceipts(pool, logKey, [{ completedAt: NOW }]);
    await append();
    expect((await shown(late)).anchor).toEqual({ state: 'pending' });
    passedMs += 3_600_000;
    await worker.step();
    await worker.step();
    // The older receipt keeps the anchor that it had.
    const states = (await Promise.all([early, late].map(shown))).map((receipt) => receipt.anchor);
    expect(states).toMatchObject([
      { state: 'finalized', tree_size: 3 },
      { state: 'included', tree_size: 4, index: 3 },
    ]);
  });

  test('is listed with what it has cost, and found by its id', async () => {
    const { data, has_more } = await listAnchors(pool, { limit: 50 });
    expect(data.map(({ tree_size, previous_size, state }) => [tree_size, previous_size, state])).toEqual([
      [4, 3, 'included'],
      [3, 0, 'finalized'],
    ]);
    expect(has_more).toBe(false);
    const [, first] = data;
    expect(first).toMatchObject({
      fee: expect.stringMatching(/^0\.\d+$/),
      fee_usd: expect.stringMatching(/^0\.\d+$/),
      gas_used: expect.any(String),
    });
    expect(await findAnchor(pool, first?.id ?? '')).toEqual(first);
    expect((await listAnchors(pool, { chain_id: 1, limit: 50 })).data).toEqual([]);
    expect((await listAnchors(pool, { state: 'finalized', limit: 50 })).data).toEqual([first]);
    const { next_cursor } = await listAnchors(pool, { limit: 1 });
    expect((await listAnchors(pool, { limit: 1, cursor: next_cursor ?? '' })).data).toEqual([first]);
    await expect(findAnchor(pool, newId())).rejects.toMatchObject({ code: 'not_found' });
  });

  test('is refused where it is of another place, another state or another root', async () => {
    const keys = await storedKeySet(pool);
    const { rows } = await pool.query<{ receipt_id: string }>('select receipt_id from receipts order by log_index limit 1');
    const receipt = await shown(rows[0]?.receipt_id ?? '');
    const { anchor } = receipt;
    if (!anchor || !('path' in anchor)) throw new Error('no anchor');
    const broken = [
      [{ index: 1 }, 'not_in_anchor'],
      [{ tree_size: 5 }, 'not_in_anchor'],
      [{ tree_size: 4 }, 'anchor_of_another_log'],
      [{ root: `0x${'00'.repeat(32)}` }, 'not_in_anchor'],
      [{ path: anchor.path.slice(1) }, 'not_in_anchor'],
      [{ path: [...anchor.path, anchor.root] }, 'not_in_anchor'],
      [{ root: anchor.root.toUpperCase() }, 'malformed_anchor'],
      [{ contract: 'here' }, 'malformed_anchor'],
    ] as const;
    for (const [change, code] of broken)
      expect(verifyReceipt({ ...receipt, anchor: { ...anchor, ...change } }, keys)).toMatchObject({ valid: false, code });
    const verified = verifyReceipt(receipt, keys);
    if (!verified.valid || !verified.anchored) throw new Error('not verified');
    const options = { rpcUrl: local.url };
    for (const [change, code] of [
      [{ chain_id: 1 }, 'other_chain'],
      [{ contract: `0x${'11'.repeat(20)}` }, 'no_contract'],
      [{ tree_size: 5 }, 'other_size'],
    ] as const)
      expect(await confirmAnchor({ ...verified.anchored, ...change }, options)).toMatchObject({ confirmed: false, code });
    const other = `0x${'22'.repeat(20)}`;
    expect(await confirmAnchor(verified.anchored, { ...options, contract: other })).toMatchObject({
      confirmed: false,
      code: 'other_contract',
    });
    expect(await confirmAnchor({ ...verified.anchored, block_number: 0 }, options)).toMatchObject({ confirmed: true, block_number: null });
    await expect(confirmAnchor(verified.anchored, { rpcUrl: 'http://127.0.0.1:9' })).rejects.toThrow();
  });

  test('is null where the service anchors nowhere', async () => {
    const [id = ''] = await storeReceipts(pool, logKey, [{ completedAt: NOW }]);
    const [receipt] = await withAnchors(pool, [await findReceipt({ pool, archive: emptyArchive(pool), key }, id)], false);
    expect(receipt?.anchor).toBeNull();
  });
});
