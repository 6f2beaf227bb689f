import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { deployAnchor } from './anchors/deploy.ts';
import { listAnchors } from './anchors/list.ts';
import { verifyAnchors } from './anchors/verify.ts';
import { callApi } from './api/call.ts';
import { listAudit } from './audit/list.ts';
import { cancelBatch } from './batches/cancel.ts';
import { createBatch } from './batches/create.ts';
import { getBatch } from './batches/get.ts';
import { listBatches } from './batches/list.ts';
import { batchOutput } from './batches/output.ts';
import { waitForBatch } from './batches/wait.ts';
import { budgetAlerts } from './budgets/alerts.ts';
import { clearBudget } from './budgets/clear.ts';
import { budgetHistory } from './budgets/history.ts';
import { setBudget } from './budgets/set.ts';
import { showBudgets } from './budgets/show.ts';
import { listModels } from './catalog/models.ts';
import { listRequests } from './client-requests/list.ts';
import { sendRequest } from './client-requests/send.ts';
import { updateRequest } from './client-requests/update.ts';
import { isClose } from './close-names.ts';
import { type Perform, performer } from './command.ts';
import { complete, completion, keptModels } from './completion/completion.ts';
import { createContent } from './content/create.ts';
import { getContent } from './content/get.ts';
import { listContent } from './content/list.ts';
import { publishContent } from './content/publish.ts';
import { updateContent } from './content/update.ts';
import { listDeployments } from './deployments/list.ts';
import { getDocument, showDiscovery } from './discovery/discover.ts';
import { doctor } from './doctor/doctor.ts';
import { takeBounce } from './emails/bounce.ts';
import { followEmails } from './emails/follow.ts';
import { sendEmail } from './emails/send.ts';
import { emailTemplates } from './emails/templates.ts';
import { eventCommands } from './events/commands.ts';
import { EXIT, EXIT_MEANINGS, type ExitCode } from './exit-codes.ts';
import { Failure, type FailureReport, failureText, reportOf } from './failure.ts';
import { fileContent } from './files/content.ts';
import { deleteFile } from './files/delete.ts';
import { getFile } from './files/get.ts';
import { listFiles } from './files/list.ts';
import { uploadFile } from './files/upload.ts';
import { closeAccount } from './identity/account/close.ts';
import { updateAccount } from './identity/account/update.ts';
import { login } from './identity/login.ts';
import { logout } from './identity/logout.ts';
import { mfaDisable } from './identity/mfa/disable.ts';
import { mfaEnable } from './identity/mfa/enable.ts';
import { mfaReset } from './identity/mfa/reset.ts';
import { mfaStatus } from './identity/mfa/status.ts';
import { changePassword } from './identity/password/change.ts';
import { resetPassword } from './identity/password/reset.ts';
import { profiles } from './identity/profiles.ts';
import { listSessions } from './identity/sessions/list.ts';
import { revokeSession } from './identity/sessions/revoke.ts';
import { createUser } from './identity/users/create.ts';
import { listUsers } from './identity/users/list.ts';
import { setRole } from './identity/users/role.ts';
import { verifyEmail } from './identity/verify-email.ts';
import { whoami } from './identity/whoami.ts';
import { inferenceCommands } from './inference/commands.ts';
import { activateInvite } from './invites/activate.ts';
import { listInvites } from './invites/list.ts';
import { revokeInvites } from './invites/revoke.ts';
import { sendInvites } from './invites/send.ts';
import { createKey } from './keys/create.ts';
import { getKey } from './keys/get.ts';
import { listKeys } from './keys/list.ts';
import { revokeKey } from './keys/revoke.ts';
import { rotateKey } from './keys/rotate.ts';
import { updateKey } from './keys/update.ts';
import { usage } from './ledger/usage.ts';
import { listen } from './listen/listen.ts';
import { logAudit } from './log/audit.ts';
import { logCheckpoint } from './log/checkpoint.ts';
import { personActions } from './people/actions.ts';
import { getPerson } from './people/get.ts';
import { listPeople } from './people/list.ts';
import { exportPeople, importPeople } from './people/transfer.ts';
import { spendAlerts } from './plans/alerts.ts';
import { autoTopup } from './plans/auto-topup.ts';
import { planBilling } from './plans/billing.ts';
import { comparePlans } from './plans/compare.ts';
import { downgradePlan } from './plans/downgrade.ts';
import { invoices } from './plans/invoices.ts';
import { listPlans } from './plans/list.ts';
import { planOverage } from './plans/overage.ts';
import { showPlan } from './plans/show.ts';
import { topUp } from './plans/top-up.ts';
import { checkoutPlan, upgradePlan } from './plans/upgrade.ts';
import { planUsage } from './plans/usage.ts';
import { correctRequest, refundRequest } from './receipts/correct.ts';
import { exportReceipts } from './receipts/export.ts';
import { getReceipt } from './receipts/get.ts';
import { receiptKeys } from './receipts/keys.ts';
import { listReceipts } from './receipts/list.ts';
import { verifyReceipt } from './receipts/verify.ts';
import { closeRun } from './runs/close.ts';
import { listRuns } from './runs/list.ts';
import { showRun } from './runs/show.ts';
import { VERSION } from './version.ts';
import { videoCharacters } from './videos/characters.ts';
import { createVideo } from './videos/create.ts';
import { derivedVideos } from './videos/derive.ts';
import { keptVideos } from './videos/kept.ts';
import type { World } from './world.ts';

