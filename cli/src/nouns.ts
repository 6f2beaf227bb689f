import type { Command } from 'commander';
import type { Perform } from './command.ts';

/** A word that may come first, and what it leads to. */
interface Noun {
  readonly name: string;
  readonly about: string;
  /** What the help of the program shows after the name, as long as the command itself is not loaded: a noun with commands takes nothing. */
  readonly takes?: string;
  /** Of use to the shells alone. */
  readonly isHidden?: true;
  /** Imports what adds its options and action, or the commands below it, to the command of that name. */
  load(): Promise<(command: Command, perform: Perform) => unknown>;
}

/** In the order of the help. */
const NOUNS: readonly Noun[] = [
  {
    name: 'login',
    about: 'Log in: in a browser, or with e-mail address and password',
    takes: '[options]',
    load: async () => (await import('./identity/login.ts')).login,
  },
  { name: 'logout', about: 'End the session and forget it', load: async () => (await import('./identity/logout.ts')).logout },
  {
    name: 'whoami',
    about: 'Show the user, the credential in use and the gateway',
    takes: '[options]',
    load: async () => (await import('./identity/whoami.ts')).whoami,
  },
  {
    name: 'profiles',
    about: 'The logins that are stored here',
    takes: '[options]',
    load: async () => (await import('./identity/profiles.ts')).profiles,
  },
  {
    name: 'verify-email',
    about: 'Confirm an e-mail address with the token of the mail, or have the mail sent again',
    takes: '[options] [token]',
    load: async () => (await import('./identity/verify-email.ts')).verifyEmail,
  },
  { name: 'password', about: 'Password of the user', load: async () => (await import('./identity/password/commands.ts')).passwordCommands },
  { name: 'mfa', about: 'Second factor of the user', load: async () => (await import('./identity/mfa/commands.ts')).mfaCommands },
  {
    name: 'sessions',
    about: 'List and end sessions of the user',
    load: async () => (await import('./identity/sessions/commands.ts')).sessionCommands,
  },
  { name: 'account', about: 'The account itself', load: async () => (await import('./identity/account/commands.ts')).accountCommands },
  {
    name: 'users',
    about: 'Users and their roles; for administrators and operators',
    load: async () => (await import('./identity/users/commands.ts')).userCommands,
  },
  {
    name: 'accounts',
    about: 'Accounts and their granted plans; for administrators',
    load: async () => (await import('./accounts/commands.ts')).accountsCommands,
  },
  { name: 'audit', about: 'Who changed what', load: async () => (await import('./audit/commands.ts')).auditCommands },
  { name: 'keys', about: 'API keys', load: async () => (await import('./keys/commands.ts')).keyCommands },
  {
    name: 'management-keys',
    about: 'Keys of programs that administer the account',
    load: async () => (await import('./management-keys/commands.ts')).managementKeyCommands,
  },
  { name: 'budgets', about: 'Hard monthly caps of API keys', load: async () => (await import('./budgets/commands.ts')).budgetCommands },
  { name: 'plans', about: 'Plans, quotas, balance, invoices', load: async () => (await import('./plans/commands.ts')).planCommands },
  {
    name: 'models',
    about: 'List the models with their prices per million tokens, or show one; for administrators: define and price them',
    takes: '[options] [model]',
    load: async () => (await import('./catalog/commands.ts')).modelCommands,
  },
  {
    name: 'usage',
    about: 'What was consumed and what it cost; this month by default',
    takes: '[options]',
    load: async () => (await import('./ledger/usage.ts')).usage,
  },
  {
    name: 'listen',
    about: 'Show events as they happen, and forward them to an address, until Ctrl-C',
    takes: '[options]',
    load: async () => (await import('./listen/listen.ts')).listen,
  },
  {
    name: 'events',
    about: 'Events of the site: read, register, and manage them',
    load: async () => (await import('./events/commands.ts')).eventCommands,
  },
  {
    name: 'receipts',
    about: 'Signed proof of what was served and what it cost',
    load: async () => (await import('./receipts/commands.ts')).receiptCommands,
  },
  {
    name: 'invoices',
    about: 'Monthly invoices, recomputed from their receipts',
    load: async () => (await import('./invoices/commands.ts')).invoiceCommands,
  },
  { name: 'log', about: 'The public log of all receipts', load: async () => (await import('./log/commands.ts')).logCommands },
  {
    name: 'anchors',
    about: 'The states of the receipts’ log on public chains',
    load: async () => (await import('./anchors/commands.ts')).anchorCommands,
  },
  {
    name: 'files',
    about: 'Stored files: input and output of batches and requests',
    load: async () => (await import('./files/commands.ts')).fileCommands,
  },
  {
    name: 'batches',
    about: 'Many requests in one file, at half the price',
    load: async () => (await import('./batches/commands.ts')).batchCommands,
  },
  {
    name: 'videos',
    about: 'Videos: jobs that are charged once, and refunded when they fail',
    load: async () => (await import('./videos/commands.ts')).videoCommands,
  },
  {
    name: 'chat',
    about: 'Ask a model; the answer goes to stdout, its cost and receipt to stderr',
    takes: '[options] [prompt...]',
    load: async () => (await import('./inference/chat.ts')).chat,
  },
  {
    name: 'embed',
    about: 'Create the embedding of a text, as a JSON array on stdout',
    takes: '[options] [text...]',
    load: async () => (await import('./inference/texts.ts')).embed,
  },
  {
    name: 'moderate',
    about: 'Moderate a text: the harm categories it falls under; free of charge',
    takes: '[options] [text...]',
    load: async () => (await import('./inference/texts.ts')).moderate,
  },
  {
    name: 'image',
    about: 'Generate an image from a prompt',
    takes: '[options] [prompt...]',
    load: async () => (await import('./inference/media.ts')).image,
  },
  {
    name: 'speak',
    about: 'Convert text to speech',
    takes: '[options] [text...]',
    load: async () => (await import('./inference/media.ts')).speak,
  },
  {
    name: 'transcribe',
    about: 'Transcribe a recording',
    takes: '[options] <file>',
    load: async () => (await import('./inference/media.ts')).transcribe,
  },
  {
    name: 'responses',
    about: 'Stored answers, which can be continued',
    load: async () => (await import('./inference/responses/commands.ts')).responseCommands,
  },
  {
    name: 'conversations',
    about: 'Dialogues that are stored until they are deleted',
    load: async () => (await import('./inference/conversations/conversations.ts')).conversationCommands,
  },
  {
    name: 'chats',
    about: 'Chat completions that were made with store: true',
    load: async () => (await import('./inference/stored-chats.ts')).storedChatCommands,
  },
  {
    name: 'members',
    about: 'People of the account: invitations and roles',
    load: async () => (await import('./members/commands.ts')).memberCommands,
  },
  {
    name: 'projects',
    about: 'Projects of the account, with API keys of their own',
    load: async () => (await import('./projects/commands.ts')).projectCommands,
  },
  {
    name: 'limits',
    about: 'Limits on what is spent, by account, project, member, key, end user, tag or model',
    load: async () => (await import('./limits/commands.ts')).limitCommands,
  },
  {
    name: 'webhooks',
    about: 'Where events are sent: create, test, deliveries, send again',
    load: async () => (await import('./webhooks/commands.ts')).webhookCommands,
  },
  {
    name: 'runs',
    about: 'Agent runs: their ceilings, steps and kill switch',
    load: async () => (await import('./runs/commands.ts')).runCommands,
  },
  { name: 'invites', about: 'Invitations to the beta', load: async () => (await import('./invites/commands.ts')).inviteCommands },
  {
    name: 'requests',
    about: 'Requests of clients to the team',
    load: async () => (await import('./client-requests/commands.ts')).requestCommands,
  },
  {
    name: 'content',
    about: 'Posts, pages and other texts of the team',
    load: async () => (await import('./content/commands.ts')).contentCommands,
  },
  {
    name: 'people',
    about: 'Contacts; for the marketing team',
    load: async () => (await import('./people/commands.ts')).peopleCommands,
  },
  {
    name: 'emails',
    about: 'Mails to contacts; for the marketing team',
    load: async () => (await import('./emails/commands.ts')).emailCommands,
  },
  {
    name: 'deployments',
    about: 'Health of the providers; for administrators',
    takes: '[options]',
    load: async () => (await import('./deployments/list.ts')).listDeployments,
  },
  {
    name: 'discovery',
    about: 'Discovery documents of the gateway: for agents, for language models, OpenAPI',
    load: async () => (await import('./discovery/commands.ts')).discoveryCommands,
  },
  {
    name: 'api',
    about: 'Call any operation of the API with your credential; prints the raw response',
    takes: '[options] <path>',
    load: async () => (await import('./api/call.ts')).callApi,
  },
  {
    name: 'doctor',
    about: 'Check address, clock, credential, budgets, a free request and a receipt; exit code 1 if one fails',
    takes: '[options]',
    load: async () => (await import('./doctor/doctor.ts')).doctor,
  },
  {
    name: 'completion',
    about: 'Print the shell completion of commands, options, models and profiles; its first line says where to install it',
    takes: '<shell>',
    load: async () => (await import('./completion/completion.ts')).completion,
  },
  { name: 'complete', about: '', isHidden: true, load: async () => (await import('./completion/completion.ts')).complete },
];

/**
 * Gives the program its nouns. Only those that the line names are loaded: the others are names for the help and for "Did you mean", so
 * that a command starts without loading the two hundred others.
 */
export async function addNouns(program: Command, perform: Perform, isNamed: (noun: string) => boolean): Promise<void> {
  for (const { name, about, takes, isHidden = false, load } of NOUNS) {
    const command = program.command(name, { hidden: isHidden }).description(about);
    if (isNamed(name)) (await load())(command, perform);
    else if (takes !== undefined) command.arguments(takes);
  }
}
