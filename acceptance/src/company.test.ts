import type { LimitKind } from '@tallygate/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isRedisMissing, testRedisUrl } from '../../server/src/adapters/redis/test-redis.ts';
import { type Answered, ask, header, MODEL, problemOf } from './chat.ts';
import { Company, type Member, OTHER_MODEL, priceOf } from './company.ts';
import { csvRows } from './csv.ts';
import { openLedgerAudit } from './ledger-audit.ts';
import { nano, sum, usd } from './money.ts';
import { randomNumbers } from './random.ts';
import { type Made, storm } from './storm.ts';

const STORES = ['in memory', 'in Redis'] as const;
const MAX_TOKENS = 64;
const MOST_PROMPT_TOKENS = 150;
/** What passes of the calls of a lane costs a third of what they would cost all together. */
const CAP = '0.000600007';
/** More than any call holds: what is less than this below its cap has been filled. */
const MOST_OF_A_CALL = nano('0.0001');
/** More than 500 of seven lanes at once, and then those of the account, which would leave nothing to the others. */
const [CALLS_OF_A_LANE, CALLS_OF_THE_ACCOUNT] = [72, 40];

/** The month may end while the test runs. */
const SINCE = { from: new Date().toISOString().slice(0, 10) };

interface Key {
  readonly id: string;
  readonly secret: string;
  readonly projectId: string;
}

/** The lane whose cap is to refuse a call. */
interface Lane {
  readonly kind: LimitKind | 'agent_run';
  readonly subject: string | null;
  readonly keys: readonly Key[];
  readonly call?: Partial<Pick<Call, 'model' | 'endUser' | 'tag' | 'run'>>;
}

interface Call {
  readonly number: number;
  readonly lane: Lane;
  readonly key: Key;
  readonly model: string;
  readonly endUser: string;
  readonly tag: string;
  readonly run?: string;
}

