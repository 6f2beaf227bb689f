import { Role } from '@tallygate/contract';
import { resetByOperator, setRoleByOperator } from '../identity/index.ts';
import { systemClock } from '../kernel/clock.ts';
import { createLog } from '../kernel/log.ts';
import { Problem } from '../kernel/problem.ts';
import { Closing } from './closing.ts';
import { ConfigError, readConfig } from './config.ts';
import { NoDatabase, openStandingDatabase } from './standing-database.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 64; // EX_USAGE of sysexits.h
const EXIT_CONFIG = 78; // EX_CONFIG

const USAGE = `Usage: npm run admin -- mfa-reset EMAIL
       npm run admin -- role EMAIL member|marketing|admin

What an operator does on the server itself, with the gateway's own DATABASE_URL or DATA_DIR; the gateway may run or not.

  mfa-reset EMAIL   Removes the second factor of a user who has lost the app and the recovery codes, and ends their sessions.
  role EMAIL ROLE   Gives a user whose address is confirmed another role: the way back where no administrator is left.

Each is in the audit log, and a mail tells the user.
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

const [name = '', email, argument, ...rest] = process.argv.slice(2);
const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
const isComplete = name === 'role' ? Role.safeParse(argument).success : argument === undefined;
if (!command || email === undefined || !isComplete || rest.length > 0) {
  process.stderr.write(USAGE);
  process.exit(name === '--help' ? 0 : EXIT_USAGE);
}

const log = createLog('error');
const closing = new Closing(log);
try {
  const { orm } = await openStandingDatabase({ config: readConfig(), log, closing });
  const said = await command({ em: orm.em, clock: systemClock }, email, argument);
  if (said === undefined) {
    process.stderr.write(`Nobody has the address ${email} here.\n`);
    process.exitCode = EXIT_FAILED;
  } else process.stdout.write(`${said}\n`);
} catch (error) {
  const isMisconfigured = error instanceof ConfigError || error instanceof NoDatabase;
  const isExpected = isMisconfigured || error instanceof Problem;
  process.stderr.write(`${isExpected ? error.message : error instanceof Error ? (error.stack ?? error.message) : error}\n`);
  process.exitCode = isMisconfigured ? EXIT_CONFIG : EXIT_FAILED;
} finally {
  await closing.close();
}
