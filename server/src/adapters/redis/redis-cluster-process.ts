import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { type RedisProcess, startRedis } from './redis-process.ts';

const SLOTS = 16_384;
const TOGETHER_WITHIN_MS = 20_000;

interface RedisClusterProcess {
  readonly url: string;
  readonly nodes: readonly RedisProcess[];
  stop(): Promise<void>;
}

/** Masters on loopback that have all slots between them. For tests only. */
export async function startRedisCluster(program: string, size: number, settings: readonly string[] = []): Promise<RedisClusterProcess> {
  const nodes = await Promise.all(Array.from({ length: size }, () => startRedis(program, ['--cluster-enabled', 'yes', ...settings])));
  const clients = nodes.map(({ url }) => new Redis(url));
  try {
    await Promise.all(clients.map((client, index) => client.call('CLUSTER', 'ADDSLOTS', ...slotsOf(index, size))));
    const [first, ...others] = nodes;
    for (const node of others) await clients[0]?.call('CLUSTER', 'MEET', '127.0.0.1', `${node.port}`);
    if (first) await together(clients);
  } finally {
    for (const client of clients) client.disconnect();
  }
  return {
    url: `redis+cluster://${nodes.map(hostOf).join()}`,
    nodes,
    stop: async () => void (await Promise.all(nodes.map((node) => node.stop()))),
  };
}

const hostOf = ({ port }: RedisProcess): string => `127.0.0.1:${port}`;

const slotsOf = (index: number, size: number): number[] =>
  Array.from({ length: SLOTS }, (_, slot) => slot).filter((slot) => Math.floor((slot * size) / SLOTS) === index);

/** The nodes gossip until each knows all. */
async function together(clients: readonly Redis[]): Promise<void> {
  const until = performance.now() + TOGETHER_WITHIN_MS;
  for (;;) {
    const infos = await Promise.all(clients.map((client) => client.call('CLUSTER', 'INFO')));
    if (infos.every((info) => String(info).includes('cluster_state:ok') && String(info).includes(`cluster_known_nodes:${clients.length}`)))
      return;
    if (performance.now() > until) throw new Error('The cluster does not come together');
    await delay(50);
  }
}