describe.each(STORES)('a company with its lanes %s', (store) => {
  const isMissing = store === 'in Redis' && isRedisMissing();
  let company: Company;
  let members: Member[];
  /** One of each member, but two of the sixth; then one of each project, which a management key made. */
  let keys: Key[];
  /** Nano-USD by the number of the call, as the provider said them. */
  const bills = new Map<number, bigint>();
  const served: Made<Call, Answered>[] = [];

  beforeAll(async () => {
    if (isMissing) return;
    company = await Company.open(store === 'in Redis' ? { REDIS_URL: `${testRedisUrl()}/10` } : {});
    members = await company.signInAll();
    const owners = [
      ...members,
      ...members.slice(5, 6),
      ...company.projectIds.map((projectId) => ({ projectId, client: company.terraform })),
    ];
    keys = await Promise.all(
      owners.map(async ({ client, projectId }) => {
        const { key_id: id, key: secret } = await client.keys.create({ name: 'work', project_id: projectId });
        return { id, secret, projectId };
      }),
    );
    const random = randomNumbers(store.length);
    company.upstream.script(({ body }) => {
      // None of either is not believed: the gateway counts then.
      const prompt_tokens = 1 + Math.floor(random() * MOST_PROMPT_TOKENS);
      const completion_tokens = 1 + Math.floor(random() * MAX_TOKENS);
      const { number, model } = askedIn(body);
      bills.set(number, (bills.get(number) ?? 0n) + priceOf(model, { prompt_tokens, completion_tokens }));
      return { delayMs: Math.floor(random() * 100), tokens: 2, usage: () => ({ prompt_tokens, completion_tokens, total_tokens: 0 }) };
    });
  });
  afterAll(() => company?.close());

  const of = (...indexes: number[]): Key[] => indexes.map((index) => keyAt(keys, index));
  const setCap = (kind: LimitKind, subject: string | null, cap_usd: string) =>
    company.terraform.limits.set({ kind, subject, period: 'lifetime', cap_usd });

  /** Members of the first project fill its lane; the lanes of the others are filled in the second project. */
  const lanes = (): Lane[] => [
    { kind: 'project', subject: company.projectIds[0], keys: of(0, 1, 2, 3, 4) },
    { kind: 'member', subject: members[5]?.userId ?? '', keys: of(5, 10) },
    { kind: 'key', subject: keyAt(keys, 6).id, keys: of(6) },
    { kind: 'agent_run', subject: null, keys: of(7, 8), call: { run: 'night-shift' } },
    { kind: 'end_user', subject: 'ada', keys: of(7, 8, 9), call: { endUser: 'ada' } },
    { kind: 'tag', subject: 'feature=drafts', keys: of(8, 9), call: { tag: 'feature=drafts' } },
    { kind: 'model', subject: OTHER_MODEL, keys: of(7, 8, 9), call: { model: OTHER_MODEL } },
  ];
  const account = (): Lane => ({ kind: 'account', subject: null, keys: of(7, 8, 12) });

  const make = ({ number, key, model, endUser, tag, run }: Call) => {
    const body = { model, messages: [{ role: 'user', content: `Call ${number}` }], max_tokens: MAX_TOKENS };
    const ofRun = run === undefined ? undefined : { 'x-agent-run-id': run, 'x-agent-max-budget': CAP };
    return ask(company.gateway, key.secret, body, { 'x-end-user': endUser, 'x-tags': tag, ...ofRun });
  };

  /** All at once. What is refused for good is refused by the lane that is to refuse it. */
  async function stormOf(calls: readonly Call[], cap: string): Promise<void> {
    for (const made of await storm(calls, make)) {
      if (made.answered.status === 200) served.push(made);
      else if (made.answered.status === 402) {
        const { kind, subject } = made.call.lane;
        const { code, budget } = problemOf(made.answered);
        expect([code, budget]).toMatchObject([
          'budget_exceeded',
          { limit_source: kind, cap_usd: cap, ...(subject !== null && { subject }) },
        ]);
      } else expect(made.answered.status).toSatisfy((status) => status === 429 || status === 503);
    }
    const billed = sum(served.map(({ call }) => bills.get(call.number) ?? 0n));
    await expect
      .poll(async () => (await company.terraform.usage.get(SINCE)).total)
      .toMatchObject({ requests: served.length, cost_usd: usd(billed) });
  }

  const billOf = (isMeant: (call: Call) => boolean): bigint =>
    sum(served.filter(({ call }) => isMeant(call)).map(({ call }) => bills.get(call.number) ?? 0n));

  test.skipIf(isMissing)('signs ten people in who are members of one of its two projects', async () => {
    expect((await company.owner.members.list({ limit: 50 })).data).toHaveLength(11);
    for (const [at, project] of company.projectIds.entries()) {
      const { data } = await company.owner.projects.members(project);
      const expected = members.slice(at * 5, at * 5 + 5).map(({ userId }) => userId);
      // Beside them is whose management key made a key there.
      expect(
        data
          .filter((member) => member.by_directory)
          .map(({ user_id: id }) => id)
          .toSorted(),
      ).toEqual(expected.toSorted());
      expect(data.filter((member) => !member.by_directory).map(({ email }) => email)).toEqual([company.gateway.bootstrap.admin_email]);
    }
  });

  test.skipIf(isMissing)('holds caps of every kind of lane to the nano-dollar under 500 calls at once', async () => {
    const limits = new Map<string, string>();
    for (const { kind, subject } of lanes()) if (kind !== 'agent_run') limits.set(kind, (await setCap(kind, subject, CAP)).limit_id);
    limits.set('account', (await setCap('account', null, '1')).limit_id);
    await stormOf(callsOf(lanes(), CALLS_OF_A_LANE, 0), CAP);

    const before = billOf(() => true);
    const cap = before + nano(CAP);
    await setCap('account', null, usd(cap));
    await stormOf(callsOf([account()], CALLS_OF_THE_ACCOUNT, 1_000), usd(cap));

    for (const { kind } of [...lanes(), account()]) {
      const spent = billOf(({ lane }) => lane.kind === kind);
      expect(spent, kind).toBeLessThanOrEqual(nano(CAP));
      expect(spent, kind).toBeGreaterThan(nano(CAP) - MOST_OF_A_CALL);
      const limit = limits.get(kind);
      const shown = limit === undefined ? (await company.terraform.runs.get('night-shift')).spent_usd : undefined;
      const status = limit === undefined ? { spent_usd: shown, held_usd: '0' } : await company.terraform.limits.get(limit);
      expect([kind, status]).toMatchObject([kind, { spent_usd: usd(kind === 'account' ? before + spent : spent), held_usd: '0' }]);
    }
    await using ledger = await openLedgerAudit(company.gateway);
    const entries = await ledger.entriesOf(served.map(({ answered }) => header(answered, 'x-request-id')));
    expect(served.map(({ answered }) => entries.get(header(answered, 'x-request-id'))?.cost)).toEqual(
      served.map(({ call }) => bills.get(call.number)),
    );
    expect(await ledger.faults()).toEqual([]);
  });

  test.skipIf(isMissing).each([
    ['project', ({ key }: Call) => key.projectId, 'project_id', ({ SubAccountId: id }: FocusRow) => id],
    ['end_user', ({ endUser }: Call) => endUser, 'end_user', ({ tags }: FocusRow) => tags['tallygate/end_user']],
    ['tag', ({ tag }: Call) => tag, 'tag', ({ tags }: FocusRow) => `feature=${tags['feature']}`],
  ] as const)('adds its spend by %s up to the ledger, in JSON, CSV and FOCUS', async (group_by, groupOf, column, focusGroupOf) => {
    const expected = totals(served.map(({ call }) => [groupOf(call), bills.get(call.number) ?? 0n]));
    const { items, total } = await company.terraform.usage.get({ ...SINCE, group_by });
    expect(totals(items.map((item) => [item[column], nano(item.cost_usd)]))).toEqual(expected);
    expect(total.cost_usd).toBe(usd(billOf(() => true)));
    const csv = csvRows(await (await company.terraform.usage.export({ ...SINCE, group_by })).text());
    expect(totals(csv.map((row) => [row[column], nano(row['cost_usd'] ?? '')]))).toEqual(expected);
    const focus = csvRows(await (await company.terraform.usage.export({ ...SINCE, format: 'focus' })).text());
    const rows = focus.map((row) => ({ ...row, tags: JSON.parse(row['Tags'] ?? '') }) as FocusRow);
    expect(totals(rows.map((row) => [focusGroupOf(row), nano(row.EffectiveCost)]))).toEqual(expected);
  });
});

