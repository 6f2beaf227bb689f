import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { type RedisProcess, startRedis } from './redis-process.ts';

const SLOTS = 16_384;
const TOGETHER_WITHIN_MS = 20_000;

interface RedisClusterProcess {
  readonly url: string;
  readonly nodes: readonly RedisProcess[];
  /** Those that have slots now. */
  masters(): Promise<readonly RedisProcess[]>;
  /** Kills a master, waits until its replica has its slots, and starts it again, as a replica. Of a cluster with replicas. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Masters on loopback that have all slots between them. For tests only.
 * @param replicas of each master
 */
export async function startRedisCluster(
  program: string,
  size: number,
  settings: readonly string[] = [],
  replicas = 0,
): Promise<RedisClusterProcess> {
  const count = size * (1 + replicas);
  const nodes = await Promise.all(Array.from({ length: count }, () => startRedis(program, ['--cluster-enabled', 'yes', ...settings])));
  const clients = nodes.map(({ url }) => new Redis(url));
  try {
    await Promise.all(clients.slice(0, size).map((client, index) => client.call('CLUSTER', 'ADDSLOTS', ...slotsOf(index, size))));
    const [first, ...others] = nodes;
    for (const node of others) await clients[0]?.call('CLUSTER', 'MEET', '127.0.0.1', `${node.port}`);
    if (first) await together(clients);
    const ids = await Promise.all(clients.map((client) => client.call('CLUSTER', 'MYID')));
    for (const [index, client] of clients.entries())
      if (index >= size) await client.call('CLUSTER', 'REPLICATE', String(ids[index % size]));
    await until(async () => (await Promise.all(nodes.slice(size).map(isFollowing))).every(Boolean), 'to replicate');
  } finally {
    for (const client of clients) client.disconnect();
  }
  const masters = async () => {
    const are = await Promise.all(nodes.map(isMaster));
    return nodes.filter((_, index) => are[index]);
  };
  return {
    url: `redis+cluster://${nodes.map(hostOf).join()}`,
    nodes,
    masters,
    failOver: async () => {
      const [master] = await masters();
      if (!master) throw new Error('The cluster has no master');
      await master.kill();
      const others = nodes.filter((node) => node !== master);
      await until(async () => (await Promise.all(others.map(isMaster))).filter(Boolean).length === size, 'the promotion of a replica');
      await master.start();
      await until(() => isFollowing(master), 'the return of the old master');
    },
    stop: async () => void (await Promise.all(nodes.map((node) => node.stop()))),
  };
}

const roleOf = async (node: RedisProcess) => (await node.call('ROLE')) as unknown[];
const isMaster = async (node: RedisProcess): Promise<boolean> => (await roleOf(node))[0] === 'master';
const isFollowing = async (node: RedisProcess): Promise<boolean> => {
  const [role, , , state] = await roleOf(node);
  return role === 'slave' && state === 'connected';
};

async function until(holds: () => Promise<boolean>, what: string): Promise<void> {
  for (const lateTick = performance.now() + TOGETHER_WITHIN_MS; !(await holds()); await delay(50))
    if (performance.now() > lateTick) throw new Error(`The cluster: ${what} takes too long`);
}

const hostOf = ({ port }: RedisProcess): string => `127.0.0.1:${port}`;

const slotsOf = (index: number, size: number): number[] =>
  Array.from({ length: SLOTS }, (_, slot) => slot).filter((slot) => Math.floor((slot * size) / SLOTS) === index);

/** The nodes gossip until each knows all. */
const together = (clients: readonly Redis[]): Promise<void> =>
  until(async () => {
    const infos = await Promise.all(clients.map((client) => client.call('CLUSTER', 'INFO')));
    return infos.every(
      (info) => String(info).includes('cluster_state:ok') && String(info).includes(`cluster_known_nodes:${clients.length}`),
    );
  }, 'to come together');
