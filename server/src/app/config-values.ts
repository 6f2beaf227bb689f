import { availableParallelism } from 'node:os';
import * as z from 'zod';
import { parseRedisUrl } from '../adapters/redis/connect.ts';

const MOST_WORKERS = 64;

export const port = z.coerce.number().int().min(0).max(65_535);
export const milliseconds = z.coerce.number().int().min(1).max(3_600_000);
/** Room for what is kept, bytes. */
export const room = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
export const bytes = z.coerce.number().int().min(1_024).max(1_073_741_824);
export const perMinute = z.coerce.number().int().min(1).max(2_000_000_000);
/** A number of processes; `auto`: one for each core. */
export const workers = z.union([
  z.literal('auto').transform(() => Math.min(availableParallelism(), MOST_WORKERS)),
  z.coerce.number().int().min(1).max(MOST_WORKERS),
]);
export const redisUrl = z.string().transform((text, context) => {
  try {
    parseRedisUrl(text);
  } catch (fault) {
    context.addIssue(fault instanceof Error ? fault.message : 'Expected the URL of a Redis');
  }
  return text;
});

/** Addresses and networks, by commas: `10.0.0.0/8,::1`. */
export const networks = z
  .string()
  .transform((text) => text.split(',').map((entry) => entry.trim()))
  .pipe(z.array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], 'Expected addresses or networks such as 10.0.0.0/8,::1')));

/** Origins of web pages, by commas: `https://app.example.com,http://localhost:3000`. */
export const webOrigins = z
  .string()
  .transform((text) => text.split(',').map((entry) => entry.trim()))
  .pipe(
    z.array(
      z.string().refine((text) => URL.canParse(text) && new URL(text).origin === text, 'Expected origins such as https://app.example.com'),
    ),
  );

/** `id:base64`, 32 bytes each, by commas. */
export const masterKeys = z.string().transform((text, context) =>
  text.split(',').map((entry) => {
    const [, id = '', base64 = ''] = /^([A-Za-z0-9_-]{1,40}):([A-Za-z0-9+/]{43}=)$/.exec(entry.trim()) ?? [];
    if (id === '') context.addIssue('Expected id:base64 entries of 32 bytes each, separated by commas');
    return { id, key: Buffer.from(base64, 'base64') };
  }),
);

const SEED = /^[A-Za-z0-9+/]{43}=$/;

/** Of Ed25519 keys, by commas. */
export const seeds = z.string().transform((text, context): Seeds => {
  const [first = '', ...others] = text.split(',').map((seed) => seed.trim());
  if (![first, ...others].every((seed) => SEED.test(seed))) context.addIssue('Expected 32 bytes in base64, or several of them by commas');
  return [Buffer.from(first, 'base64'), ...others.map((seed) => Buffer.from(seed, 'base64'))];
});
export type Seeds = readonly [Buffer, ...Buffer[]];
