import { join } from 'node:path';
import { Role } from '@tallygate/contract';
import type { Database } from '../adapters/postgres/port.ts';
import { resetByOperator, setRoleByOperator } from '../identity/index.ts';
import { systemClock } from '../kernel/clock.ts';
import { createLog } from '../kernel/log.ts';
import { Problem } from '../kernel/problem.ts';
import { LogStop, type OwnKeys, resumeLog, standingOfLog } from '../receipts/index.ts';
import { Closing } from './closing.ts';
import { type Config, ConfigError, readConfig } from './config.ts';
import { standingReceiptKeys } from './receipt-keys.ts';
import { NoDatabase, openStandingDatabase } from './standing-database.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 64; // EX_USAGE of sysexits.h
const EXIT_CONFIG = 78; // EX_CONFIG

const UNRESUMABLE = `There is no going on from that: put the database back from a backup that still has the signed log
(docs/guides/receipts.md, "When the log stops").
`;

const USAGE = `Usage: npm run admin -- mfa-reset EMAIL
       npm run admin -- role EMAIL member|marketing|admin
       npm run admin -- log-resume [ROOT [KID...]]

What an operator does on the server itself, with the gateway's own DATABASE_URL or DATA_DIR; the gateway may run or not.

  mfa-reset EMAIL   Removes the second factor of a user who has lost the app and the recovery codes, and ends their sessions.
  role EMAIL ROLE   Gives a user whose address is confirmed another role: the way back where no administrator is left.
                    Either is in the audit log, and a mail tells the user.

  log-resume [ROOT] Without ROOT: shows why the log of receipts is stopped, its newest state, and what to compare that with.
                    With the root of that state: you have looked, and the log goes on from there. It is in the audit log.
                    With KIDs, ids of keys: you know that this service once signed with them, though it has not put that down.
                    It needs the gateway's RECEIPT_SIGNING_KEY and LOG_SIGNING_KEY, or its DATA_DIR where these are generated.
`;

type Deps = Parameters<typeof resetByOperator>[0];

/** Undefined where nobody has the address. */
const COMMANDS: Readonly<Record<string, (deps: Deps, email: string, argument: string | undefined) => Promise<string | undefined>>> = {
  'mfa-reset': async (deps, email) => {
    const reset = await resetByOperator(deps, email);
    if (!reset) return undefined;
    if (!reset.wasOn) return `${email} has no second factor: nothing was changed.`;
    const sessions = reset.sessionsEnded === 1 ? '1 session has' : `${reset.sessionsEnded} sessions have`;
    return `The second factor of ${email} is off, and ${sessions} ended. A mail tells them; the password alone is enough now.`;
  },
  role: async (deps, email, argument) => {
    const role = Role.parse(argument);
    const set = await setRoleByOperator(deps, email, role);
    if (!set) return undefined;
    return set.before === role ? `${email} is ${role} already: nothing was changed.` : `${email} was ${set.before} and is ${role} now.`;
  },
};

/** @returns whether it was done */
type Command = (database: Database, config: Config) => Promise<boolean>;

const command = commandOf(process.argv.slice(2));
if (!command) {
  process.stderr.write(USAGE);
  process.exit(process.argv[2] === '--help' ? 0 : EXIT_USAGE);
}

const log = createLog('error');
const closing = new Closing(log);
try {
  const config = readConfig();
  const isDone = await command(await openStandingDatabase({ config, log, closing }), config);
  if (!isDone) process.exitCode = EXIT_FAILED;
} catch (error) {
  const isMisconfigured = error instanceof ConfigError || error instanceof NoDatabase;
  const isExpected = isMisconfigured || error instanceof Problem || error instanceof LogStop;
  process.stderr.write(`${isExpected ? error.message : error instanceof Error ? (error.stack ?? error.message) : error}\n`);
  if (error instanceof LogStop) process.stderr.write(UNRESUMABLE);
  process.exitCode = isMisconfigured ? EXIT_CONFIG : EXIT_FAILED;
} finally {
  await closing.close();
}

function commandOf([name = '', first, ...more]: readonly string[]): Command | undefined {
  if (name === 'log-resume') return ({ pool }, config) => (first === undefined ? showLog(pool, config) : resume(pool, config, first, more));
  const [second, ...rest] = more;
  if (rest.length > 0) return undefined;
  const ofUser = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  const isComplete = name === 'role' ? Role.safeParse(second).success : second === undefined;
  if (!ofUser || first === undefined || !isComplete) return undefined;
  return async ({ orm }) => {
    const said = await ofUser({ em: orm.em, clock: systemClock }, first, second);
    if (said === undefined) process.stderr.write(`Nobody has the address ${first} here.\n`);
    else process.stdout.write(`${said}\n`);
    return said !== undefined;
  };
}

function ownKeysOf(config: Config): OwnKeys {
  return standingReceiptKeys(config, { file: (...segments) => join(config.dataDir, ...segments) });
}

async function showLog(pool: Database['pool'], config: Config): Promise<boolean> {
  const { size, root, isOwn, stops } = await standingOfLog(pool, ownKeysOf(config));
  if (stops.length === 0) {
    process.stdout.write('The log of receipts is not stopped.\n');
    return true;
  }
  const reasons = stops.map(({ reason, seen }) => `  - ${reason}\n${seen === null ? '' : `    resuming puts down as seen: ${seen}\n`}`);
  process.stdout.write(`The log of receipts is stopped:

${reasons.join('')}
It has ${size} entries and the root ${root}${isOwn ? '' : ',\nwhich no key in force has signed: resuming signs it'}.
Compare that with a state that was kept elsewhere: \`tallygate log audit\`, a witness, an anchor on a chain, a backup.
Where it is right: npm run admin -- log-resume ${root}
`);
  return true;
}

async function resume(pool: Database['pool'], config: Config, root: string, owned: readonly string[]): Promise<boolean> {
  const resumed = await resumeLog(pool, ownKeysOf(config), root, owned);
  if (resumed) process.stdout.write(`The log of receipts goes on from its ${resumed.size} entries.\n`);
  else
    process.stderr.write('The log has another root, or no such key is published: `npm run admin -- log-resume` shows why it is stopped.\n');
  return resumed !== undefined;
}
