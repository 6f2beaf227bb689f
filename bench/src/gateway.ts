import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { ALLOCATOR } from '../../scripts/allocator.ts';
import { pin } from './cores.ts';
import type { Stage } from './stage.ts';
import { Tally } from './tally.ts';

/** The providers' origins: one answers at once, one paces its streams, one has streams of megabytes. */
export interface Providers {
  readonly instant: string;
  readonly paced: string;
  readonly long: string;
}

/** Which catalogue models the gateway sends to which of them; the one for embeddings goes to `instant` too. */
export const MODELS = {
  instant: 'gpt-4o-mini',
  embeddings: 'text-embedding-3-small',
  paced: 'mistral-large-2512',
  long: 'gpt-4.1',
} as const;

const DRAIN_TIMEOUT_MS = 60_000;
const DRAIN_POLL_MS = 5;
const NANO_DIGITS = 9;

/** The gateway as an operator runs it, in its own process: nothing is turned off. */
export class Gateway {
  readonly origin: string;
  readonly pid: number;
  readonly postmasterPid: number;
  /** Of every request that was sent to it. */
  readonly tally = new Tally();
  /** The gateway's own, for what no endpoint does. */
  readonly database: pg.Client;
  readonly dataDir: string;
  readonly #sessionToken: string;

  private constructor({
    sessionToken,
    ...parts
  }: Pick<Gateway, 'origin' | 'pid' | 'postmasterPid' | 'database' | 'dataDir'> & { readonly sessionToken: string }) {
    this.origin = parts.origin;
    this.pid = parts.pid;
    this.postmasterPid = parts.postmasterPid;
    this.database = parts.database;
    this.dataDir = parts.dataDir;
    this.#sessionToken = sessionToken;
  }

  /** @param settings beyond the defaults that an operator starts with */
  static async start(stage: Stage, { instant, paced, long }: Providers, settings: Readonly<Record<string, string>> = {}): Promise<Gateway> {
    const dataDir = join(stage.folder, 'data');
    const providersFile = join(stage.folder, 'providers.json');
    const provider = (name: string, origin: string, ...models: string[]) => ({
      name,
      base_url: `${origin}/v1`,
      api_key: 'bench-key',
      models,
      // As OpenAI has them: passed through, not translated.
      responses: true,
    });
    const providers = [
      provider('instant', instant, MODELS.instant, MODELS.embeddings),
      provider('paced', paced, MODELS.paced),
      provider('long', long, MODELS.long),
    ];
    writeFileSync(providersFile, JSON.stringify({ providers }));
    const env = { ...ALLOCATOR, ...settings, DATA_DIR: dataDir, PROVIDERS_FILE: providersFile, PORT: '0' };
    const { pid, ready } = await stage.start({ name: 'gateway', script: 'scripts/gateway.mjs', env, isSubject: true }, () =>
      bootstrapOf(dataDir),
    );
    const origin = new URL(ready.base_url).origin;

    const cluster = join(dataDir, 'postgres/cluster');
    const [postmasterPid = '', , , port = ''] = readFileSync(join(cluster, 'data/postmaster.pid'), 'utf8').split('\n');
    // The database would be another machine's; what it costs is reported on its own line.
    if (stage.cores) pin(Number(postmasterPid), stage.cores.surroundings);
    const password = readFileSync(join(cluster, 'password'), 'utf8');
    const database = new pg.Client({ host: '127.0.0.1', port: Number(port), user: 'tallygate', password, database: 'postgres' });
    await database.connect();
    database.on('error', () => {}); // The gateway takes its database along when it stops.
    // No key of the account has been read yet, so nobody has to be told.
    await database.query("update accounts set plan = 'enterprise', given_plan = 'enterprise'");

    const { admin_email: email, admin_password } = ready;
    const login = await post(`${origin}/v1/users/login`, { email, password: admin_password });
    return new Gateway({ origin, pid, postmasterPid: Number(postmasterPid), database, dataDir, sessionToken: login.session.token });
  }

  /** A live key; with a monthly cap in USD where one is given. */
  async newKey(monthlyCapUsd?: string): Promise<{ id: string; key: string }> {
    const body = {
      name: 'bench',
      livemode: true,
      scopes: ['inference'],
      ...(monthlyCapUsd !== undefined && { monthly_cap_usd: monthlyCapUsd }),
    };
    const { key_id: id, key } = await post(`${this.origin}/v1/keys`, body, this.#sessionToken);
    return { id, key };
  }

  /** Users that nobody has heard of, each with the administrator's password hash: over HTTP, hashing would take minutes. */
  async addUsers(emails: readonly string[]): Promise<void> {
    await this.database.query(
      `insert into users (id, account_id, email, role, password_hash, email_verified_at, created_at)
       select gen_random_uuid(), account_id, address, 'member', password_hash, now(), now()
       from (select account_id, password_hash from users limit 1) as administrator, unnest($1::text[]) as address`,
      [emails],
    );
    await this.database.query('analyze users');
  }

  /** How many requests the ledger knows, of one key or of all. */
  async recorded(keyId?: string): Promise<{ requests: number; receipts: number; costNano: bigint }> {
    const { rows } = await this.database.query<{ requests: number; receipts: number; cost: string }>(
      `select count(*)::int as requests, count(r.receipt_id)::int as receipts, coalesce(sum(cost_nano), 0)::text as cost
       from usage_records u left join receipts r using (receipt_id) where $1::uuid is null or key_id = $1`,
      [keyId ?? null],
    );
    const [{ requests, receipts, cost } = { requests: 0, receipts: 0, cost: '0' }] = rows;
    return { requests, receipts, costNano: BigInt(cost) };
  }

  /**
   * Waits until the ledger's own sums, which are written in the transaction that writes the records, count every request that was answered.
   * @returns how long that took, milliseconds
   */
  async drained(): Promise<number> {
    const requests = this.tally.answers;
    const startedAt = performance.now();
    for (;;) {
      const { rows } = await this.database.query<{ requests: number }>(
        'select coalesce(sum(requests), 0)::int as requests from usage_daily',
      );
      const known = rows[0]?.requests ?? 0;
      const waitedMs = performance.now() - startedAt;
      if (known === requests) return waitedMs;
      if (known > requests || waitedMs > DRAIN_TIMEOUT_MS)
        throw new Error(`The ledger holds ${known} requests where ${requests} were answered`);
      await delay(DRAIN_POLL_MS);
    }
  }

  async disconnect(): Promise<void> {
    await this.database.end();
  }
}

/** 1500000000n → "1.500000000" */
export const exactUsd = (nano: bigint): string => {
  const digits = nano.toString().padStart(NANO_DIGITS + 1, '0');
  return `${digits.slice(0, -NANO_DIGITS)}.${digits.slice(-NANO_DIGITS)}`;
};

interface Bootstrap {
  readonly base_url: string;
  readonly admin_email: string;
  readonly admin_password: string;
}

/** The file is complete, and the server listens, once it names a test key. */
function bootstrapOf(dataDir: string): Bootstrap | undefined {
  const path = join(dataDir, 'bootstrap.json');
  if (!existsSync(path)) return undefined;
  const made = JSON.parse(readFileSync(path, 'utf8')) as Bootstrap & { test_api_key: string };
  return made.test_api_key === '' ? undefined : made;
}

async function post(url: string, body: object, bearer?: string) {
  const headers = { 'content-type': 'application/json', ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }) };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as { session: { token: string }; key_id: string; key: string };
}
