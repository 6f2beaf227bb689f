import { join } from 'node:path';
import { Role } from '@tallygate/contract';
import { resetByOperator, setRoleByOperator } from '../access/identity/index.ts';
import type { Database } from '../adapters/postgres/port.ts';
import { ADMIN } from '../kernel/admin-command.ts';
import { rfc3339, systemClock } from '../kernel/clock.ts';
import { createLog } from '../kernel/log.ts';
import { Problem } from '../kernel/problem.ts';
import { type Declaring, decideUnsealed, LogStop, type OwnKeys, resumeLog, standingOfLog, unsealedReceipts } from '../receipts/index.ts';
import { archiveNow, listArchives, restoreNow } from './archive-commands.ts';
import { blobsByOperator, openBlobs } from './blobs.ts';
import { catalogCommandOf, WrongLine } from './catalog-commands.ts';
import { Closing } from './closing.ts';
import { type Config, ConfigError, readConfig } from './config.ts';
import { givePlanByOperator } from './give-plan.ts';
import { migrate } from './migrate.ts';
import { migrations } from './migrations/index.ts';
import { quarantineByOperator } from './quarantine-command.ts';
import { standingReceiptKeys } from './receipt-keys.ts';
import { declaringBeside } from './receipt-log.ts';
import { reconcileByOperator } from './reconcile-command.ts';
import { NoDatabase, openStandingDatabase } from './standing-database.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 64; // EX_USAGE of sysexits.h
const EXIT_CONFIG = 78; // EX_CONFIG

const UNRESUMABLE = `There is no going on from that: put the database back from a backup that still has the signed log
(docs/guides/receipts.md, "When the log stops").
`;

const USAGE = `Usage: ${ADMIN} mfa-reset EMAIL
       ${ADMIN} role EMAIL member|marketing|admin
       ${ADMIN} plan ACCOUNT PLAN
       ${ADMIN} models [TEXT]
       ${ADMIN} price MODEL --input USD --output USD
       ${ADMIN} model MODEL --provider NAME [--input USD --output USD]
       ${ADMIN} model-remove MODEL
       ${ADMIN} log-resume [ROOT [KID...]]
       ${ADMIN} log-unsealed [accept|forget]
       ${ADMIN} reconcile [lower]
       ${ADMIN} quarantine [replay|give-up]
       ${ADMIN} archive [MONTH|restore MONTH]
       ${ADMIN} blobs [move]
       ${ADMIN} migrate

What an operator does on the server itself, with the gateway's own DATABASE_URL or DATA_DIR; the gateway may run or not.

  mfa-reset EMAIL   Removes the second factor of a user who has lost the app and the recovery codes, and ends their sessions.
  role EMAIL ROLE   Gives a user whose address is confirmed another role: the way back where no administrator is left.
                    Either is in the audit log, and a mail tells the user.
  plan ACCOUNT PLAN Gives an account a plan without a payment: ACCOUNT is its id or an e-mail address, PLAN an id such as pro,
                    one version of it such as pro@1, operator (no limits, no price), or default, which takes back what was given.
                    In effect within a second, also where the gateway runs. It is in the audit log.

  models [TEXT]     Lists models, where each is known from (admin, file, shipped, discovery), and what it costs: those with TEXT in
                    their id, or else those that are not as the shipped list has them.
  price MODEL       Sets what a model costs from now on, in USD per million units; 0 is a price. Also --cached-input USD,
                    --meter UNIT=USD, --batch-factor FACTOR, --from DAY, --source TEXT. A price for the moment of a later one replaces that.
  model MODEL       Defines a model, and its price where that is named: --provider NAME as in PROVIDERS_FILE, --provider-model NAME,
                    --kind KIND, --context TOKENS, --max-output TOKENS, --retired DAY.
  model-remove      Takes that definition back. Prices stay published.
                    All are in effect within a second, also where the gateway runs, and in the audit log. A price is an entry of the log of
                    receipts: it needs the gateway's RECEIPT_SIGNING_KEY and LOG_SIGNING_KEY, or its DATA_DIR where these are generated.

  log-resume [ROOT] Without ROOT: shows why the log of receipts is stopped, its newest state, and what to compare that with.
                    With the root of that state: you have looked, and the log goes on from there. It is in the audit log.
                    With KIDs, ids of keys: you know that this service once signed with them, though it has not put that down.
                    It needs the gateway's RECEIPT_SIGNING_KEY and LOG_SIGNING_KEY, or its DATA_DIR where these are generated.

  log-unsealed      Lists receipts in the database that no gateway has sealed: they are set aside and not in the log. Exits with 1 while
                    there are any. \`forget\` deletes them; \`accept\` has the log take them in: you know that they are this service's own.
                    Either is in the audit log.

  reconcile [lower] Compares what caps count in Redis with the ledger, and raises what counts less, as the gateways do every minute.
                    Says what counts more, and what is on its way to the ledger. \`lower\` sets what counts more to the ledger too.
                    Exits with 1 while anything differs. It needs the gateway's REDIS_URL.

  quarantine        Lists what the gateway in DATA_DIR has set aside: settlements that the database refuses, damaged lines of its
                    journal, and damaged entries in Redis. Exits with 1 while something waits.
                    \`replay\` has the gateway book what can be booked, as far as it still fits the caps; \`give-up\` keeps the rest in journal/given-up.jsonl.

  archive [MONTH]   Without MONTH: lists the months whose requests and receipts are archived.
                    With one, such as 2026-01: moves it from the database to the gateway's files or its bucket, where it is still found.
                    Its receipts have to be on invoices, which the gateway issues by itself.
                    \`restore MONTH\` brings it back, such as for a refund.

  blobs [move]      Counts the blobs (files, videos, archived months) in DATA_DIR and in the bucket that S3_BUCKET names.
                    \`move\` moves those in DATA_DIR into the bucket, while gateways that have both serve them. Run it again where it failed.

  migrate           Applies the migrations that DATABASE_URL lacks, as every gateway does at its start. Run it before an upgrade of
                    several gateways: those of the version before go on serving.
`;

