import { sha256Of } from '../../../kernel/digest.ts';
import { formatUsd } from '../../../kernel/money.ts';
import type { Admission } from '../admission.ts';
import { admitCached } from '../admission.ts';
import { agentRunHeaders } from '../agent-run-headers.ts';
import type { Call } from '../call.ts';
import { answerType } from '../client-stream.ts';
import type { InferenceDeps } from '../deps.ts';
import type { Reply } from '../reply.ts';
import { answerHeaders } from '../response-headers.ts';
import type { Served } from '../served.ts';
import { settle } from '../settlement.ts';
import { NO_USAGE } from '../usage.ts';
import type { AnswerAgain } from './call-cache.ts';

/**
 * The kept answer to a call that asks for one, settled at nothing: byte for byte what was answered before. Undefined where a model has to be
 * asked.
 *
 * @throws Problem `model_not_allowed`, `rate_limited`, `store_unavailable`, and `agent_run_budget_exceeded` where its run is beyond its ceiling
 */
export async function answerAgain(call: Call, deps: InferenceDeps): Promise<Reply | undefined> {
  const kept = await call.cache?.find();
  const model = kept && deps.catalog.find(kept.model);
  // Without a price there is no receipt.
  if (!kept || !model?.priceAt(call.startedAt)) return undefined;
  const admission = await admitCached(call, model, deps);
  call.run?.admitted();
  const target = { model, deployment: { provider: kept.provider, name: kept.provider } };
  const now = deps.clock.now();
  const served: Served = {
    ...{ target, attempts: [], attempt: 1, fallback: 'none', outcome: 'cached', usage: NO_USAGE, estimated: false },
    responseSha256: await sha256Of(kept.body),
    ...{ firstByteAt: now, completedAt: now, overheadMs: performance.now() - call.startedTick },
  };
  const { lanes } = await settle(admission, served, deps);
  deps.onServed(call, served);
  return replyOf(kept, { admission, served, run: agentRunHeaders(lanes) }, deps);
}

interface Settling {
  readonly admission: Admission;
  readonly served: Served;
  readonly run: ReturnType<typeof agentRunHeaders>;
}

const replyOf = (kept: AnswerAgain, { admission, served, run }: Settling, deps: InferenceDeps): Reply => ({
  status: 200,
  headers: {
    ...answerHeaders(admission, served, served.overheadMs, { promises: deps.promises, isSettled: true }),
    ...run,
    'x-cost-usd': formatUsd(0n),
    'x-cache': 'HIT',
    age: String(Math.floor(kept.ageMs / 1000)),
    ...answerType(kept.contentType),
    'content-length': kept.body.length,
  },
  body: kept.body,
});
