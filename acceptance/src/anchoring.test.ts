import { AnchorListResponse, ReceiptResponse, VaasKeySet } from '@tallygate/contract';
import { deployReceiptAnchor, type LocalChain, startLocalChain } from '@tallygate/receipt-anchor/local-chain';
import { confirmAnchor, verifyReceiptText } from '@tallygate/receipts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask, HELLO } from './chat.ts';
import { Gateway } from './gateway.ts';

const SOON = { timeout: 120_000, interval: 200 };

let chain: LocalChain;
let gateway: Gateway;
let contract: string;
beforeAll(async () => {
  chain = await startLocalChain({ chainId: 8_453 });
  contract = await deployReceiptAnchor(chain);
  gateway = await Gateway.start({
    env: {
      ...{ ANCHOR_RPC_URL: chain.url, ANCHOR_CHAIN_ID: '8453', ANCHOR_CONTRACT: contract, ANCHOR_PRIVATE_KEY: chain.keys[0] },
      ...{ ANCHOR_WISH_SECONDS: '1', ANCHOR_CONFIRMATIONS: 'safe', ANCHOR_COIN_USD: '3000', ANCHOR_LOW_BALANCE: '20000' },
    },
  });
});
afterAll(async () => {
  await gateway?.remove();
  await chain?.stop();
});

const text = async (path: string): Promise<string> => (await fetch(`${gateway.url}${path}`)).text();
const settled = async (headers: Record<string, string>): Promise<string> => {
  const answer = await ask(gateway, gateway.bootstrap.test_api_key, HELLO, headers);
  expect(answer.status).toBe(200);
  return answer.headers.get('x-receipt-id') ?? '';
};
const anchorOf = async (receiptId: string) => {
  const answer = await fetch(`${gateway.url}/v1/receipts/${receiptId}`);
  return answer.ok ? ReceiptResponse.parse(await answer.json()).anchor : null;
};

test('a receipt that asks for it is soon on the chain, and verifies without the gateway', async () => {
  // The first state of a log, with the keys and prices of the gateway, needs no asking; what comes after it would have to wait for an hour.
  await expect.poll(async () => JSON.parse(await text('/v1/anchors')).data, SOON).toMatchObject([{ state: 'included' }]);
  const plain = await settled({});
  const asking = await settled({ 'x-vaas-anchor': 'true' });
  await expect.poll(() => anchorOf(asking), SOON).toMatchObject({ state: 'included', chain_id: 8_453, contract });
  expect(await anchorOf(plain)).toMatchObject({ state: 'included' });

  await gateway.kill();
  await chain.rpc('anvil_mine', '0x8');
  await gateway.start();
  await expect.poll(() => anchorOf(asking), SOON).toMatchObject({ state: 'finalized' });

  const file = await text(`/v1/receipts/${asking}`);
  const keys = VaasKeySet.parse(JSON.parse(await text('/.well-known/vaas-keys.json')));
  const anchors = AnchorListResponse.parse(JSON.parse(await text('/v1/anchors')));
  const authorization = `Bearer ${gateway.bootstrap.metrics_token}`;
  const metrics = await (await fetch(`${gateway.url}/metrics`, { headers: { authorization } })).text();
  await gateway.stop();

  const verdict = verifyReceiptText(file, keys);
  if (!verdict.valid || !verdict.anchored) throw new Error(`The receipt does not verify: ${file}`);
  expect(verdict.checks).toMatchObject({ log: 'ok', anchor: 'unconfirmed' });
  expect(await confirmAnchor(verdict.anchored, { rpcUrl: chain.url, contract })).toMatchObject({
    confirmed: true,
    block_number: verdict.anchored.block_number,
    finality: expect.stringMatching(/safe|finalized/),
  });
  expect(anchors.data).toHaveLength(2);
  for (const { fee, fee_usd } of anchors.data) expect([Number(fee) > 0, Number(fee_usd) > 0]).toEqual([true, true]);
  expect(metrics).toMatch(/tallygate_anchor_balance_low\{chain="8453"\} 1/);
});
