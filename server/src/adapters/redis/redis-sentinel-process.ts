import { setTimeout as delay } from 'node:timers/promises';
import { type RedisProcess, startRedis } from './redis-process.ts';

const MASTER = 'main';
const WITHIN_MS = 30_000;
/** Without an answer for so long the master counts as down. Sentinels ask once a second: with less they fail over to and fro. */
const DOWN_AFTER_MS = 1_500;

export interface WatchedRedis {
  /** Of the master, through its sentinel. */
  readonly url: string;
  /** At the start. */
  readonly master: RedisProcess;
  readonly replica: RedisProcess;
  /** The one that the sentinel names master now. */
  current(): Promise<RedisProcess>;
  /** The other one follows no master any more: it misses every write from now on. */
  severReplica(): Promise<void>;
  /** Kills the master and waits until the sentinel has promoted the replica; then the old master is back, as a replica. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

/** A master with one replica, and one sentinel that watches them, on loopback. For tests only. */
export async function startWatchedRedis(program: string, settings: readonly string[] = []): Promise<WatchedRedis> {
  const promptly = [...settings, '--repl-diskless-sync-delay', '0'];
  const first = await startRedis(program, promptly);
  const second = await startRedis(program, [...promptly, '--replicaof', '127.0.0.1', `${first.port}`]);
  const sentinel = await startRedis(program, { sentinelOf: first.port, name: MASTER, downAfterMs: DOWN_AFTER_MS });
  const masterPort = async (): Promise<number> =>
    Number(((await sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', MASTER)) as string[])[1]);
  const pair = async (): Promise<{ master: RedisProcess; replica: RedisProcess }> => {
    const port = await masterPort();
    return port === first.port ? { master: first, replica: second } : { master: second, replica: first };
  };
  const until = async (holds: () => Promise<boolean>, what: string): Promise<void> => {
    const lateTick = performance.now() + WITHIN_MS;
    while (!(await holds())) {
      if (performance.now() > lateTick) throw new Error(`The sentinel: ${what} takes too long`);
      await delay(50);
    }
  };
  /** The sentinel knows the replica, and it has what the master has. */
  const together = async (): Promise<boolean> => {
    const { replica } = await pair();
    const status = String(await sentinel.call('SENTINEL', 'REPLICAS', MASTER));
    return status.includes('master-link-status,ok') && status.includes(`127.0.0.1:${replica.port}`) && !/s_down|disconnected/.test(status);
  };
  await until(together, 'to see the replica');

  return {
    url: `redis+sentinel://127.0.0.1:${sentinel.port}/${MASTER}`,
    ...{ master: first, replica: second },
    current: async () => (await pair()).master,
    // Nothing listens on port 1.
    severReplica: async () => void (await (await pair()).replica.call('REPLICAOF', '127.0.0.1', 1)),
    failOver: async () => {
      const { master } = await pair();
      await master.kill();
      await until(async () => (await masterPort()) !== master.port, 'the promotion of the replica');
      await master.start();
      // The sentinel itself would see to it after ten seconds.
      await master.call('REPLICAOF', '127.0.0.1', await masterPort());
      await until(together, 'the return of the old master');
    },
    stop: async () => {
      for (const server of [sentinel, second, first]) await server.stop();
    },
  };
}
