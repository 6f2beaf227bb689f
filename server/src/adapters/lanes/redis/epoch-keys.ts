import { Cluster, type Redis } from 'ioredis';
import { OPEN } from './epoch-scripts.ts';
import { ALL_PARTITIONS, partitionKey } from './partitions.ts';
import { type RedisConnection, runScript } from './run-script.ts';

const KEYS_A_LOOK = 1_000;
/** Lanes and holds as they were named before there were epochs. */
const UNNAMED = /^:(?:(?:money|quota|rate|hold):|(?:stamp|leases|index|doubt)$)/;

/** From now on every partition is of that epoch. Commands under another one are refused. */
export async function openPartitions(redis: RedisConnection, prefix: string, epoch: string): Promise<void> {
  await Promise.all(ALL_PARTITIONS.map((partition) => runScript(redis, OPEN, partitionKey(prefix, partition), [epoch])));
}

/** Removes the lanes and holds of epochs that never come back. */
export async function removeEpochs(redis: RedisConnection, prefix: string, older: readonly string[]): Promise<void> {
  const isOlder = (key: string): boolean => {
    const name = key.slice(key.indexOf('}') + 1);
    return UNNAMED.test(name) || older.some((epoch) => name.startsWith(`:${epoch}:`));
  };
  for (const node of redis instanceof Cluster ? redis.nodes('master') : [redis]) {
    for await (const keys of scan(node, `${prefix}:{*`)) await Promise.all(keys.filter(isOlder).map((key) => node.unlink(key)));
  }
}

async function* scan(node: Redis, match: string): AsyncIterable<string[]> {
  let cursor = '0';
  do {
    const [next, keys] = await node.scan(cursor, 'MATCH', match, 'COUNT', KEYS_A_LOOK);
    yield keys;
    cursor = next;
  } while (cursor !== '0');
}
