import type { Log } from '../../kernel/log.ts';
import type { RedisConnection } from './connect.ts';

/** Streams with deletion and everything else in the scripts is older; the job queue wants this. */
const OLDEST_VERSION = [6, 2] as const;

/**
 * Looks whether the server is fit to hold money.
 *
 * @throws when it is too old, or may throw keys away when its memory is full: a lane that is gone is read from the ledger, which does not
 *   know yet what is still in the stream
 */
export async function requireFitness(redis: RedisConnection, log: Log): Promise<void> {
  const info = await redis.info('server');
  const [, version = '0.0'] = /^(?:valkey|redis)_version:(\S+)/m.exec(info) ?? [];
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < OLDEST_VERSION[0] || (major === OLDEST_VERSION[0] && minor < OLDEST_VERSION[1]))
    throw new Error(`Redis ${version} is too old: ${OLDEST_VERSION.join('.')} or newer is needed.`);
  const policy = await settingOf(redis, 'maxmemory-policy');
  if (policy !== undefined && policy !== 'noeviction')
    throw new Error(`Redis may evict keys (maxmemory-policy ${policy}): set it to noeviction, or caps could be lost.`);
  const [appendOnly, sync] = [await settingOf(redis, 'appendonly'), await settingOf(redis, 'appendfsync')];
  if (policy === undefined) log.warn('Redis does not show its settings: see that maxmemory-policy is noeviction and appendonly is yes');
  else if (appendOnly !== 'yes')
    log.warn('Redis has no append-only file: settlements that are not in the ledger yet are lost when it stops');
  else if (sync === 'no') log.warn('Redis leaves writing to the system (appendfsync no): set it to everysec, or to always');
}

/** Undefined where the service does not tell. */
async function settingOf(redis: RedisConnection, name: string): Promise<string | undefined> {
  try {
    const [, value] = (await redis.config('GET', name)) as string[];
    return value;
  } catch {
    return undefined;
  }
}
