import { resetByOperator } from '../identity/index.ts';
import { systemClock } from '../kernel/clock.ts';
import { createLog } from '../kernel/log.ts';
import { Closing } from './closing.ts';
import { ConfigError, readConfig } from './config.ts';
import { NoDatabase, openStandingDatabase } from './standing-database.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 64; // EX_USAGE of sysexits.h
const EXIT_CONFIG = 78; // EX_CONFIG

const USAGE = `Usage: npm run admin -- mfa-reset EMAIL

What an operator does on the server itself, with the gateway's own DATABASE_URL or DATA_DIR; the gateway may run or not.

  mfa-reset EMAIL   Removes the second factor of a user who has lost the app and the recovery codes, and ends their sessions.
                    It is in the audit log, and a mail tells the user.
`;

const [command, email, ...rest] = process.argv.slice(2);
if (command !== 'mfa-reset' || email === undefined || rest.length > 0) {
  process.stderr.write(USAGE);
  process.exit(command === '--help' ? 0 : EXIT_USAGE);
}

const log = createLog('error');
const closing = new Closing(log);
try {
  const { orm } = await openStandingDatabase({ config: readConfig(), log, closing });
  const reset = await resetByOperator({ em: orm.em, clock: systemClock }, email);
  if (!reset) {
    process.stderr.write(`Nobody has the address ${email} here.\n`);
    process.exitCode = EXIT_FAILED;
  } else if (!reset.wasOn) process.stdout.write(`${email} has no second factor: nothing was changed.\n`);
  else {
    const sessions = reset.sessionsEnded === 1 ? '1 session has' : `${reset.sessionsEnded} sessions have`;
    process.stdout.write(
      `The second factor of ${email} is off, and ${sessions} ended. A mail tells them; the password alone is enough now.\n`,
    );
  }
} catch (error) {
  const isExpected = error instanceof ConfigError || error instanceof NoDatabase;
  process.stderr.write(`${isExpected ? error.message : error instanceof Error ? (error.stack ?? error.message) : error}\n`);
  process.exitCode = isExpected ? EXIT_CONFIG : EXIT_FAILED;
} finally {
  await closing.close();
}