/** Variables that it reads. */
export const ENVIRONMENT: readonly (readonly [name: string, about: string])[] = [
  ['TALLYGATE_API_KEY', 'API key; wins over a login'],
  ['TALLYGATE_SESSION_TOKEN', 'session token; wins over a login'],
  ['TALLYGATE_BASE_URL', 'address of the gateway'],
  ['TALLYGATE_PROFILE', 'which login to use, where --profile says nothing'],
  ['TALLYGATE_INTERNAL_SECRET', 'for "users create"'],
  ['TALLYGATE_KEYRING', '"off": logins are kept in a file, not in the keyring of the computer'],
  ['NO_COLOR', 'no colours'],
];

const HELP = `
Environment:
${ENVIRONMENT.map(([name, about]) => `  ${name.padEnd(25)}  ${about}`).join('\n')}

Exit codes:
${EXIT_MEANINGS.map(([code, meaning]) => `  ${String(code).padStart(3)}  ${meaning}`).join('\n')}`;

/** Runs one command line and says how the process should end. Everything it reads or writes is in `world`. */
export async function run(argv: readonly string[], world: World): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.ok;
  const perform = performer(world, (code) => {
    exitCode = code;
  });
  const program = build(world, perform);
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    // Help and version have been printed by commander; they are no failures.
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
    const isUsage = error instanceof CommanderError;
    const report = await withModelMeant(await reportOf(isUsage ? usageFailure(error, commandPath(program, argv)) : error), argv, world);
    const isJson = argv.some((argument) => argument === '--json' || argument.startsWith('--json='));
    world.err.write(isJson ? `${JSON.stringify({ error: report })}\n` : failureText(report));
    return report.exit_code;
  }
}

/** A model that nobody has is often one letter away from one that is in the list; the list is the one that was kept at the login. */
async function withModelMeant(report: FailureReport, argv: readonly string[], world: World): Promise<FailureReport> {
  if (report.code !== 'model_not_found') return report;
  const models = await keptModels({ ...world, profile: world.env.profile ?? 'default' });
  const close = models.filter((model) => argv.some((word) => word.length > 2 && isClose(model, word)));
  return close.length === 0
    ? report
    : { ...report, next_step: `Did you mean ${close.slice(0, 3).join(' or ')}? ${report.next_step ?? ''}`.trim() };
}

