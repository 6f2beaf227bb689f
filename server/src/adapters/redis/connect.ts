import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { Log } from '../../kernel/log.ts';

/** A connection to one Redis (or the master that sentinels name), or to a cluster. */
export type RedisConnection = Redis | Cluster;

/** No command takes longer than this: who waits for an admission is refused rather than kept. */
const COMMAND_TIMEOUT_MS = 2_000;
const CONNECT_TIMEOUT_MS = 2_000;
const READY_WITHIN_MS = 10_000;
const AGAIN_AFTER_MS = 200;

/** What a URL of ours says. */
export interface RedisAddress {
  readonly kind: 'single' | 'cluster' | 'sentinel';
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly tls: boolean;
  /** Of a single server. */
  readonly database: number;
  /** Of the master that sentinels watch. */
  readonly masterName: string;
}

const ADDRESS = /^redis(s?)(?:\+(cluster|sentinel))?:\/\/(?:([^:@/]*)(?::([^@/]*))?@)?([^/]+)(?:\/([^/]*))?$/;
const NODE = /^(\[[0-9a-fA-F:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/;
const DEFAULT_PORT = 6379;
const SENTINEL_PORT = 26379;

/**
 * `redis://[user:password@]host:port[/database]`, `redis+cluster://host:port,host:port`, `redis+sentinel://host:port,host:port/master-name`;
 * `rediss` for TLS.
 *
 * @throws TypeError on anything else
 */
export function parseRedisUrl(url: string): RedisAddress {
  const [, tls, form, username, password, hosts = '', path = ''] = ADDRESS.exec(url) ?? [];
  const kind = form === 'cluster' || form === 'sentinel' ? form : 'single';
  const nodes = hosts.split(',').map((host) => {
    const [, name, port] = NODE.exec(host) ?? [];
    if (name === undefined)
      throw new TypeError('Expected redis://host:port, redis+cluster://host:port,… or redis+sentinel://host:port,…/name');
    return {
      host: name.replace(/^\[|\]$/g, ''),
      port: port === undefined ? (kind === 'sentinel' ? SENTINEL_PORT : DEFAULT_PORT) : Number(port),
    };
  });
  if (kind === 'single' && nodes.length > 1)
    throw new TypeError('Several hosts are a cluster (redis+cluster://) or sentinels (redis+sentinel://)');
  if (kind === 'sentinel' && path === '') throw new TypeError('redis+sentinel:// ends in the name of the master: /mymaster');
  if (kind === 'single' && !/^\d*$/.test(path)) throw new TypeError('The path of redis:// is the number of a database');
  if (kind === 'cluster' && path !== '') throw new TypeError('A cluster has no databases: leave the path out');
  return {
    kind,
    nodes,
    username: username ? decodeURIComponent(username) : undefined,
    password: password ? decodeURIComponent(password) : undefined,
    tls: tls === 's',
    database: kind === 'single' ? Number(path) : 0,
    masterName: kind === 'sentinel' ? path : '',
  };
}

type Options = Omit<RedisOptions, 'replyMapping'>;

type Purpose =
  /** Answers within two seconds, where no other time is named, or fails. */
  | 'prompt'
  /** Waits for its server as long as it takes: workers of the job queue, which block. */
  | 'patient';

/** Opens a connection, which then connects again by itself for ever. Nothing is awaited: see `ready`. */
export function connectRedis(url: string, log: Log, purpose: Purpose, promptMs = COMMAND_TIMEOUT_MS): RedisConnection {
  const address = parseRedisUrl(url);
  const withinMs = purpose === 'patient' ? undefined : promptMs;
  const redis = address.kind === 'cluster' ? connectCluster(address, withinMs) : new Redis(singleOptions(address, withinMs));
  redis.on('error', (error: unknown) => log.warn({ err: error }, 'trouble with the connection to Redis'));
  if (redis instanceof Redis && address.kind === 'sentinel') connectAgain(redis);
  return redis;
}

/**
 * A failover that sentinels announce while a connection is being made ends it for good (ioredis 6.0, `SentinelConnector`): it is made anew,
 * unless it was closed by us.
 */
function connectAgain(redis: Redis): void {
  let isClosed = false;
  const disconnect = redis.disconnect.bind(redis);
  redis.disconnect = (reconnect = false) => {
    isClosed ||= !reconnect;
    disconnect(reconnect);
  };
  redis.on('end', () => {
    if (!isClosed) setTimeout(() => !isClosed && redis.connect().catch(() => {}), AGAIN_AFTER_MS).unref();
  });
}

/** @throws when the server does not answer within that time */
export async function ready(redis: RedisConnection, withinMs = READY_WITHIN_MS): Promise<void> {
  if (redis.status === 'ready') return;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => reject(new Error('Redis does not answer')), withinMs);
  redis.once('ready', resolve);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    redis.off('ready', resolve);
  }
}

function commandOptions({ username, password, tls }: RedisAddress, commandTimeout: number | undefined): Options {
  const common: Options = {
    connectionName: 'tallygate',
    connectTimeout: CONNECT_TIMEOUT_MS,
    maxRetriesPerRequest: null,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(tls ? { tls: {} } : {}),
  };
  // A command whose answer is lost is repeated by whoever knows that this does no harm, or not at all.
  if (commandTimeout === undefined) return common;
  // Where a network has forgotten a connection, nothing ever ends it: what answers nothing is given up and made anew.
  return { ...common, commandTimeout, socketTimeout: commandTimeout, autoResendUnfulfilledCommands: false };
}

const pipelining = (withinMs: number | undefined) =>
  withinMs === undefined ? {} : { enableAutoPipelining: true, enableOfflineQueue: false };

const retryDelay = (attempt: number): number => Math.min(50 * attempt, 1_000);

function singleOptions(address: RedisAddress, withinMs: number | undefined): Options {
  const [node] = address.nodes;
  const options: Options = { ...commandOptions(address, withinMs), ...pipelining(withinMs), retryStrategy: retryDelay };
  if (address.kind === 'sentinel') {
    return {
      ...options,
      sentinels: [...address.nodes],
      name: address.masterName,
      sentinelRetryStrategy: retryDelay,
      failoverDetector: true,
    };
  }
  return { ...options, db: address.database, ...node };
}

function connectCluster(address: RedisAddress, withinMs: number | undefined): Cluster {
  const cluster = new Cluster([...address.nodes], {
    ...pipelining(withinMs),
    redisOptions: commandOptions(address, withinMs),
    clusterRetryStrategy: retryDelay,
    // A failover is over within seconds, or the command fails: it is not sent around in circles.
    maxRedirections: 8,
    retryDelayOnFailover: 100,
    retryDelayOnClusterDown: 100,
    slotsRefreshTimeout: CONNECT_TIMEOUT_MS,
  });
  findMovedSlots(cluster);
  return cluster;
}

/**
 * Where commands that were sent together have different answers, ioredis (6.0, `Pipeline.fillResult`) does not repeat them, and looks up no slot
 * that has moved: a gateway that asks all partitions at once would go on asking the wrong node.
 */
function findMovedSlots(cluster: Cluster): void {
  const send = cluster.sendCommand.bind(cluster);
  cluster.sendCommand = (command, stream, node) => {
    const { reject } = command;
    if (node !== undefined)
      command.reject = (error) => {
        if (error.message.startsWith('MOVED ')) cluster.refreshSlotsCache();
        reject(error);
      };
    return send(command, stream, node);
  };
}
