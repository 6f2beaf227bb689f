import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { ALLOCATOR } from '../../scripts/allocator.ts';
import { type SharedLife, startShared } from './shared-process.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** As `npm start` starts it: from a bundle, which the first start builds. It is not supervised. */
const COMMAND = ['scripts/gateway.mjs'];
const SUPERVISED = ['scripts/start.mjs'];
/** What one suite asks with one test key within a minute, or has refused, a program would not. */
const NO_TEST_LIMITS = {
  REFUSED_REQUESTS_PER_MINUTE: '1000000',
  TEST_REQUESTS_PER_MINUTE: '1000000',
  TEST_TOKENS_PER_MINUTE: '2000000000',
  TEST_CONCURRENCY: '20000',
};
const STARTS_WITHIN_MS = 500_000;

const Bootstrap = z.object({
  base_url: z.url(),
  admin_email: z.string(),
  admin_password: z.string(),
  test_api_key: z.string(),
  internal_secret: z.string(),
  metrics_token: z.string(),
});
type Bootstrap = z.infer<typeof Bootstrap>;

/** A provider of the providers file, in its own words. */
export interface ProviderEntry {
  readonly name: string;
  readonly kind?: 'bedrock' | 'vertex';
  readonly region?: string;
  readonly project?: string;
  readonly location?: string;
  readonly base_url: string;
  readonly api_key?: string;
  readonly weight?: number;
  readonly models?: readonly string[] | Readonly<Record<string, string>>;
  readonly responses?: boolean;
  readonly discover?: boolean;
}

export interface GatewayOptions {
  readonly providers?: readonly ProviderEntry[];
  /** Environment variables of the process, beside `PORT`, `DATA_DIR` and the providers file. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * `shared`: beside other gateways in one process, at a third of the time. It cannot be killed, and nothing is known of its memory and output.
   * Left out, it has its own process, as its users run it.
   */
  readonly process?: 'shared';
  /** A fixed clock in epoch milliseconds; left out, the real time. It shares a process then. */
  readonly frozenAtMs?: number;
  /**
   * `embedded`: in its data directory, where a user who names none has it. Left out, a database of the run's PostgreSQL, which is there at
   * once: making one takes longer than most files take to test. `env.DATABASE_URL` names another.
   */
  readonly database?: 'embedded';
  /** Another version's program, which `upgrade` replaces. Left out, what the sources are built into. */
  readonly program?: string | undefined;
}

/** A separate migrated database. */
interface MadeDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The server as its users run it: its own process by default, on a data directory that outlives it. */
export class Gateway {
  /** Where gateways get their databases that name none; undefined outside a test run, where each has an embedded one. */
  static makeDatabase: (() => Promise<MadeDatabase>) | undefined;

  readonly dataDir: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #database: MadeDatabase | undefined;
  readonly #isShared: boolean;
  #command: readonly string[];
  #frozenAtMs: number | undefined;
  #process: GatewayProcess | undefined;
  #earlierOutput = '';
  #shared: SharedLife | undefined;

  private constructor(
    dataDir: string,
    env: NodeJS.ProcessEnv,
    database: MadeDatabase | undefined,
    { process, frozenAtMs, program }: GatewayOptions,
  ) {
    this.dataDir = dataDir;
    this.#env = env;
    this.#database = database;
    this.#isShared = process === 'shared' || frozenAtMs !== undefined;
    this.#frozenAtMs = frozenAtMs;
    this.#command = program === undefined ? COMMAND : [program];
  }

  static async start(options: GatewayOptions = {}): Promise<Gateway> {
    const { providers = [], env = {}, database } = options;
    const home = mkdtempSync(join(tmpdir(), 'tallygate-acceptance-'));
    const providersFile = join(home, 'providers.json');
    writeFileSync(providersFile, JSON.stringify({ providers }));
    // Only what a process needs: the developer's own provider keys must not reach it.
    const { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE } = process.env;
    const ofRun = database === 'embedded' || env['DATABASE_URL'] !== undefined ? undefined : await Gateway.makeDatabase?.();
    const settings = {
      ...{ PATH, HOME, TMPDIR, NODE_COMPILE_CACHE, ...ALLOCATOR },
      ...{ PORT: '0', HOST: '127.0.0.1', LOG_LEVEL: 'info', DATA_DIR: join(home, 'data'), ...NO_TEST_LIMITS },
      ...(ofRun && { DATABASE_URL: ofRun.url }),
      ...(providers.length > 0 && { PROVIDERS_FILE: providersFile }),
      ...env,
    };
    const gateway = new Gateway(join(home, 'data'), settings, ofRun, options);
    await gateway.start().catch(async (error: unknown) => {
      await gateway.#removeAll();
      throw error;
    });
    return gateway;
  }