interface FocusRow {
  readonly SubAccountId: string;
  readonly EffectiveCost: string;
  readonly tags: Readonly<Record<string, string>>;
}

function keyAt(keys: readonly Key[], index: number): Key {
  const key = keys[index];
  if (!key) throw new Error(`There is no key ${index}`);
  return key;
}

/** So many of each lane, in turn, of everyday end users and features where the lane is of none. */
function callsOf(lanes: readonly Lane[], each: number, first: number): Call[] {
  return Array.from({ length: lanes.length * each }, (_, index): Call => {
    const lane = lanes[index % lanes.length];
    if (!lane) throw new Error('There is no lane');
    const turn = Math.floor(index / lanes.length);
    return {
      ...{ number: first + index, lane, key: keyAt(lane.keys, turn % lane.keys.length) },
      ...{ model: MODEL, endUser: `customer-${turn % 4}`, tag: `feature=${turn % 3 === 0 ? 'search' : 'chat'}` },
      ...lane.call,
    };
  });
}

function askedIn(body: unknown): { number: number; model: string } {
  const { model, messages } = Object(body);
  return { model, number: Number(/\d+/.exec(messages[0].content)?.[0]) };
}

/** USD by group. */
function totals(amounts: readonly (readonly [group: string | null | undefined, amount: bigint])[]): Record<string, string> {
  const sums = new Map<string, bigint>();
  for (const [group, amount] of amounts) sums.set(String(group), (sums.get(String(group)) ?? 0n) + amount);
  return Object.fromEntries([...sums].map(([group, amount]) => [group, usd(amount)]));
}
