import type { BudgetDetail, ErrorCode, TallygateError } from '@tallygate/sdk';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { plainText } from './print.ts';

/** A reason to stop that the person can act on. */
export class Failure extends Error {
  readonly code: string;
  readonly exitCode: ExitCode;
  /** One sentence, or a command to run. */
  readonly nextStep: string | undefined;

  constructor(code: string, message: string, exitCode: ExitCode, nextStep?: string) {
    super(message);
    this.code = code;
    this.exitCode = exitCode;
    this.nextStep = nextStep;
  }
}

/** An error of the service, with better advice than its code alone gives. */
export class AdvisedError extends Error {
  readonly nextStep: string;

  constructor(cause: unknown, nextStep: string) {
    super('An error with advice', { cause });
    this.nextStep = nextStep;
  }
}

const LOG_IN = 'Run `tallygate login`, or set TALLYGATE_API_KEY.';

export const notLoggedIn = (where: string): Failure =>
  new Failure('not_logged_in', `Not logged in${where}.`, EXIT.authenticationNeeded, LOG_IN);

/** Codes beside those with status 401 that say that somebody has to log in. */
const LOGIN_CODES: ReadonlySet<string> = new Set(['session_required', 'access_denied', 'expired_token']);

/** What a person at the terminal does about an error of the service. */
const NEXT_STEPS: Partial<Record<ErrorCode | 'connection_failed' | 'unexpected_response', string>> = {
  missing_credentials: LOG_IN,
  invalid_credentials: 'Run `tallygate login`; TALLYGATE_API_KEY and TALLYGATE_SESSION_TOKEN win over it where they are set.',
  invalid_mfa_code: 'Codes change every 30 seconds and work once; a recovery code does as well.',
  challenge_expired: 'Run `tallygate login` again.',
  access_denied: 'Run `tallygate login` again, and approve it in the browser.',
  expired_token: 'Run `tallygate login` again.',
  recent_login_required: 'Approve it in a browser: the page asks for the password.',
  invalid_token: 'Links work once and not for long: have another mail sent.',
  confirmation_failed: 'Check the password; where a second factor is on, a code is needed too.',
  model_not_allowed: 'Choose another --model, or allow it with `tallygate keys update KEY --model …`.',
  endpoint_not_allowed: 'Allow it with `tallygate keys update KEY --endpoint …`.',
  signature_required: 'This command does not sign; lift it with `tallygate keys update KEY --no-require-signature`.',
  session_required: 'An API key cannot do this: run `tallygate login`.',
  scope_required: 'Run `tallygate login`, or use a key with that scope.',
  budget_in_flight: 'Running requests hold the rest of the budget: try again in a moment.',
  disconnected_in_flight: 'Requests that were interrupted are still running at the provider: try again in a moment.',
  rate_limited: 'Try again in a moment.',
  upstream_rate_limited: 'Try again in a moment, or choose another --model.',
  no_provider_configured:
    'The sandbox answers test keys: `export TALLYGATE_API_KEY=$(tallygate keys create --name sandbox --test)`, then the same again.',
  model_not_found: 'Run `tallygate models` for the list.',
  not_found: 'Check the id: somebody else’s is answered like a missing one.',
  unexpected_response: 'Check the address: --base-url, TALLYGATE_BASE_URL, or the one you logged in at.',
  connection_failed: 'Is the gateway running (`npm start`), and is the address right? Set it with --base-url or TALLYGATE_BASE_URL.',
};

/** An error in the form in which it is shown. */
export interface FailureReport {
  readonly code: string;
  readonly message: string;
  readonly exit_code: ExitCode;
  readonly status?: number | undefined;
  readonly request_id?: string | undefined;
  readonly next_step?: string | undefined;
  /** The numbers behind a refusal over money. */
  readonly budget?: BudgetDetail | undefined;
  readonly errors?: readonly { readonly loc: readonly (string | number)[]; readonly msg: string }[] | undefined;
}

export async function reportOf(error: unknown): Promise<FailureReport> {
  if (error instanceof Failure) {
    return { code: error.code, message: error.message, exit_code: error.exitCode, next_step: error.nextStep };
  }
  if (error instanceof AdvisedError) return { ...(await reportOf(error.cause)), next_step: error.nextStep };
  const sdk = await import('@tallygate/sdk');
  if (error instanceof sdk.LogForkError)
    return { code: error.code, message: error.message, exit_code: EXIT.logForked, next_step: whatToDoWith(error.evidence) };
  if (error instanceof sdk.DeclarationsContradictedError)
    return { code: error.code, message: error.message, exit_code: EXIT.receiptNotValid, next_step: whatToDoWith(error.evidence) };
  if (error instanceof sdk.AbortError || (error instanceof Error && error.name === 'AbortError')) {
    return { code: 'interrupted', message: 'Interrupted.', exit_code: EXIT.interrupted };
  }
  if (!(error instanceof sdk.TallygateError)) {
    return { code: 'failure', message: error instanceof Error ? error.message : String(error), exit_code: EXIT.failure };
  }
  const needsLogin = error instanceof sdk.AuthenticationError || LOGIN_CODES.has(error.code);
  const isRefused = error instanceof sdk.BudgetExceededError || error.status === 429;
  const budget = error instanceof sdk.BudgetExceededError || error instanceof sdk.BudgetInFlightError ? error.budget : undefined;
  return {
    code: error.code,
    message: atTheTerminal(error.message),
    exit_code: needsLogin ? EXIT.authenticationNeeded : isRefused ? EXIT.refusedOverBudgetOrRate : EXIT.failure,
    status: error.status,
    request_id: error.requestId,
    next_step: nextStepOf(error) ?? documentationOf(error),
    budget,
    errors: error instanceof sdk.ValidationError ? error.errors : undefined,
  };
}

