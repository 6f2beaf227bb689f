/** What every call takes beside its input. */
export interface CallOptions {
  /** Aborting it ends the call with an `AbortError`, retries and waits between them included. */
  readonly signal?: AbortSignal | undefined;
  /** Time for one attempt, milliseconds; of a stream, the longest silence. Default: the client's. */
  readonly timeoutMs?: number | undefined;
  /** How often a failed attempt is repeated. Default: the client's. */
  readonly maxRetries?: number | undefined;
  /** Further request headers. They win over the SDK's own. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Makes a repeat of the request answer with the first answer, for 24 hours. Left out, calls that create or charge get a fresh
   * one, the same on every retry of the call.
   */
  readonly idempotencyKey?: string | undefined;
}

/** What inference calls take beside their input, for the gateway alone. */
export interface GatewayOptions {
  /** The agent run that this request is a step of. */
  readonly agentRun?: {
    /** 1 to 128 letters, digits and `. _ : -`. */
    readonly id: string;
    /** Hard ceiling of the whole run, decimal string in USD (`"0.50"`). The first request sets it, later ones can only tighten it. */
    readonly maxBudgetUsd?: string | undefined;
    /** The parent run, whose budget it also uses. Set by its first request. */
    readonly parentId?: string | undefined;
    /** The most calls that the run and its child runs may make; later requests can only tighten it. */
    readonly maxCalls?: number | undefined;
    /** RFC 3339, or whole seconds from the request: from then on the run makes no calls, and running ones are stopped; later requests can only tighten it. */
    readonly deadline?: string | undefined;
  };
  /** `clamp`: lower the token bound to what the budget covers, instead of refusing. */
  readonly budgetPolicy?: 'strict' | 'clamp' | undefined;
  /** How far the gateway may go when the model cannot be served. */
  readonly fallbackPolicy?: 'none' | 'deployment' | 'semantic' | undefined;
  /** What becomes of the call when this client hangs up: cancelled at the provider where that stops its bill, or read to its end. */
  readonly onDisconnect?: 'cancel' | 'finish' | undefined;
  /** An answer to the same request that is at most so old will do, at no cost, and this one is kept for as long. Left out, nothing is kept. */
  readonly cacheSeconds?: number | undefined;
  /** Ask for the receipt to be anchored on chain. */
  readonly anchorReceipt?: boolean | undefined;
}

/** What inference calls take beside their input. */
export interface InferenceOptions extends CallOptions, GatewayOptions {}

/** The gateway's request headers that say what the options say. */
export function inferenceHeaders(options: GatewayOptions): Record<string, string> {
  const { agentRun, budgetPolicy, fallbackPolicy, onDisconnect, cacheSeconds, anchorReceipt } = options;
  return {
    ...(agentRun && { 'x-agent-run-id': agentRun.id }),
    ...(agentRun?.maxBudgetUsd !== undefined && { 'x-agent-max-budget': agentRun.maxBudgetUsd }),
    ...(agentRun?.parentId !== undefined && { 'x-agent-parent-run-id': agentRun.parentId }),
    ...(agentRun?.maxCalls !== undefined && { 'x-agent-max-calls': String(agentRun.maxCalls) }),
    ...(agentRun?.deadline !== undefined && { 'x-agent-deadline': agentRun.deadline }),
    ...(budgetPolicy && { 'x-budget-policy': budgetPolicy }),
    ...(fallbackPolicy && { 'x-fallback-policy': fallbackPolicy }),
    ...(onDisconnect && { 'x-on-disconnect': onDisconnect }),
    ...(cacheSeconds !== undefined && { 'x-cache': `max-age=${cacheSeconds}` }),
    ...(anchorReceipt !== undefined && { 'x-vaas-anchor': String(anchorReceipt) }),
  };
}
