// The program of the package `tallygate-server`: server-package.mjs bundles it into bin/ there.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { operationsPortOf } from '../server/src/app/operations-address.ts';
import { importLitellm } from './import-litellm/import-litellm.ts';
import { runGateway } from './run-gateway.ts';

const EXIT_USAGE = 64; // EX_USAGE of sysexits.h
const EXIT_CONFIG = 78; // EX_CONFIG
const NEEDED_NODE = 24;
/** Less than a health check of a container waits. */
const PATIENCE_MS = 4_000;
/** As `npm start` has it: what a request leaves behind dies young. */
const YOUNG_GENERATION = '--max-semi-space-size=32';

const USAGE = `Usage: tallygate-server                 Runs the gateway, and starts it again when it dies. Settings are environment variables.
       tallygate-server serve           Runs it once: for containers and service managers, which start it again themselves.
       tallygate-server health          Exits with 0 where the gateway on this machine takes requests.
       tallygate-server secrets         Prints new secrets as variables: make them once, for all gateways, and keep them.
       tallygate-server migrate         Applies the migrations that DATABASE_URL lacks, and ends.
       tallygate-server admin COMMAND   What an operator does on the server: \`tallygate-server admin --help\`.
       tallygate-server import-litellm CONFIG.YAML [--keys KEYS.CSV] [--to FOLDER]
                                        Writes providers, prices and keys from what LiteLLM's proxy was told.
       tallygate-server --version
`;

/** Not `import.meta.dirname`, which older versions of Node do not have. */
const HERE = dirname(fileURLToPath(import.meta.url));
const programs = join(HERE, '../server/dist/gateway');
const [command, ...rest] = process.argv.slice(2);
// The package is what runs in production: metrics and health checks have a port of their own, unless a variable says otherwise.
process.env['NODE_ENV'] ??= 'production';

if (Number(process.versions.node.split('.')[0]) < NEEDED_NODE)
  leave(`Tallygate needs Node ${NEEDED_NODE} or newer; this is ${process.version}.\n`, EXIT_CONFIG);
else if (command === undefined) await runGateway(join(programs, 'main.js'), [YOUNG_GENERATION]);
else if (command === 'serve' && rest.length === 0) await import(pathToFileURL(join(programs, 'main.js')).href);
else if (command === 'health' && rest.length === 0) process.exitCode = (await isReady()) ? 0 : 1;
else if (command === 'secrets' && rest.length === 0) process.stdout.write(newSecrets());
else if (command === 'admin') await administer(rest);
else if (command === 'migrate' && rest.length === 0) await administer(['migrate']);
else if (command === 'import-litellm') process.exitCode = importLitellm(rest, Date.now(), (text) => process.stdout.write(text));
else if (command === '--version') process.stdout.write(`${version()}\n`);
else if (command === '--help') process.stdout.write(USAGE);
else leave(USAGE, EXIT_USAGE);

async function administer(argv: readonly string[]): Promise<void> {
  process.argv.splice(2, Number.POSITIVE_INFINITY, ...argv);
  await import(pathToFileURL(join(programs, 'admin.js')).href);
}

async function isReady(): Promise<boolean> {
  const { HOST = '', PORT = '8787', OPERATIONS_HOST = HOST } = process.env;
  const host = ['', '0.0.0.0', '::'].includes(OPERATIONS_HOST) ? '127.0.0.1' : OPERATIONS_HOST;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${operationsPortOf(process.env) ?? PORT}/health/ready`;
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS) })).ok;
  } catch {
    return false;
  }
}

function newSecrets(): string {
  const secrets = {
    MASTER_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    RECEIPT_SIGNING_KEY: randomBytes(32).toString('base64'),
    LOG_SIGNING_KEY: randomBytes(32).toString('base64'),
    INTERNAL_SECRET: randomBytes(32).toString('base64url'),
    METRICS_TOKEN: randomBytes(32).toString('base64url'),
  };
  return Object.entries(secrets)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

function version(): string {
  const manifest: { version: string } = JSON.parse(readFileSync(join(HERE, '../../package.json'), 'utf8'));
  return manifest.version;
}

function leave(said: string, exitCode: number): void {
  process.stderr.write(said);
  process.exitCode = exitCode;
}
