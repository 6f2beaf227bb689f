// Not the whole slice: settings are read before it is loaded.
import { DEFAULT_OFFER, type Offer, readOffer } from '../money/plans/index.ts';
import { ConfigError } from './config-error.ts';
import { readJsonFile } from './json-file.ts';
import type { Environment } from './provider-config.ts';

/**
 * The offer of the file that `PLANS_FILE` names, or the default one.
 * @throws ConfigError naming everything that is wrong with the file
 */
export function offerOf({ PLANS_FILE: path }: Environment): Offer {
  if (path === undefined) return DEFAULT_OFFER;
  const read = readOffer(readJsonFile('PLANS_FILE', path).content);
  if ('faults' in read) throw new ConfigError(read.faults.map((fault) => `PLANS_FILE ${path}: ${fault}`));
  return read.offer;
}
