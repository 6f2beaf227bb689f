import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { ContractFactory, JsonRpcProvider, Wallet } from 'ethers';
import { receiptAnchor } from '../src/index.ts';

/** A separate chain for a test, in memory, with blocks that are mined on demand or at once. */
export interface LocalChain {
  readonly url: string;
  readonly chainId: number;
  /** Private keys of accounts that own 10,000 of the chain's money each. */
  readonly keys: readonly [string, string, string];
  /** Any method of the chain's JSON-RPC, the `anvil_` ones of its control included. */
  rpc(method: string, ...params: readonly unknown[]): Promise<unknown>;
  stop(): Promise<void>;
}

/** The first accounts of the public development mnemonic. Never send anything of value to them. */
const KEYS = [
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
] as const;

/** The chain goes with the process that started it, however that ends: its end of the pipe closes. */
const GUARD = '"$@" & read -r _; { kill -9 $!; wait $!; } 2>/dev/null';

/** Starts a chain on loopback. `finalized` is two blocks behind `safe`, and that two behind the newest. */
export async function startLocalChain({ chainId = 31_337 }: { chainId?: number } = {}): Promise<LocalChain> {
  const args = ['--host', '127.0.0.1', '--port', '0', '--chain-id', `${chainId}`, '--slots-in-an-epoch', '2'];
  const child = spawn('sh', ['-c', GUARD, 'sh', program(), ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
    const [, address] = /Listening on (127\.0\.0\.1:\d+)/.exec(said) ?? [];
    if (address !== undefined) resolve(`http://${address}`);
  });
  child.once('exit', (code) => reject(new Error(`The chain ended with ${code}: ${said}`)));
  const url = await promise;
  return {
    url,
    chainId,
    keys: KEYS,
    rpc: (method, ...params) => call(url, method, params),
    stop: async () => {
      if (child.exitCode !== null) return;
      const gone = once(child, 'exit');
      child.stdin.end();
      await gone;
    },
  };
}

/** A separate contract, where the account of the first key publishes. @returns its address */
export async function deployReceiptAnchor({ url, chainId, keys }: LocalChain): Promise<string> {
  const provider = new JsonRpcProvider(url, chainId, { staticNetwork: true, pollingInterval: 20, cacheTimeout: -1 });
  try {
    const owner = new Wallet(keys[0], provider);
    const made = await new ContractFactory(receiptAnchor.abi, receiptAnchor.bytecode, owner).deploy(owner.address);
    await made.waitForDeployment();
    return await made.getAddress();
  } finally {
    provider.destroy();
  }
}

/** The binary itself, not the package's Node wrapper, which would hide its exit. */
function program(): string {
  const { resolve } = createRequire(createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json'));
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  return resolve(`@foundry-rs/anvil-${process.platform}-${arch}/bin/anvil`);
}

async function call(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } };
  if (error) throw new Error(`${method}: ${error.message}`);
  return result;
}
