import { deployReceiptAnchor, type LocalChain, startLocalChain } from '@tallygate/receipt-anchor/local-chain';
import { type StubGateway, startStubGateway } from '@tallygate/sdk/testing/stub-gateway';
import { Contract, JsonRpcProvider, Wallet } from 'ethers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Terminal } from '../../testing/terminal.ts';

const PUBLISHING = ['function anchor(bytes32 root, uint64 size, bytes32[] path)'];
const ROOT = `0x${'5f'.repeat(32)}`;

let chain: LocalChain;
let contract: string;
let blockNumber: number;
let blockTime: string;
beforeAll(async () => {
  chain = await startLocalChain();
  // The contract knows the time of a state: the first block must not have the same one.
  await chain.rpc('evm_increaseTime', 60);
  contract = await deployReceiptAnchor(chain);
  const provider = new JsonRpcProvider(chain.url, chain.chainId, { staticNetwork: true, pollingInterval: 20, cacheTimeout: -1 });
  const sent = await new Contract(contract, PUBLISHING, new Wallet(chain.keys[0], provider)).getFunction('anchor')(ROOT, 3, []);
  blockNumber = (await sent.wait()).blockNumber;
  const block = await provider.getBlock(blockNumber);
  blockTime = new Date((block?.timestamp ?? 0) * 1_000).toISOString();
  provider.destroy();
});
afterAll(() => chain?.stop());

let gateway: StubGateway;
let terminal: Terminal;
beforeEach(async () => {
  gateway = await startStubGateway();
  terminal = new Terminal(gateway);
});
afterEach(() => gateway[Symbol.asyncDispose]());

const anchor = () => ({
  ...{ object: 'anchor', id: '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77', state: 'finalized', chain_id: chain.chainId, contract },
  ...{
    tree_size: 3,
    root: ROOT,
    previous_size: 0,
    transaction_hash: `0x${'ab'.repeat(32)}`,
    block_number: blockNumber,
    block_time: blockTime,
  },
  ...{ gas_used: '76322', fee: '0.0000012', fee_usd: '0.0036', created_at: blockTime, submitted_at: blockTime },
  ...{ included_at: blockTime, finalized_at: blockTime },
});
const page = (...data: object[]) => ({ json: { data, has_more: false, next_cursor: null } });

describe('the anchors of the log', () => {
  it('are listed with block and cost', async () => {
    gateway.script(page(anchor()));
    const { stdout } = await terminal.type(['anchors', 'list', '--chain', '31337', '--state', 'finalized']);
    expect(stdout).toBe(`31337\t3\tfinalized\t${blockNumber}\t${blockTime}\t0.0000012\t0.0036\t0x${'ab'.repeat(32)}\n`);
    expect(gateway.requests[0]?.query).toEqual({ chain_id: '31337', state: 'finalized', limit: '51' });
  });

  it('are confirmed by a node of the chain, all of them', async () => {
    gateway.script(page(anchor()));
    const { stdout, exitCode } = await terminal.type(['anchors', 'verify', '--rpc', chain.url]);
    expect(stdout).toBe(`3\t${blockNumber}\t${blockTime}\tconfirmed\n`);
    expect(exitCode).toBe(0);
  });

  it.each([
    ['of a root that is not there', { root: `0x${'00'.repeat(32)}` }, 'holds no state with the root'],
    ['of another size', { tree_size: 4 }, 'for 3 entries'],
    ['in another block', { block_number: 0 }, 'not in the block'],
    ['on a contract that is none', { contract: `0x${'11'.repeat(20)}` }, 'no contract'],
  ])('are not confirmed where one is %s, and a script can tell', async (_, change, reason) => {
    gateway.script(page({ ...anchor(), ...change }));
    const { stdout, exitCode } = await terminal.type(['anchors', 'verify', '--rpc', chain.url]);
    expect(stdout).toContain(reason);
    expect(exitCode).toBe(3);
  });

  it('say so where the node cannot be asked', async () => {
    const { stderr, exitCode } = await terminal.type(['anchors', 'verify', '--rpc', 'http://127.0.0.1:9']);
    expect(stderr).toContain('The node cannot be asked');
    expect(exitCode).toBe(1);
  });
});

describe('the contract for anchors', () => {
  const key = () => ({ TALLYGATE_DEPLOY_KEY: chain.keys[1] });

  it('is made where a person agrees, and is what the gateway needs', async () => {
    const session = await terminal.type(['anchors', 'deploy', '--rpc', chain.url], { isTty: true, typed: ['y'], variables: key() });
    expect(session.stderr).toContain(`Make the contract on chain ${chain.chainId}, paid by ${new Wallet(chain.keys[1]).address}`);
    const [, made = ''] = /^ANCHOR_CHAIN_ID=31337\nANCHOR_CONTRACT=(0x[0-9a-fA-F]{40})\n$/.exec(session.stdout) ?? [];
    expect(await chain.rpc('eth_getCode', made, 'latest')).toBe(await chain.rpc('eth_getCode', contract, 'latest'));
    expect(session.exitCode).toBe(0);
  });

  it('reads its key from a file that only its owner can read afterwards; takes another publisher', async () => {
    terminal.files.set('deploy.key', `${chain.keys[1]}\n`);
    terminal.exposedFiles.add('deploy.key');
    const publisher = new Wallet(chain.keys[2]).address;
    const argv = ['anchors', 'deploy', '--rpc', chain.url, '--key-file', 'deploy.key', '--publisher', publisher, '--yes'];
    const { stderr, exitCode } = await terminal.type(argv, {});
    expect(stderr).toContain('Others could read deploy.key until now');
    expect(stderr).toContain(`${publisher} may publish there`);
    expect(exitCode).toBe(0);
  });

  it.each([
    ['nobody agrees', { isTty: true, typed: ['n'] }, [], 'Nothing was changed', 1],
    ['there is nobody to ask', {}, [], 'Give --yes', 2],
    ['there is no key', { variables: {} }, ['--yes'], 'There is no private key', 2],
    ['the publisher is no address', {}, ['--publisher', 'me'], '--publisher must be an address', 2],
  ])('is not made where %s', async (_, circumstances, options, words, code) => {
    const before = await chain.rpc('eth_blockNumber');
    const session = await terminal.type(['anchors', 'deploy', '--rpc', chain.url, ...options], { variables: key(), ...circumstances });
    expect(session.stderr).toContain(words);
    expect(session.exitCode).toBe(code);
    expect(await chain.rpc('eth_blockNumber')).toBe(before);
  });

  it('is not deployed by an account that cannot pay, and its key is nowhere in the output', async () => {
    const poor = `0x${'12'.repeat(32)}`;
    const { stdout, stderr, exitCode } = await terminal.type(['anchors', 'deploy', '--rpc', chain.url, '--yes'], {
      variables: { TALLYGATE_DEPLOY_KEY: poor },
    });
    expect(exitCode).toBe(1);
    expect(stderr).toContain('The contract was not deployed');
    expect(stdout + stderr).not.toContain('1212121212');
  });
});
