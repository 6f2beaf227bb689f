import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { MasterKey } from '../kernel/secret-box.ts';
import { keptSecret } from './bootstrap.ts';
import { ConfigError } from './config.ts';
import type { DataDir } from './data-dir.ts';

const FILE = 'master.key';
/** The name of the generated key, which stays with what it sealed. */
const LOCAL = 'local';

/**
 * The keys that seal and open secrets, the one that seals first. Without `MASTER_KEYS` one is generated; once it exists it goes on
 * opening what it sealed, or else the first `MASTER_KEYS` would make every second factor unreadable.
 * @throws ConfigError when another key has taken its name
 */
export function masterKeysOf(dataDir: DataDir, configured: readonly MasterKey[] | undefined): readonly MasterKey[] {
  if (configured && !existsSync(dataDir.file(FILE))) return configured;
  const local: MasterKey = { id: LOCAL, key: keptSecret(dataDir, FILE, () => randomBytes(32)) };
  if (!configured) return [local];
  const namesake = configured.find(({ id }) => id === LOCAL);
  if (!namesake) return [...configured, local];
  if (namesake.key.equals(local.key)) return configured;
  throw new ConfigError([`MASTER_KEYS: the id "${LOCAL}" belongs to the generated key in ${dataDir.file(FILE)}; give your key another id`]);
}
