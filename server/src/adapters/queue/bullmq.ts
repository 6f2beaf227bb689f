import {
  type BackendFactory,
  createPostgresBackend,
  createRedisBackend,
  type IQueueBackend,
  isPgPool,
  type Job,
  type JobsOptions,
  runMigrations,
  withBackend,
} from 'bullmq';
import type { Cluster, Redis } from 'ioredis';
import pg from 'pg';
import type { Log } from '../../kernel/log.ts';
import { isStoreFailure } from '../../kernel/store-failure.ts';
import type { Delivery, JobQueue, RetryPolicy } from './port.ts';

const SCHEMA = 'bullmq';
const SHARED_CONNECTIONS = 8;
/** After how long a worker that could not reach its store tries again. It cannot be closed meanwhile, so the default of 15 s is too long. */
const STORE_RETRY_MS = 1_000;
/** Short: a user who waits for a background response or a mail waits this long and again after a crash. Each worker asks its store about it as often. */
const WORKER_TIMEOUT_MS = 10_000;
const FAILED_JOBS_KEPT = { age: 14 * 24 * 3600, count: 1_000 };

interface PostgresStore {
  databaseUrl: string;
  /** Of the connections. Default: pg's own. */
  Client?: typeof pg.Client;
}

interface QueueOptions {
  /**
   * Where jobs are kept: in the schema `bullmq` of a PostgreSQL database, or in Redis. That connection waits for its server as long as it
   * takes, and is closed with the queue.
   */
  store: PostgresStore | { redis: Redis | Cluster };
  log: Log;
  /** After how long without a sign of life a worker counts as dead and its job runs again (within twice this). Default: ten seconds. */
  workerTimeoutMs?: number;
}

/**
 * Opens the queue on either store. In PostgreSQL it prepares the schema, and throws when that fails; a Redis that is down is
 * waited for by the first call that needs it.
 */
export async function openJobQueue({ store, log, workerTimeoutMs = WORKER_TIMEOUT_MS }: QueueOptions): Promise<JobQueue> {
  if ('redis' in store) {
    // The braces keep all keys of BullMQ in one slot of a Redis Cluster.
    return queueOver(
      createRedisBackend,
      { connection: store.redis, prefix: '{tallygate-jobs}' },
      { log, workerTimeoutMs, onClosed: async () => store.redis.disconnect() },
    );
  }
  const pool = await openQueuePool(store, log);
  // BullMQ describes the same class with other overloads; its own check is what brings the two types together.
  if (!isPgPool(pool)) throw new TypeError('BullMQ does not take this pg.Pool.');
  return queueOver(
    createPostgresBackend,
    { connection: pool },
    {
      log,
      workerTimeoutMs,
      onWorker: () => {
        pool.options.max += 1; // A worker keeps one connection to itself, to listen on.
      },
      onClosed: () => pool.end(),
    },
  );
}

/** One pool for every queue and worker of this process; left to itself BullMQ opens one for each. */
async function openQueuePool({ databaseUrl, Client }: PostgresStore, log: Log): Promise<pg.Pool> {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: SHARED_CONNECTIONS,
    options: `-c search_path=${SCHEMA}`,
    keepAlive: true,
    application_name: 'tallygate jobs',
    Client: waitingFor(Client ?? pg.Client),
  });
  pool.setMaxListeners(0); // Every queue and worker listens for the pool's errors.
  pool.on('error', (failure) => log.warn({ err: failure }, 'an idle connection of the job queue broke'));
  // BullMQ does not listen to most connections while it borrows them; unheard, an error there would end the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  try {
    const client = await pool.connect();
    try {
      await runMigrations(client, SCHEMA);
    } finally {
      client.release();
    }
    return pool;
  } catch (failure) {
    await pool.end();
    throw failure;
  }
}

/**
 * BullMQ waits before it asks again where a connection is refused by the machine, and asks at once, without an end, where the server refuses
 * it: one that starts, shuts down or has no connection free. Both are told to it as the same.
 */
function waitingFor(Base: typeof pg.Client): typeof pg.Client {
  return class extends Base {
    override connect(): Promise<void>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): Promise<void> | undefined {
      if (callback) return void super.connect((error) => callback(error && asRefused(error)));
      return super.connect().catch((error: unknown) => {
        throw asRefused(error);
      });
    }
  };
}

/** What BullMQ takes for a connection that there is not. */
const asRefused = <E>(error: E): E | Error => (isStoreFailure(error) ? new Error('Connection is closed.', { cause: error }) : error);

interface Hooks {
  log: Log;
  workerTimeoutMs: number;
  onWorker?(): void;
  onClosed?(): Promise<void>;
}

function queueOver<B extends IQueueBackend, C>(
  factory: BackendFactory<B, C>,
  connection: { connection: C; prefix?: string },
  { log, workerTimeoutMs, onWorker, onClosed }: Hooks,
): JobQueue {
  const { Queue, Worker } = withBackend(factory);
  const queues = new Map<string, InstanceType<typeof Queue>>();
  const workers: InstanceType<typeof Worker>[] = [];
  const logged = (name: string) => (failure: Error) => log.warn({ err: failure, job: name }, 'the job queue has trouble with its store');

  function queueOf(name: string): InstanceType<typeof Queue> {
    let queue = queues.get(name);
    if (!queue) {
      queue = new Queue(name, connection);
      queue.on('error', logged(name));
      queues.set(name, queue);
    }
    return queue;
  }

  async function close(): Promise<void> {
    await Promise.all(workers.map((worker) => worker.close()));
    await Promise.all([...queues.values()].map((queue) => queue.close()));
    await onClosed?.();
  }

  let closed: Promise<void> | undefined;
  return {
    async add(name, payload, retry, { delayMs = 0, once } = {}) {
      const deduplication = once === undefined ? {} : { deduplication: { id: once } };
      await queueOf(name).add(name, payload, { ...jobOptions(retry), delay: delayMs, ...deduplication });
    },

    async process(name, concurrency, handler) {
      onWorker?.();
      const worker = new Worker(name, (job) => handler(deliveryOf(job)), {
        ...connection,
        concurrency,
        lockDuration: workerTimeoutMs,
        stalledInterval: workerTimeoutMs,
        runRetryDelay: STORE_RETRY_MS,
        maxStalledCount: 3, // A job that takes its worker down with it must not do so for ever.
      });
      worker.on('error', logged(name));
      worker.on('stalled', (id) => log.warn({ job: name, id }, 'a worker died; its job runs again'));
      workers.push(worker);
      await worker.waitUntilReady();
    },

    waiting: (name) => queueOf(name).getJobCountByTypes('waiting', 'delayed', 'prioritized'),

    close() {
      closed ??= close();
      return closed;
    },
  };
}

const jobOptions = ({
  attempts,
  firstDelayMs,
}: RetryPolicy): Pick<JobsOptions, 'attempts' | 'backoff' | 'removeOnComplete' | 'removeOnFail'> => ({
  attempts,
  backoff: { type: 'exponential', delay: firstDelayMs },
  removeOnComplete: true,
  removeOnFail: FAILED_JOBS_KEPT,
});

function deliveryOf({ id = '', data, attemptsMade, opts }: Job): Delivery {
  return { id, payload: data, attempt: attemptsMade + 1, isLastAttempt: attemptsMade + 1 >= (opts.attempts ?? 1) };
}
