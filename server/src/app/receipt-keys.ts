import { existsSync } from 'node:fs';
import { newSigningSeed, type OwnKeys, signingKeyFromSeed } from '../receipts/index.ts';
import { keptSecret } from './bootstrap.ts';
import { type Config, ConfigError } from './config.ts';
import type { DataDir } from './data-dir.ts';

type SeedConfig = Pick<Config, 'receiptSigningSeeds' | 'logSigningSeeds'>;
type Folder = Pick<DataDir, 'file'>;

const RECEIPT_FILE = 'receipt-signing.key';
const LOG_FILE = 'log-signing.key';

/** The keys of both purposes; a key that is not configured is generated and stored in the data directory. */
export function receiptKeysOf(config: SeedConfig, dataDir: Folder): OwnKeys {
  const receiptSeeds = config.receiptSigningSeeds ?? [keptSecret(dataDir, RECEIPT_FILE, newSigningSeed)];
  const logSeeds = config.logSigningSeeds ?? [keptSecret(dataDir, LOG_FILE, newSigningSeed)];
  return { receipt: receiptSeeds.map(signingKeyFromSeed), checkpoint: logSeeds.map(signingKeyFromSeed) };
}

/** Those of a gateway that exists. @throws ConfigError where they are neither configured nor in its data directory */
export function standingReceiptKeys(config: SeedConfig, dataDir: Folder): OwnKeys {
  const missing = [
    ...(config.receiptSigningSeeds || existsSync(dataDir.file(RECEIPT_FILE)) ? [] : ['RECEIPT_SIGNING_KEY']),
    ...(config.logSigningSeeds || existsSync(dataDir.file(LOG_FILE)) ? [] : ['LOG_SIGNING_KEY']),
  ];
  if (missing.length > 0)
    throw new ConfigError(
      missing.map((name) => `${name}: set it, or DATA_DIR, as the gateway has it; the data directory holds no such key`),
    );
  return receiptKeysOf(config, dataDir);
}
