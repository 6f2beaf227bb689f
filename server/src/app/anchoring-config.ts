import * as z from 'zod';
import type { AnchorAnswer } from '../inference/calls/index.ts';
import { type NanoUsd, parseUsd } from '../kernel/money.ts';
import { ConfigError } from './config-error.ts';
import { httpUrl } from './http-url.ts';
import type { Environment } from './provider-config.ts';

/** Where and when the receipts' log is anchored on one chain, and what that may cost. Amounts are in the chain's smallest unit. */
export interface AnchorChainConfig {
  readonly chainId: number;
  readonly rpcUrl: string;
  readonly contract: string;
  /** 32 bytes, 0x and hex. */
  readonly privateKey: string;
  readonly confirmations: 'safe' | 'finalized';
  readonly everyMs: number;
  readonly wishedWithinMs: number;
  readonly raiseAfterMs: number;
  readonly maxFeePerGas: bigint;
  readonly lowBalance: bigint;
  /** Of one whole coin; undefined: costs are shown in coins alone. */
  readonly coinPrice: NanoUsd | undefined;
}

const GWEI_DIGITS = 9;
const COIN_DIGITS = 18;

/** A plain decimal with at most so many places, as an integer of the smallest unit. */
const amount = (digits: number, example: string) =>
  z
    .string()
    .regex(new RegExp(`^\\d{1,9}(?:\\.\\d{1,${digits}})?$`), `Expected a decimal number such as ${example}`)
    .transform((text) => {
      const [whole = '0', fraction = ''] = text.split('.');
      return BigInt(whole + fraction.padEnd(digits, '0'));
    });

/** The order of secp256k1 (SEC 2, section 2.4.1). */
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const isPrivateKey = (key: bigint): boolean => key > 0n && key < CURVE_ORDER;

const seconds = (least: number) => z.coerce.number().int().min(least).max(31_536_000);

const Settings = z.object({
  CHAIN_ID: z.coerce.number('Expected the number of the chain, such as 8453').int().min(1).max(Number.MAX_SAFE_INTEGER),
  RPC_URL: httpUrl,
  CONTRACT: z
    .string()
    .regex(/^0x[0-9a-fA-F]{40}$/, 'Expected the address of the contract: 0x and 40 hex digits')
    .toLowerCase(),
  PRIVATE_KEY: z
    .string()
    .regex(/^0x[0-9a-fA-F]{64}$/, 'Expected the key of the account that publishes: 0x and 64 hex digits')
    .refine((text) => !/^0x[0-9a-fA-F]{64}$/.test(text) || isPrivateKey(BigInt(text)), 'This is no key of secp256k1'),
  CONFIRMATIONS: z.enum(['safe', 'finalized'], 'Expected safe or finalized').default('finalized'),
  INTERVAL_SECONDS: seconds(10).default(3_600),
  WISH_SECONDS: seconds(1).default(60),
  RAISE_SECONDS: seconds(5).default(120),
  MAX_FEE_GWEI: amount(GWEI_DIGITS, '0.5').prefault('20'),
  LOW_BALANCE: amount(COIN_DIGITS, '0.01').prefault('0.01'),
  COIN_USD: z
    .string()
    .refine((text) => parseUsd(text) !== undefined, 'Expected a decimal number of USD such as 3000')
    .optional(),
});

/** Without these there is nothing to anchor on. */
const REQUIRED = ['CHAIN_ID', 'RPC_URL', 'CONTRACT', 'PRIVATE_KEY'] as const;
const CHAIN_NAMES = /^[a-z][a-z0-9]{0,31}$/;

/**
 * The chains of `ANCHOR_…`: one whose variables have no name in them, or those that `ANCHOR_CHAINS` names, `ANCHOR_BASE_RPC_URL` and so on.
 * A variable without a chain's name is the default for all named chains.
 *
 * @throws ConfigError naming every wrong variable
 */
export function anchorChainsOf(env: Environment): AnchorChainConfig[] {
  const names = env['ANCHOR_CHAINS']?.split(',').map((name) => name.trim().toLowerCase());
  if (!names) return REQUIRED.some((setting) => env[`ANCHOR_${setting}`] !== undefined) ? [chainOf(env, undefined)] : [];
  if (!names.every((name) => CHAIN_NAMES.test(name)) || new Set(names).size < names.length)
    throw new ConfigError(['ANCHOR_CHAINS: Expected distinct names of letters and digits, separated by commas, such as base,arbitrum']);
  const faults: string[] = [];
  const chains = names.flatMap((name) => {
    try {
      return [chainOf(env, name)];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      faults.push(...error.faults);
      return [];
    }
  });
  const twice = chains.find(({ chainId }, at) => chains.findIndex((other) => other.chainId === chainId) < at);
  if (twice) faults.push(`ANCHOR_CHAINS: chain ${twice.chainId} is named twice; one contract on each chain is enough`);
  if (faults.length > 0) throw new ConfigError(faults);
  return chains;
}

function chainOf(env: Environment, name: string | undefined): AnchorChainConfig {
  const variableOf = (setting: string): string => {
    const named = name === undefined ? undefined : `ANCHOR_${name.toUpperCase()}_${setting}`;
    return named !== undefined && (env[named] !== undefined || env[`ANCHOR_${setting}`] === undefined) ? named : `ANCHOR_${setting}`;
  };
  const given = Object.fromEntries(Object.keys(Settings.shape).map((setting) => [setting, env[variableOf(setting)]]));
  const missing = REQUIRED.filter((setting) => given[setting] === undefined);
  const parsed = Settings.safeParse(given);
  if (!parsed.success || missing.length > 0)
    throw new ConfigError([
      ...missing.map((setting) => `${variableOf(setting)}: required to anchor the log on a chain, with ${othersOf(setting, variableOf)}`),
      ...(parsed.error?.issues ?? [])
        .filter(({ path }) => !missing.some((setting) => setting === path[0]))
        .map(({ path, message }) => `${variableOf(path.join('.'))}: ${message}`),
    ]);
  const { data } = parsed;
  return {
    chainId: data.CHAIN_ID,
    rpcUrl: data.RPC_URL,
    contract: data.CONTRACT,
    privateKey: data.PRIVATE_KEY,
    confirmations: data.CONFIRMATIONS,
    everyMs: data.INTERVAL_SECONDS * 1_000,
    wishedWithinMs: data.WISH_SECONDS * 1_000,
    raiseAfterMs: data.RAISE_SECONDS * 1_000,
    maxFeePerGas: data.MAX_FEE_GWEI,
    lowBalance: data.LOW_BALANCE,
    coinPrice: data.COIN_USD === undefined ? undefined : parseUsd(data.COIN_USD),
  };
}

const othersOf = (setting: string, variableOf: (setting: string) => string): string =>
  REQUIRED.filter((other) => other !== setting)
    .map(variableOf)
    .join(', ');

interface Anchoring {
  readonly anchorChains: readonly unknown[];
  readonly timestamps: { readonly authorities: readonly unknown[] };
}

/** What a request that asks for an anchor is told. */
export const anchorAnswerOf = ({ anchorChains, timestamps }: Anchoring): AnchorAnswer =>
  anchorChains.length > 0 ? 'requested' : timestamps.authorities.length > 0 ? 'scheduled' : 'unavailable';
