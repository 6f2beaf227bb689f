import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type FakeUpstream, startFakeUpstream } from '@tallygate/fake-upstream';
import { MODEL } from '../chat.ts';
import { CutOff } from '../cut-off.ts';
import { Gateway, hasPostmaster, postmasterOf } from '../gateway.ts';
import { admin } from '../operator.ts';
import { type RedisForm, type RedisUnderFaults, startRedisOf } from './redis.ts';

/** One gateway with its lanes in memory, with two `workers` or without any. The others: two gateways that share a Redis of that form. */
export type Topology = 'alone' | 'workers' | RedisForm;

export const isOverRedis = (topology: Topology): topology is RedisForm => topology !== 'alone' && topology !== 'workers';

const READY_WITHIN_MS = 90_000;
/** Nano-USD: the ceiling of every account. */
export const ACCOUNT_CAP = 4_000_000n;
export const PLAN = 'capped';

/** All of it is paid beyond the quota, by invoice, up to the ceiling: so an account has a cap in money. */
const PLANS = {
  default: 'open',
  plans: [
    { plan_id: 'open', overage: { policy: 'block', ceiling_usd: null }, quota: { requests: null, tokens: null } },
    { plan_id: PLAN, overage: { policy: 'invoice', ceiling_usd: '0.004' }, quota: { requests: 0, tokens: 0 }, more: ['invoicing'] },
  ].map(({ plan_id, overage, quota, more = [] }) => ({
    plan_id,
    version: 1,
    name: plan_id,
    monthly_price_usd: '0',
    for_sale: false,
    quota: { ...quota, images: 0, audio_seconds: 0, video_seconds: 0 },
    overage,
    rate_limits: { requests_per_minute: null, tokens_per_minute: null, concurrency: null },
    features: ['receipts', 'agent_runs', ...more],
  })),
};

export interface ServiceOptions {
  readonly topology: Topology;
  /** A Redis server; not needed where a gateway is alone. */
  readonly redisProgram: string;
  /** Its clock can be set with `setClock`, by this library: libfaketime. */
  readonly fakeClock?: string;
  /** A PostgreSQL in the gateway's data directory, which can be killed and stopped. Left out, a database of `Gateway.makeDatabase`. */
  readonly ownPostgres?: boolean;
}

/** To the provider, and, where an address can be put in between, to the stores. */
interface Ways {
  readonly provider: CutOff;
  readonly postgres?: CutOff;
  readonly redis?: CutOff;
}

/** Gateways with all their dependencies, each of which can be broken. */
export class Service {
  readonly topology: Topology;
  readonly upstream: FakeUpstream;
  readonly gateways: readonly Gateway[];
  readonly redis: RedisUnderFaults | undefined;
  readonly #ways: readonly Ways[];
  /** Which of the gateways is broken. */
  #broken = 0;
  readonly #home: string;
  readonly #database: { readonly url: string; drop(): Promise<void> } | undefined;

  private constructor(
    parts: Pick<Service, 'topology' | 'upstream' | 'gateways' | 'redis'>,
    ways: readonly Ways[],
    home: string,
    database: Service['database'],
  ) {
    this.topology = parts.topology;
    this.upstream = parts.upstream;
    this.gateways = parts.gateways;
    this.redis = parts.redis;
    this.#ways = ways;
    this.#home = home;
    this.#database = database;
  }

  static async start({ topology, redisProgram, fakeClock, ownPostgres = false }: ServiceOptions): Promise<Service> {
    const home = mkdtempSync(join(tmpdir(), 'tallygate-faults-'));
    writeFileSync(join(home, 'plans.json'), JSON.stringify(PLANS));
    const upstream = await startFakeUpstream();
    const redis = isOverRedis(topology) ? await startRedisOf(topology, redisProgram) : undefined;
    const database = ownPostgres && !redis ? undefined : await Gateway.makeDatabase?.();
    const common = {
      ...{ LOG_LEVEL: 'warn', PLANS_FILE: join(home, 'plans.json'), DRAIN_TIMEOUT_MS: '5000' },
      ...secrets(),
    };
    const gateways: Gateway[] = [];
    const ways: Ways[] = [];
    for (let index = 0; index < (redis ? 2 : 1); index += 1) {
      const own: Ways = {
        provider: await CutOff.before(upstream.url),
        ...(database && { postgres: await CutOff.before(database.url) }),
        ...(redis && topology === 'single' && { redis: await CutOff.before(redis.url) }),
      };
      const env = {
        ...common,
        ...(redis && { REDIS_URL: own.redis?.url ?? redis.url }),
        ...(topology === 'workers' && { WORKERS: '2' }),
        ...(own.postgres && { DATABASE_URL: own.postgres.url }),
        ...(fakeClock !== undefined && clockOf(clockFile(home, index), fakeClock)),
      };
      writeFileSync(clockFile(home, index), '+0');
      const providers = [
        { name: 'first', base_url: own.provider.url, models: [MODEL] },
        { name: 'spare', base_url: upstream.url, models: [MODEL] },
      ];
      gateways.push(await Gateway.start({ ...(!database && { database: 'embedded' as const }), providers, env }));
      ways.push(own);
    }
    return new Service({ topology, upstream, gateways, redis }, ways, home, database);
  }

