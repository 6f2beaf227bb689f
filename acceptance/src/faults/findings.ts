import pg from 'pg';
import { ask, MODEL, problemOf } from '../chat.ts';
import type { Gateway } from '../gateway.ts';
import { openLedgerAudit } from '../ledger-audit.ts';
import { largest, nano, sum } from '../money.ts';
import { type Call, type Caller, dueOf } from './callers.ts';
import type { Service } from './service.ts';

/** A cap of a round, and who draws on it. */
export interface Cap {
  readonly name: 'key' | 'run' | 'account';
  /** Nano-USD. */
  readonly amount: bigint;
  /** A client with this key, to read the lane. */
  readonly caller: Caller;
  /** Which records count on it. */
  readonly counts: (record: UsageRecord) => boolean;
}

interface UsageRecord {
  readonly callId: string;
  readonly keyId: string;
  readonly runId: string | null;
  readonly cost: bigint;
  /** A loss of the operator: it was settled late, and no longer fitted. */
  readonly waived: bigint;
  readonly outcome: string;
}

/** What is wrong after a round. */
export interface Findings {
  /** Nano-USD over caps, by the ledger or by what the provider billed, whichever is more. */
  readonly overspent: bigint;
  /** Whole answers without exactly one record, and calls that the provider bills for more than the ledger charges. */
  readonly lost: readonly string[];
  /** Nano-USD that are still held. */
  readonly left: bigint;
  /** Ledgers that do not agree, duplicate records. */
  readonly disagreements: readonly string[];
}

export const CLEAN: Findings = { overspent: 0n, lost: [], left: 0n, disagreements: [] };

export const isClean = ({ overspent, lost, left, disagreements }: Findings): boolean =>
  overspent === 0n && lost.length === 0 && left === 0n && disagreements.length === 0;

interface Finished {
  readonly service: Service;
  readonly accountId: string;
  readonly calls: readonly Call[];
  readonly caps: readonly Cap[];
}

/** Looks at everything once. */
export async function look({ service, accountId, calls, caps }: Finished): Promise<Findings> {
  const { databaseUrl, gateways, upstream, ways } = service;
  const records = await recordsOf(databaseUrl, accountId);
  const bills = dueOf(upstream, calls, ways.provider.brokenPorts);
  await using audit = await openLedgerAudit({ databaseUrl });
  const lanes = await Promise.all(caps.map((cap) => overAndLeft(cap, { gateways, records, bills })));
  return {
    overspent: largest(lanes.map(({ overspent }) => overspent)),
    lost: [...missingAnswers(calls, records), ...unchargedBills(bills, records)],
    left: largest(lanes.map(({ held }) => held)),
    disagreements: [...lanes.flatMap(({ disagreements }) => disagreements), ...(await audit.faults())],
  };
}

function missingAnswers(calls: readonly Call[], records: readonly UsageRecord[]): string[] {
  const completed = Map.groupBy(
    records.filter(({ outcome }) => outcome === 'completed'),
    ({ callId }) => callId,
  );
  return calls.flatMap(({ id, status }) => {
    const count = completed.get(id)?.length ?? 0;
    return status === 200 && count !== 1 ? [`${id} was answered, and recorded ${count} times`] : [];
  });
}

function unchargedBills(bills: ReadonlyMap<string, bigint>, records: readonly UsageRecord[]): string[] {
  const charged = Map.groupBy(records, ({ callId }) => callId);
  return [...bills].flatMap(([id, bill]) => {
    const cost = sum((charged.get(id) ?? []).map(({ cost, waived }) => cost + waived));
    return bill > cost ? [`${id} is billed ${bill}, and charged ${cost}`] : [];
  });
}

interface Books {
  readonly gateways: readonly Gateway[];
  readonly records: readonly UsageRecord[];
  readonly bills: ReadonlyMap<string, bigint>;
}

async function overAndLeft({ name, amount, caller, counts }: Cap, { gateways, records, bills }: Books) {
  const ofLane = records.filter(counts);
  const spent = sum(ofLane.map(({ cost }) => cost));
  const billed = sum([...new Set(ofLane.map(({ callId }) => callId))].map((id) => bills.get(id) ?? 0n));
  const standings = await Promise.all(gateways.map((gateway) => standingOf(gateway, caller)));
  return {
    overspent: largest([spent - amount, billed - amount]),
    held: largest(standings.map(({ held }) => held)),
    disagreements: standings.flatMap((lane) =>
      lane.spent === spent ? [] : [`the lane of the ${name} has ${lane.spent}, and the ledger ${spent}`],
    ),
  };
}

const TOO_DEAR = { model: MODEL, n: 128, max_tokens: 16_384, messages: [{ role: 'user', content: 'What is left?' }] };

/** What is counted on the tightest lane of the caller, by a request that no cap allows. */
async function standingOf(gateway: Gateway, { key, headers }: Caller): Promise<{ spent: bigint; held: bigint }> {
  const { budget } = problemOf(await ask(gateway, key, TOO_DEAR, headers));
  if (!budget) throw new Error('A request that no cap allows was not refused by one');
  return { spent: nano(budget.spent_usd), held: nano(budget.held_usd) };
}

async function recordsOf(databaseUrl: string, accountId: string): Promise<UsageRecord[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<Record<'call_id' | 'key_id' | 'cost' | 'waived' | 'outcome', string> & { run_id: string | null }>(
      RECORDS,
      [accountId],
    );
    return rows.map(({ call_id, key_id, run_id, cost, waived, outcome }) => ({
      ...{ callId: call_id, keyId: key_id, runId: run_id, outcome },
      ...{ cost: BigInt(cost), waived: BigInt(waived) },
    }));
  } finally {
    await client.end();
  }
}

const RECORDS =
  'select client_request_id as call_id, key_id, run_id, cost_nano::text as cost, waived_nano::text as waived, outcome from usage_records where account_id = $1';