/** Every command, each with its options and its help. */
export function build(world: Pick<World, 'env' | 'out' | 'err'>, perform: Perform): Command {
  const program = new Command('tallygate')
    .description('Tallygate at the terminal: account, keys, budgets, usage, receipts, chat.')
    .version(VERSION)
    .option('--profile <name>', 'which login to use', profileName, profileName(world.env.profile ?? 'default'))
    .option('--base-url <url>', 'address of the gateway')
    .addHelpText('after', HELP)
    .showSuggestionAfterError()
    .exitOverride()
    // Errors are printed once, in `run`, where they can also become JSON.
    .configureOutput({ writeOut: world.out.write, writeErr: world.err.write, outputError: () => {} });

  login(program, perform);
  logout(program, perform);
  whoami(program, perform);
  profiles(program, perform);
  verifyEmail(program, perform);
  const password = program.command('password').description('Password of the user');
  changePassword(password, perform);
  resetPassword(password, perform);
  const mfa = program.command('mfa').description('Second factor of the user');
  mfaStatus(mfa, perform);
  mfaEnable(mfa, perform);
  mfaDisable(mfa, perform);
  mfaReset(mfa, perform);
  const sessions = program.command('sessions').description('Where the user is signed in');
  listSessions(sessions, perform);
  revokeSession(sessions, perform);
  const account = program.command('account').description('The account itself');
  updateAccount(account, perform);
  closeAccount(account, perform);
  const users = program.command('users').description('Users and their roles; for administrators and operators');
  listUsers(users, perform);
  setRole(users, perform);
  createUser(users, perform);
  const audit = program.command('audit').description('Who changed what');
  listAudit(audit, perform);
  const keys = program.command('keys').description('API keys');
  createKey(keys, perform);
  listKeys(keys, perform);
  getKey(keys, perform);
  updateKey(keys, perform);
  rotateKey(keys, perform);
  revokeKey(keys, perform);
  const budgets = program.command('budgets').description('Hard monthly caps of API keys');
  showBudgets(budgets, perform);
  setBudget(budgets, perform);
  clearBudget(budgets, perform);
  budgetHistory(budgets, perform);
  budgetAlerts(budgets, perform);
  const plans = program.command('plans').description('Plans, quotas, balance, invoices');
  listPlans(plans, perform);
  showPlan(plans, perform);
  comparePlans(plans, perform);
  upgradePlan(plans, perform);
  downgradePlan(plans, perform);
  planUsage(plans, perform);
  planOverage(plans, perform);
  planBilling(plans, perform);
  checkoutPlan(plans, perform);
  topUp(plans, perform);
  autoTopup(plans, perform);
  spendAlerts(plans, perform);
  invoices(plans, perform);
  listModels(program, perform);
  usage(program, perform);
  listen(program, perform);
  eventCommands(program, perform);
  const receipts = program.command('receipts').description('Signed proof of what was served and what it cost');
  getReceipt(receipts, perform);
  verifyReceipt(receipts, perform);
  receiptKeys(receipts, perform);
  listReceipts(receipts, perform);
  exportReceipts(receipts, perform);
  refundRequest(receipts, perform);
  correctRequest(receipts, perform);
  const log = program.command('log').description('The public log that every receipt stands in');
  logCheckpoint(log, perform);
  logAudit(log, perform);
  const anchors = program.command('anchors').description('The states of the receipts’ log on public chains');
  listAnchors(anchors, perform);
  verifyAnchors(anchors, perform);
  deployAnchor(anchors, perform);
  const files = program.command('files').description('Stored files: input and output of batches and requests');
  listFiles(files, perform);
  uploadFile(files, perform);
  getFile(files, perform);
  fileContent(files, perform);
  deleteFile(files, perform);
  const batches = program.command('batches').description('Many requests in one file, at half the price');
  createBatch(batches, perform);
  listBatches(batches, perform);
  getBatch(batches, perform);
  cancelBatch(batches, perform);
  waitForBatch(batches, perform);
  batchOutput(batches, perform);
  const videos = program.command('videos').description('Videos: jobs that are charged once, and given back when they fail');
  createVideo(videos, perform);
  keptVideos(videos, perform);
  derivedVideos(videos, perform);
  videoCharacters(videos, perform);
  inferenceCommands(program, perform);
  const runs = program.command('runs').description('Agent runs: their ceilings, steps and kill switch');
  listRuns(runs, perform);
  showRun(runs, perform);
  closeRun(runs, perform);
  const invites = program.command('invites').description('Invitations to the beta');
  sendInvites(invites, perform);
  listInvites(invites, perform);
  revokeInvites(invites, perform);
  activateInvite(invites, perform);
  const requests = program.command('requests').description('What clients ask of the team');
  listRequests(requests, perform);
  updateRequest(requests, perform);
  sendRequest(requests, perform);
  const content = program.command('content').description('Posts, pages and other texts of the team');
  listContent(content, perform);
  getContent(content, perform);
  createContent(content, perform);
  updateContent(content, perform);
  publishContent(content, perform);
  const people = program.command('people').description('Everybody the service knows; for the marketing team');
  listPeople(people, perform);
  getPerson(people, perform);
  personActions(people, perform);
  importPeople(people, perform);
  exportPeople(people, perform);
  const emails = program.command('emails').description('Mails to the people the service knows; for the marketing team');
  sendEmail(emails, perform);
  followEmails(emails, perform);
  emailTemplates(emails, perform);
  takeBounce(emails, perform);
  listDeployments(program, perform);
  const discovery = program
    .command('discovery')
    .description('What the gateway says about itself: for agents, for language models, OpenAPI');
  showDiscovery(discovery, perform);
  getDocument(discovery, perform);
  callApi(program, perform);
  doctor(program, perform);
  completion(program, perform);
  complete(program, perform);
  return program;
}

/** A profile names a file. */
function profileName(text: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(text)) return text;
  throw new InvalidArgumentError('Expected letters, digits, - and _.');
}

/** Commander's sentences begin with "error:" and may go on with a suggestion in a second line. */
const usageFailure = (error: CommanderError, path: string): Failure =>
  error.code === 'commander.help'
    ? new Failure('usage', 'A command is missing.', EXIT.usage, `Run \`${path} --help\`.`)
    : new Failure('usage', error.message.replace(/^error: /, ''), EXIT.usage, `Run \`${path} --help\`.`);

/** `tallygate keys rotate`: the command that was typed, as far as there is one. */
function commandPath(program: Command, argv: readonly string[]): string {
  let command = program;
  const names = [program.name()];
  for (const word of argv) {
    const next = command.commands.find((candidate) => candidate.name() === word);
    if (next === undefined) continue;
    names.push(word);
    command = next;
  }
  return names.join(' ');
}