type Deps = Parameters<typeof resetByOperator>[0];

/** Undefined if no user has the address. */
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

const log = createLog('error');
const command = readLine();
if (!command) {
  process.stderr.write(USAGE);
  process.exit(process.argv[2] === '--help' ? 0 : EXIT_USAGE);
}

const closing = new Closing(log);
try {
  const config = readConfig();
  const isDone = await command(await openStandingDatabase({ config, log, closing }), config);
  if (!isDone) process.exitCode = EXIT_FAILED;
} catch (error) {
  const isMisconfigured = error instanceof ConfigError || error instanceof NoDatabase;
  const isExpected = isMisconfigured || error instanceof Problem || error instanceof LogStop || error instanceof WrongLine;
  process.stderr.write(`${isExpected ? error.message : error instanceof Error ? (error.stack ?? error.message) : error}\n`);
  if (error instanceof LogStop) process.stderr.write(UNRESUMABLE);
  process.exitCode = isMisconfigured ? EXIT_CONFIG : EXIT_FAILED;
} finally {
  await closing.close();
}

function readLine(): Command | undefined {
  try {
    return commandOf(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof WrongLine)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(EXIT_USAGE);
  }
}

function commandOf(argv: readonly string[]): Command | undefined {
  const [name = '', first, ...more] = argv;
  const ofCatalog = catalogCommandOf(argv);
  if (ofCatalog)
    return async ({ pool }, config) => {
      process.stdout.write(`${await ofCatalog(pool, log, () => declaringOf(pool, config))}\n`);
      return true;
    };
  if (name === 'plan' && first !== undefined && more[0] !== undefined && more.length === 1) return givePlan(first, more[0]);
  if (name === 'log-resume') return ({ pool }, config) => (first === undefined ? showLog(pool, config) : resume(pool, config, first, more));
  if (name === 'log-unsealed' && isDecision(first) && more.length === 0) return unsealed(first);
  if (name === 'reconcile' && (first === undefined || first === 'lower') && more.length === 0) return reconcile(first === 'lower');
  if (name === 'quarantine' && isQuarantineWork(first) && more.length === 0) return quarantine(first);
  if (name === 'archive' && more.length === 0) return archive(first);
  if (name === 'archive' && first === 'restore' && more.length === 1) return restoreArchived(more[0] ?? '');
  if (name === 'blobs' && (first === undefined || first === 'move') && more.length === 0) return blobs(first === 'move');
  if (name === 'migrate' && first === undefined) return migrateNow;
  const [second, ...rest] = more;
  if (rest.length > 0) return undefined;
  const ofUser = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  const isComplete = name === 'role' ? Role.safeParse(second).success : second === undefined;
  if (!ofUser || first === undefined || !isComplete) return undefined;
  return async ({ orm }) => {
    const said = await ofUser({ em: orm.em, clock: systemClock }, first, second);
    if (said === undefined) process.stderr.write(`There is no user with the address ${first}.\n`);
    else process.stdout.write(`${said}\n`);
    return said !== undefined;
  };
}