  /** Starts it on the same folder. @throws with its output when it ends instead of listening */
  async start(): Promise<void> {
    if (this.#process?.isRunning || this.#shared) throw new Error('The gateway is running already');
    if (this.#isShared) {
      this.#shared = await startShared(this.#env, this.#frozenAtMs);
      return;
    }
    this.#earlierOutput += this.#process?.output ?? '';
    this.#process = this.launch();
    await this.#process.listening;
  }

  /** From the next start on. */
  freezeAt(ms: number): void {
    this.#frozenAtMs = ms;
  }

  /** It runs what the sources are built into from the next start on. */
  upgrade(): void {
    this.#command = COMMAND;
  }

  /** From the next start on. */
  configure(env: Readonly<Record<string, string>>): void {
    Object.assign(this.#env, env);
  }

  /** Another process on the same folder; it may fail. */
  launch(): GatewayProcess {
    return new GatewayProcess(this.#env, this.#command);
  }

  /** As an operator starts it: by `npm start`, which starts it again when it dies. */
  supervise(): GatewayProcess {
    return new GatewayProcess(this.#env, SUPERVISED);
  }

  get process(): GatewayProcess {
    if (!this.#process) throw new Error('The gateway was never started in its own process');
    return this.#process;
  }

  /** Of all its processes. */
  get output(): string {
    return this.#earlierOutput + this.process.output;
  }

  /** `http://127.0.0.1:<port>`, another one after every start. */
  get url(): string {
    return this.#shared?.url ?? this.process.url;
  }

  /** Of a running gateway: the embedded database's port is another one after every start. */
  get databaseUrl(): string {
    return this.#env['DATABASE_URL'] ?? embeddedDatabaseUrl(this.dataDir);
  }

  /** The variables that say where its data is. */
  get places(): Record<string, string> {
    const { DATABASE_URL } = this.#env;
    return { DATA_DIR: this.dataDir, ...(DATABASE_URL !== undefined && { DATABASE_URL }) };
  }

  get bootstrap(): Bootstrap {
    return Bootstrap.parse(JSON.parse(readFileSync(join(this.dataDir, 'bootstrap.json'), 'utf8')));
  }

  /** As an operator stops it. */
  async stop(signal: 'SIGTERM' | 'SIGINT' = 'SIGTERM'): Promise<Exit> {
    if (!this.#isShared) return this.process.signal(signal);
    await this.#shared?.stop();
    this.#shared = undefined;
    return { code: 0, signal: null };
  }

  /** As a machine that loses its power stops it, but for what the kernel has been given already. */
  kill(): Promise<Exit> {
    return this.process.signal('SIGKILL');
  }

  /** Stops it, its database too, and removes the folder. */
  async remove(): Promise<void> {
    // A killed gateway leaves its embedded PostgreSQL to the next one: that one is started to be stopped in order.
    if (this.#env['DATABASE_URL'] === undefined && this.#process?.wasKilled) await this.start();
    if (this.#process?.isRunning || this.#shared) await this.stop();
    await this.#removeAll();
  }

  async #removeAll(): Promise<void> {
    await this.#database?.drop();
    rmSync(join(this.dataDir, '..'), { recursive: true, force: true });
  }
}

/** `postmaster.pid` says who the embedded PostgreSQL is (line 1) and where it listens (line 4), as miscadmin.h has it. */
const postmasterFile = (dataDir: string) => join(dataDir, 'postgres/cluster/data/postmaster.pid');

export const hasPostmaster = (dataDir: string): boolean => existsSync(postmasterFile(dataDir));

export function postmasterOf(dataDir: string): { pid: number; port: number } {
  const lines = readFileSync(postmasterFile(dataDir), 'utf8').split('\n');
  return { pid: Number(lines[0]), port: Number(lines[3]) };
}

function embeddedDatabaseUrl(dataDir: string): string {
  const password = readFileSync(join(dataDir, 'postgres/cluster/password'), 'utf8');
  return `postgresql://tallygate:${password}@127.0.0.1:${postmasterOf(dataDir).port}/postgres`;
}

/** One life of the server. */
class GatewayProcess {
  /** Resolves with the banner, rejects when the process ends before it. */
  readonly listening: Promise<void>;
  readonly exit: Promise<Exit>;
  readonly #child: ChildProcess;
  #output = '';
  #url = '';

  constructor(env: NodeJS.ProcessEnv, command: readonly string[]) {
    this.#child = spawn(process.execPath, command, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
    // `close` and not `exit`: it comes after the last of the output.
    this.exit = once(this.#child, 'close').then(() => ({ code: this.#child.exitCode, signal: this.#child.signalCode }));
    this.listening = new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`The gateway does not listen:\n${this.#output}`)), STARTS_WITHIN_MS);
      const read = (chunk: Buffer) => {
        this.#output += chunk.toString('utf8');
        const found = this.#url === '' && /Tallygate is listening on (\S+)[\s\S]*Stop with Ctrl-C/.exec(this.#output);
        if (!found) return;
        this.#url = found[1] ?? '';
        clearTimeout(late);
        resolve();
      };
      this.#child.stdout?.on('data', read);
      this.#child.stderr?.on('data', read);
      void this.exit.then(({ code, signal }) => {
        clearTimeout(late);
        reject(new Error(`The gateway ended (${signal ?? code}):\n${this.#output}`));
      });
    });
    this.listening.catch(() => {}); // Callers that wait get the error; a test of a failing start does not wait.
  }

  get url(): string {
    return this.#url;
  }

  /** Everything it wrote to stdout and stderr so far. */
  get output(): string {
    return this.#output;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get wasKilled(): boolean {
    return this.#child.signalCode === 'SIGKILL';
  }

  signal(signal: NodeJS.Signals): Promise<Exit> {
    this.#child.kill(signal);
    return this.exit;
  }
}
