import type { RunQuery as QueryText, Run, RunDetail, RunList } from './generated/models.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import type { PagedCall, PageQuery } from './transport/paged-call.ts';
import { pathStep } from './transport/path.ts';
import type { Transport } from './transport/transport.ts';

interface Mode {
  /** Live or test runs. Default: the mode of the API key that asks; live for sessions. */
  readonly livemode?: boolean | undefined;
}

/** Which runs. */
export interface RunQuery extends PageQuery, Mode, Pick<QueryText, 'state' | 'parent_run_id'> {}

/** `tallygate.runs`: agent runs, what they may do and what they have done. */
export class Runs {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The account's runs, newest first. */
  list(query?: RunQuery, options?: CallOptions): PagedCall<RunList, Run> {
    return this.#transport.pages({ path: '/v1/runs', query: { ...query } }, ({ run_id }) => run_id, options);
  }

  /** Where a run stands, with its child runs and a page of its steps, oldest first. */
  get(runId: string, query?: PageQuery & Mode, options?: CallOptions): Call<RunDetail> {
    return this.#transport.json({ method: 'GET', path: runPath(runId), query: { ...query } }, options);
  }

  /** The kill switch: neither the run nor its child runs make a further call, and what they have running is stopped and settled. */
  close(runId: string, mode?: Mode, options?: CallOptions): Call<Run> {
    return this.#transport.json({ method: 'POST', path: `${runPath(runId)}/close`, query: { ...mode } }, options);
  }
}

const runPath = (runId: string): string => `/v1/runs/${pathStep(runId)}`;