function givePlan(account: string, plan: string): Command {
  return async ({ pool }, config) => {
    const { isDone, said } = await givePlanByOperator({ pool, config, clock: systemClock }, account, plan);
    (isDone ? process.stdout : process.stderr).write(`${said}\n`);
    return isDone;
  };
}

function reconcile(isToLower: boolean): Command {
  return async ({ pool }, config) => {
    const { isDone, said } = await reconcileByOperator({ pool, config, log, closing }, isToLower);
    process.stdout.write(`${said}\n`);
    return isDone;
  };
}

function isQuarantineWork(word: string | undefined): word is 'replay' | 'give-up' | undefined {
  return word === undefined || word === 'replay' || word === 'give-up';
}

function quarantine(what: 'replay' | 'give-up' | undefined): Command {
  return async (_database, config) => {
    const { isDone, said } = await quarantineByOperator(config, what ?? 'list');
    process.stdout.write(`${said}\n`);
    return isDone;
  };
}

async function migrateNow(_: Database, { databaseUrl }: Config): Promise<boolean> {
  if (databaseUrl === undefined) {
    process.stderr.write('migrate needs DATABASE_URL: the embedded database is migrated by its gateway.\n');
    return false;
  }
  const applied = await migrate(databaseUrl, migrations, log);
  process.stdout.write(
    applied.length === 0 ? 'The database is up to date.\n' : `Applied ${applied.length} migrations, up to ${applied.at(-1)}.\n`,
  );
  return true;
}

function archive(month: string | undefined): Command {
  return async ({ pool }, config) => {
    const { isDone, said } =
      month === undefined
        ? { isDone: true, said: await listArchives(pool) }
        : await archiveNow({ pool, blobs: await openBlobs(blobsOf(config)), clock: systemClock }, month);
    (isDone ? process.stdout : process.stderr).write(`${said}\n`);
    return isDone;
  };
}

function restoreArchived(month: string): Command {
  return async ({ pool }, config) => {
    const { isDone, said } = await restoreNow({ pool, blobs: await openBlobs(blobsOf(config)) }, month);
    (isDone ? process.stdout : process.stderr).write(`${said}\n`);
    return isDone;
  };
}

function blobs(isToMove: boolean): Command {
  return async ({ pool }, config) => {
    process.stdout.write(`${await blobsByOperator(pool, blobsOf(config), isToMove)}\n`);
    return true;
  };
}

function blobsOf({ dataDir, bucket }: Config) {
  return { folder: join(dataDir, 'blobs'), bucket, log, closing };
}

function isDecision(word: string | undefined): word is 'accept' | 'forget' | undefined {
  return word === undefined || word === 'accept' || word === 'forget';
}

function unsealed(decision: 'accept' | 'forget' | undefined): Command {
  return async ({ pool }, config) => {
    if (decision !== undefined) {
      const count = await decideUnsealed(pool, ownKeysOf(config), decision);
      process.stdout.write(`${count} ${decision === 'accept' ? 'go into the log' : 'forgotten'}.\n`);
      return true;
    }
    const found = await unsealedReceipts(pool);
    const lines = found.map(({ receipt_id: id, account_id: account, found_at: at }) => `${id}\taccount ${account}\tfound ${rfc3339(at)}\n`);
    process.stdout.write(found.length === 0 ? 'Every receipt is sealed.\n' : lines.join(''));
    return found.length === 0;
  };
}

function ownKeysOf(config: Config): OwnKeys {
  return standingReceiptKeys(config, { file: (...segments) => join(config.dataDir, ...segments) });
}

function declaringOf(pool: Database['pool'], config: Config): Declaring {
  return declaringBeside(pool, { ownKeys: ownKeysOf(config), file: (name) => join(config.dataDir, name), log });
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
Where it is right: ${ADMIN} log-resume ${root}
`);
  return true;
}

async function resume(pool: Database['pool'], config: Config, root: string, owned: readonly string[]): Promise<boolean> {
  const resumed = await resumeLog(pool, ownKeysOf(config), root, owned);
  if (resumed) process.stdout.write(`The log of receipts goes on from its ${resumed.size} entries.\n`);
  else process.stderr.write(`The log has another root, or no such key is published: \`${ADMIN} log-resume\` shows why it is stopped.\n`);
  return resumed !== undefined;
}
