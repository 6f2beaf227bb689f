import type { contract, Run } from '@tallygate/contract';
import type { LaneStore } from '../../adapters/lanes/port.ts';
import { actorOf, originOf, recordAudit } from '../../audit/index.ts';
import type { Handlers, Principal, SeenBy } from '../../http/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { formatUsd } from '../../kernel/money.ts';
import { Problem } from '../../kernel/problem.ts';
import { laneId } from '../ledger/index.ts';
import type { RunOwner } from './run.ts';
import type { RunDirectory } from './run-directory.ts';
import type { RunQueries, RunScope } from './run-queries.ts';
import type { RunStore } from './run-store.ts';

interface RunRoutesDeps {
  readonly directory: RunDirectory;
  readonly store: RunStore;
  readonly queries: RunQueries;
  readonly lanes: Pick<LaneStore, 'inspect'>;
  /** Brings what is settled by now into the ledger. */
  readonly write: () => Promise<void>;
  readonly clock: Clock;
  readonly seenBy: SeenBy;
}

const MOST_CHILDREN = 200;

export function runRoutes({ directory, store, queries, lanes, write, clock, seenBy }: RunRoutesDeps): Handlers<typeof contract.runs> {
  async function existing(owner: RunScope, runId: string): Promise<Run> {
    const run = await queries.get(owner, runId, clock.now());
    if (!run) throw noSuchRun(owner);
    return run;
  }

  const scopeOf = async (principal: Principal, livemode: boolean | undefined): Promise<RunScope> => ({
    ...ownerOf(principal, livemode),
    seen: await seenBy(principal),
  });

  return {
    listRuns: async ({ principal, query: { livemode, ...query } }) => ({
      status: 200,
      body: await queries.list(await scopeOf(principal, livemode), query, clock.now()),
    }),

    getRun: async ({ principal, params: { run_id }, query: { livemode, ...query } }) => {
      const owner = await scopeOf(principal, livemode);
      const run = await existing(owner, run_id);
      const lane = laneId.run(owner.accountId, owner.livemode, run_id);
      const [steps, children, states] = await Promise.all([
        queries.steps(owner, run_id, query),
        queries.list(owner, { parent_run_id: run_id, limit: MOST_CHILDREN }, clock.now()),
        lanes.inspect([lane]),
      ]);
      const held_usd = formatUsd(states.get(lane)?.held ?? 0n);
      return { status: 200, body: { ...run, held_usd, steps, children: children.data.toReversed() } };
    },

    closeRun: async ({ principal, params: { run_id }, query: { livemode }, ...call }) => {
      const owner = ownerToCloseFor(principal, livemode);
      const closed = await store.close(owner, run_id, clock.now(), (db) =>
        recordAudit(db, {
          accountId: owner.accountId,
          actor: actorOf(principal),
          action: 'run.closed',
          target: { kind: 'run', id: run_id },
          changes: { livemode: owner.livemode },
          origin: originOf(call),
        }),
      );
      if (closed === undefined) throw noSuchRun(owner);
      // Also where it was closed before: whoever asks may count on it that nothing runs here any more.
      directory.closed(owner, run_id);
      // Often asked for right behind the last answer: its figures are those of the run then.
      await write();
      return { status: 200, body: await existing(owner, run_id) };
    },
  };
}

const modeOf = (principal: Principal): boolean => principal.kind === 'session' || principal.livemode;

const ownerOf = (principal: Principal, livemode: boolean | undefined): RunOwner => ({
  accountId: principal.accountId,
  livemode: livemode ?? modeOf(principal),
});

/** A test key is for trying things out: it stops nothing that is live. */
function ownerToCloseFor(principal: Principal, livemode: boolean | undefined): RunOwner {
  if (principal.kind === 'key' && livemode !== undefined && livemode !== principal.livemode)
    throw new Problem('forbidden', 'An API key closes runs of its own mode only: use a key of the other mode, or a session.');
  return ownerOf(principal, livemode);
}

const noSuchRun = ({ livemode }: RunOwner): Problem =>
  new Problem('not_found', `There is no such run in your account’s ${livemode ? 'live' : 'test'} mode.`);
