import { expect, test } from 'vitest';
import { anchorChainsOf } from './anchoring-config.ts';
import { ConfigError } from './config-error.ts';

const CONTRACT = `0x${'Ab'.repeat(20)}`;
const KEY = `0x${'11'.repeat(32)}`;
const ONE = { ANCHOR_CHAIN_ID: '8453', ANCHOR_RPC_URL: 'https://rpc.example.com/v2/', ANCHOR_CONTRACT: CONTRACT, ANCHOR_PRIVATE_KEY: KEY };

function faultsOf(environment: Record<string, string>): readonly string[] {
  try {
    anchorChainsOf(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

test('without variables nothing is anchored anywhere', () => {
  expect(anchorChainsOf({ PORT: '1' })).toEqual([]);
});

test('one chain needs four variables; the others have defaults', () => {
  expect(anchorChainsOf(ONE)).toEqual([
    {
      ...{ chainId: 8453, rpcUrl: 'https://rpc.example.com/v2', contract: CONTRACT.toLowerCase(), privateKey: KEY },
      ...{ confirmations: 'finalized', everyMs: 3_600_000, wishedWithinMs: 60_000, raiseAfterMs: 120_000 },
      ...{ maxFeePerGas: 20_000_000_000n, lowBalance: 10_000_000_000_000_000n, coinPrice: undefined },
    },
  ]);
});

test('named chains have their own variables, and the common ones where they have none', () => {
  const { ANCHOR_PRIVATE_KEY, ...base } = ONE;
  const named = Object.fromEntries(Object.entries(base).map(([name, value]) => [name.replace('ANCHOR_', 'ANCHOR_BASE_'), value]));
  const other = {
    ANCHOR_OP_CHAIN_ID: '10',
    ANCHOR_OP_RPC_URL: 'http://127.0.0.1:1',
    ANCHOR_OP_CONTRACT: CONTRACT,
    ANCHOR_OP_COIN_USD: '3000.5',
  };
  const common = { ANCHOR_CHAINS: 'base, OP', ANCHOR_PRIVATE_KEY, ANCHOR_MAX_FEE_GWEI: '0.25', ANCHOR_CONFIRMATIONS: 'safe' };
  expect(anchorChainsOf({ ...named, ...other, ...common })).toMatchObject([
    { chainId: 8453, privateKey: KEY, maxFeePerGas: 250_000_000n, confirmations: 'safe', coinPrice: undefined },
    { chainId: 10, privateKey: KEY, maxFeePerGas: 250_000_000n, coinPrice: 3_000_500_000_000n },
  ]);
});

test.each([
  ['a missing variable, with what it belongs to', { ...ONE, ANCHOR_CONTRACT: '' }, 'ANCHOR_CONTRACT: '],
  ['a wrong address', { ...ONE, ANCHOR_CONTRACT: '0x12' }, 'ANCHOR_CONTRACT: Expected the address'],
  ['a key that is none', { ...ONE, ANCHOR_PRIVATE_KEY: `0x${'00'.repeat(32)}` }, 'ANCHOR_PRIVATE_KEY: This is no key'],
  ['an address with credentials', { ...ONE, ANCHOR_RPC_URL: 'https://me:secret@rpc.example.com' }, 'ANCHOR_RPC_URL: '],
  ['other confirmations', { ...ONE, ANCHOR_CONFIRMATIONS: 'latest' }, 'ANCHOR_CONFIRMATIONS: Expected safe or finalized'],
  ['a fee that is no number', { ...ONE, ANCHOR_MAX_FEE_GWEI: '1e3' }, 'ANCHOR_MAX_FEE_GWEI: Expected a decimal number such as 0.5'],
  ['a chain without its variables', { ANCHOR_CHAINS: 'base' }, 'ANCHOR_BASE_CHAIN_ID: required'],
  ['a chain named twice', { ...ONE, ANCHOR_CHAINS: 'a,b' }, 'ANCHOR_CHAINS: chain 8453 is named twice'],
  ['a name that is none', { ...ONE, ANCHOR_CHAINS: 'a;b' }, 'ANCHOR_CHAINS: Expected distinct names'],
])('names the variable at fault: %s', (_, environment, fault) => {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  expect(faultsOf(given)[0]).toMatch(fault);
});

test('never repeats a key that it refuses', () => {
  expect(faultsOf({ ...ONE, ANCHOR_PRIVATE_KEY: 'abcdef0123456789' }).join()).not.toContain('abcdef');
});
