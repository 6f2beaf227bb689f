// The program of the package `tallygate-server`: server-package.mjs bundles it into bin/ there.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { runGateway } from './run-gateway.ts';

const EXIT_USAGE = 64; // EX_USAGE of sysexits.h
const EXIT_CONFIG = 78; // EX_CONFIG
const NEEDED_NODE = 24;
/** As `npm start` has it: what a request leaves behind dies young. */
const YOUNG_GENERATION = '--max-semi-space-size=32';

const USAGE = `Usage: tallygate-server                 Runs the gateway. Settings are environment variables.
       tallygate-server migrate         Applies the migrations that DATABASE_URL lacks, and ends.
       tallygate-server admin COMMAND   What an operator does on the server: \`tallygate-server admin --help\`.
       tallygate-server --version
`;

/** Not `import.meta.dirname`, which older versions of Node do not have. */
const HERE = dirname(fileURLToPath(import.meta.url));
const programs = join(HERE, '../server/dist/gateway');
const [command, ...rest] = process.argv.slice(2);

if (Number(process.versions.node.split('.')[0]) < NEEDED_NODE)
  leave(`Tallygate needs Node ${NEEDED_NODE} or newer; this is ${process.version}.\n`, EXIT_CONFIG);
else if (command === undefined) await runGateway(join(programs, 'main.js'), [YOUNG_GENERATION]);
else if (command === 'admin') await administer(rest);
else if (command === 'migrate' && rest.length === 0) await administer(['migrate']);
else if (command === '--version') process.stdout.write(`${version()}\n`);
else if (command === '--help') process.stdout.write(USAGE);
else leave(USAGE, EXIT_USAGE);

async function administer(argv: readonly string[]): Promise<void> {
  process.argv.splice(2, Number.POSITIVE_INFINITY, ...argv);
  await import(pathToFileURL(join(programs, 'admin.js')).href);
}

function version(): string {
  const manifest: { version: string } = JSON.parse(readFileSync(join(HERE, '../../package.json'), 'utf8'));
  return manifest.version;
}

function leave(said: string, exitCode: number): void {
  process.stderr.write(said);
  process.exitCode = exitCode;
}