const whatToDoWith = (evidence: string): string =>
  `What the log has shown is in ${evidence}: keep that file, ask the operator, and show it to others who rely on this log.`;

/** Commands for the operations that the service's own sentences name. */
const COMMANDS: Readonly<Record<string, string>> = {
  'GET /v1/models': 'models',
  'GET /v1/keys': 'keys list',
  'GET /v1/users/me/sessions': 'sessions list',
  'GET /v1/admin/users': 'users list',
  'POST /v1/users/mfa/begin': 'mfa enable',
  'POST /v1/users/mfa/disable': 'mfa disable',
  'POST /v1/users/me/close': 'account close',
  'POST /v1/plans/checkout': 'plans upgrade',
  'POST /v1/plans/downgrade-schedule': 'plans downgrade',
  'POST /v1/plans/portal': 'plans billing',
  'GET /v1/marketing/emails': 'emails list',
  'GET /v1/marketing/email-templates': 'emails templates list',
  'GET /v1/marketing/people': 'people list',
  'GET /v1/anchors': 'anchors list',
  'GET /v1/receipts/export': 'receipts export',
};

/** The sentence, with commands in the place of operations. */
const atTheTerminal = (message: string): string =>
  message.replace(/`?\b((?:GET|POST) \/v1\/[a-z/-]+)`?/g, (text, operation: string) => {
    const command = COMMANDS[operation];
    return command === undefined ? text : `\`tallygate ${command}\``;
  });

const LIMITS = 'See `tallygate limits list`; `tallygate limits set` raises one. Or ask for fewer tokens with --max-tokens.';

/** What helps against each limit. */
const BUDGET_STEPS: Record<BudgetDetail['limit_source'], string> = {
  key: 'Raise the cap with `tallygate budgets set KEY AMOUNT`, or ask for fewer tokens with --max-tokens.',
  agent_run: 'A run’s ceiling cannot be raised: ask for fewer tokens with --max-tokens, or begin another run.',
  plan_quota: 'See `tallygate plans usage`, and move to a larger plan with `tallygate plans upgrade PLAN`.',
  account: LIMITS,
  project: LIMITS,
  member: LIMITS,
  run: LIMITS,
  end_user: LIMITS,
  tag: LIMITS,
  model: LIMITS,
  balance: 'Top up with `tallygate plans topup AMOUNT`, or ask for fewer tokens with --max-tokens.',
};

function nextStepOf({ code, problem }: TallygateError): string | undefined {
  if (code === 'budget_exceeded')
    return BUDGET_STEPS[problem && 'budget' in problem && problem.budget ? problem.budget.limit_source : 'key'];
  return new Map<string, string>(Object.entries(NEXT_STEPS)).get(code);
}

/** The page of the code, where the service names it in a form that can be opened. */
function documentationOf({ problem }: TallygateError): string | undefined {
  return problem !== undefined && /^https?:/.test(problem.type) ? `Read ${problem.type}` : undefined;
}

/** The report for people: the sentence, the faults, the code with the request id, the next step. */
export function failureText({ code, message, request_id, next_step, budget, errors = [] }: FailureReport): string {
  // The sentence says it already where there is only one.
  const faults = errors.length < 2 ? [] : errors.map(({ loc, msg }) => `  ${loc.join('.')}: ${msg}`);
  const reference = request_id === undefined ? `  code: ${code}` : `  code: ${code}, request: ${request_id}`;
  const money = budget === undefined ? [] : [`  limit: ${budgetText(budget)}`];
  const lines = [`error: ${message}`, ...faults, ...money, reference, ...(next_step === undefined ? [] : [`  next: ${next_step}`])];
  return `${lines.map(plainText).join('\n')}\n`;
}

function budgetText({ limit_source, cap_usd, spent_usd, held_usd, required_usd, resets_at }: BudgetDetail): string {
  const reset = resets_at === null ? '' : `, resets ${resets_at}`;
  return `${limit_source}, cap ${cap_usd} USD, spent ${spent_usd}, held ${held_usd}, needed ${required_usd}${reset}`;
}