  get database(): { readonly url: string; drop(): Promise<void> } | undefined {
    return this.#database;
  }

  /** Around every way that can be cut. */
  get databaseUrl(): string {
    return this.#database?.url ?? this.broken.databaseUrl;
  }

  /** From now on another gateway is broken. */
  breakNext(): void {
    this.#broken = (this.#broken + 1) % this.gateways.length;
  }

  /** The one whose process, ways and clock are broken. */
  get broken(): Gateway {
    const broken = this.gateways[this.#broken];
    if (!broken) throw new Error('The service has no gateway');
    return broken;
  }

  /** Of that gateway. */
  get ways(): Ways {
    const ways = this.#ways[this.#broken];
    if (!ways) throw new Error('The service has no gateway');
    return ways;
  }

  /** Of that gateway, from now on: a libfaketime offset such as `+40s`. */
  setClock(offset: string): void {
    writeFileSync(clockFile(this.#home, this.#broken), offset);
  }

  /** The processes of that gateway that serve requests; none where it does so itself. */
  workers(): number[] {
    return childrenOf(this.broken.process.pid ?? 0).filter((pid) => commandOf(pid).includes('gateway.mjs'));
  }

  /** Every process of the PostgreSQL in the data directory; empty where it has none, or that has ended with its gateway. */
  postgresProcesses(): number[] {
    if (this.#database || !hasPostmaster(this.broken.dataDir)) return [];
    const { pid } = postmasterOf(this.broken.dataDir);
    return [pid, ...childrenOf(pid)];
  }

  /** Starts again what has ended, and waits until all of it serves. */
  async heal(): Promise<void> {
    for (const way of this.#everyWay()) way.open();
    const lateTick = performance.now() + READY_WITHIN_MS;
    for (const gateway of this.gateways) {
      for (let isReady = false; !isReady; ) {
        if (!gateway.process.isRunning) await gateway.start();
        isReady = await fetch(`${gateway.url}/health/ready`, { signal: AbortSignal.timeout(10_000) }).then(
          ({ status }) => status === 200,
          () => false,
        );
        if (performance.now() > lateTick) throw new Error(`A gateway does not get ready again:\n${gateway.process.output.slice(-3_000)}`);
        if (!isReady) await pause(100);
      }
    }
  }

  #everyWay(): CutOff[] {
    return this.#ways.flatMap(({ provider, postgres, redis }) => [provider, postgres, redis].filter((way) => way !== undefined));
  }

  /** What the reconciler finds on the lanes in Redis, those of earlier rounds too; undefined when that is nothing. */
  async reconcile(): Promise<string | undefined> {
    if (!this.redis) return undefined;
    const { stdout, stderr } = await admin(['reconcile'], {
      ...this.broken.places,
      DATABASE_URL: this.databaseUrl,
      REDIS_URL: this.redis.url,
    });
    return stdout.startsWith('Every lane has what the ledger has.') ? undefined : `${stdout}${stderr}`;
  }

  /** @returns the folder with the logs of the gateways, from their first process on */
  keepOutput(): string {
    const folder = mkdtempSync(join(tmpdir(), 'tallygate-faults-output-'));
    for (const [index, gateway] of this.gateways.entries()) writeFileSync(join(folder, `gateway-${index + 1}.log`), gateway.output);
    return folder;
  }

  async stop(): Promise<void> {
    for (const way of this.#everyWay()) way.open();
    for (const gateway of this.gateways.toReversed()) await gateway.remove();
    for (const way of this.#everyWay()) way.close();
    await this.upstream.close();
    await this.redis?.stop();
    await this.#database?.drop();
    rmSync(this.#home, { recursive: true, force: true });
  }
}

function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  return children.filter((child) => child !== '').map(Number);
}

/** Empty where it has ended meanwhile. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}

const clockFile = (home: string, index: number): string => join(home, `clock-${index + 1}`);

/** Gateways of one service share them. */
const secrets = () => ({
  MASTER_KEYS: `k1:${randomBytes(32).toString('base64')}`,
  RECEIPT_SIGNING_KEY: randomBytes(32).toString('base64'),
  LOG_SIGNING_KEY: randomBytes(32).toString('base64'),
  INTERNAL_SECRET: randomBytes(24).toString('base64url'),
});

/** The time of day comes from the file; what only goes forward is left alone, as on a machine whose clock is set. */
const clockOf = (file: string, library: string) => ({
  LD_PRELOAD: library,
  FAKETIME_TIMESTAMP_FILE: file,
  FAKETIME_CACHE_DURATION: '1',
  DONT_FAKE_MONOTONIC: '1',
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
});
