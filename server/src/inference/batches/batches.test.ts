import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { faulty } from '../calls/testing/inference.ts';
import { deleteAccountBatches } from './close-account.ts';
import { batchRoutes } from './routes.ts';
import { type BatchWorld, chatAnswer, Death, LINE_NANO_USD, LINES_AT_ONCE, line, NOW, openBatchWorld } from './testing/batches.ts';

const DAY_MS = 24 * 3_600_000;
let world: BatchWorld;

beforeAll(async () => {
  world = await openBatchWorld();
});
afterAll(() => world?.close());
beforeEach(async () => {
  await world.pool.query('delete from batch_lines');
  await world.pool.query('delete from batches');
  world.ledger.length = 0;
  world.upstream.calls.length = 0;
  world.upstream.answer = (customId) => chatAnswer(`Said ${customId}.`);
  world.clock.at = NOW;
  world.monthlyCap = null;
  world.state = 'good';
  await world.restart();
});

/** Answers nothing until it is told to go on. */
function held() {
  const begun = Promise.withResolvers<void>();
  world.upstream.answer = () => {
    begun.resolve();
    return 'silence';
  };
  return begun.promise;
}

describe('the money of a batch', () => {
  test('is held for all of its lines at half the price before the first of them runs, and settled line by line', async () => {
    const batch = await world.create([line('a'), line('b'), line('c')]);
    expect(batch).toMatchObject({ status: 'in_progress', total: 3 });
    const { held: whole } = await world.lane();
    expect(whole).toBeGreaterThanOrEqual(3n * LINE_NANO_USD);
    expect(world.upstream.calls).toEqual([]);
    await world.goOn();
    expect(await world.lane()).toEqual({ spent: 3n * LINE_NANO_USD, held: 0n });
    for (const { record } of world.ledger) expect(record).toMatchObject({ kind: 'batch_line', priceFactor: '0.5', outcome: 'completed' });
    expect(await world.get(batch.id)).toMatchObject({ status: 'completed', completed: 3, failed: 0 });
  });

  test('is refused whole where one nano-dollar is missing, and nothing of it is left', async () => {
    await world.create([line('a'), line('b')]);
    const { held: whole } = await world.lane();
    await world.restart();
    await world.pool.query('delete from batch_lines');
    await world.pool.query('delete from batches');
    await world.restart();
    world.monthlyCap = whole - 1n;
    await expect(world.create([line('a'), line('b')])).rejects.toMatchObject({ code: 'budget_exceeded' });
    expect((await world.pool.query('select 1 from batches union all select 1 from batch_lines')).rowCount).toBe(0);
    expect((await world.lane()).held).toBe(0n);
    world.monthlyCap = whole;
    expect(await world.create([line('a'), line('b')])).toMatchObject({ status: 'in_progress' });
  });

  test('stops being spent within a look when the cap is lowered below what is held', async () => {
    const batch = await world.create(['a', 'b', 'c', 'd'].map((id) => line(id)));
    world.upstream.answer = (customId) => {
      // Seen at the next look, which is the one at the beginning of the next run.
      if (customId === 'a') world.monthlyCap = LINE_NANO_USD;
      return customId === 'a' ? chatAnswer('A') : faulty('rate_limited', { retryAfterMs: 60_000 });
    };
    await world.goOn();
    await world.goOn();
    const { output, errors } = await world.outcome(batch.id);
    expect(output.map(({ custom_id }) => custom_id)).toEqual(['a']);
    expect(errors.map(({ error }) => error?.code)).toEqual(['budget_exceeded', 'budget_exceeded', 'budget_exceeded']);
    expect(await world.lane()).toEqual({ spent: LINE_NANO_USD, held: 0n });
  });

  test('is never spent without a hold: where the lanes have lost it, nothing runs until it is held again', async () => {
    const batch = await world.create(['a', 'b', 'c', 'd', 'e', 'f'].map((id) => line(id)));
    let isHeld = true;
    world.upstream.answer = (customId) => {
      // With the first, whichever of them it is.
      if (isHeld) world.process.lanes.release(batch.id);
      isHeld = false;
      return chatAnswer(customId);
    };
    await world.goOn();
    // Those that ran at once are kept; no other was begun.
    expect(world.upstream.calls.length).toBeLessThanOrEqual(LINES_AT_ONCE);
    expect(world.ledger).toEqual([]);
    world.clock.at += 60_000;
    world.monthlyCap = LINE_NANO_USD;
    await world.goOn();
    const { output, errors } = await world.outcome(batch.id);
    expect(output.length + errors.length).toBe(6);
    expect(new Set(errors.map(({ error }) => error?.code))).toEqual(new Set(['budget_exceeded']));
    // What was answered is paid for all the same.
    expect((await world.lane()).spent).toBe(BigInt(output.length) * LINE_NANO_USD);
    expect(world.ledger.every(({ debt }) => debt > 0n)).toBe(true);
  });

  test('covers the dearest model that a line may fall back to', async () => {
    await world.create([line('a')]);
    const { held: plain } = await world.lane();
    await world.create([line('b', { models: ['gpt-4.1'] })]);
    expect((await world.lane()).held - plain).toBeGreaterThan(10n * plain);
  });
});

describe('a process that dies', () => {
  test('at whatever step: each line is once in a file, and each call that a provider bills is settled once', async () => {
    let deaths = 0;
    let lost = 0;
    for (let steps = 1; ; steps += 1) {
      world.ledger.length = 0;
      world.upstream.calls.length = 0;
      world.upstream.answer = (customId) => (customId === 'bad' ? faulty('rejected', { status: 400 }) : chatAnswer(customId));
      await world.restart();
      const input = await world.upload([line('a'), line('bad'), line('b')]);
      world.process.life.stepsLeft = steps;
      const order = { endpoint: '/v1/chat/completions', completion_window: '24h', run: { runId: null, runCap: null } } as const;
      const created = await world.process.api.create(world.principal, { ...order, input_file_id: input }).catch((error: unknown) => {
        expect(error).toBeInstanceOf(Death);
      });
      if (!world.process.life.isOver) await world.process.work.goOn(new AbortController().signal).catch(() => {});
      const hasDied = world.process.life.isOver;
      if (hasDied) deaths += 1;
      await world.restart();
      const { rows } = await world.pool.query<{ id: string }>('select id from batches where input_file_id = $1', [input]);
      const id = created?.id ?? rows[0]?.id;
      // It died before there was a batch.
      if (id === undefined) continue;
      // The database may take a moment to see that the connection is gone which had the lock.
      await vi.waitUntil(
        async () => {
          await world.goOn();
          return (await world.get(id)).status === 'completed';
        },
        { timeout: 60_000 },
      );
      expect(await world.get(id), `after ${steps} steps`).toMatchObject({ status: 'completed', total: 3, completed: 2, failed: 1 });
      const { output, errors } = await world.outcome(id);
      expect([output, errors].map((lines) => lines.map(({ custom_id }) => custom_id))).toEqual([['a', 'b'], ['bad']]);
      const ids = [...output, ...errors].map(({ response }) => response?.request_id ?? '');
      const [abandoned, answered] = [true, false].map((isLost) =>
        world.ledger.filter(({ record }) => (record.outcome === 'abandoned') === isLost),
      );
      expect(answered?.map(({ record }) => record.requestId).sort()).toEqual(ids.sort());
      for (const { record } of abandoned ?? []) expect(record).toMatchObject({ kind: 'batch_line', cost: record.held, estimated: true });
      lost += abandoned?.length ?? 0;
      const calls = world.ledger.map(({ record }) => `${record.requestId} ${record.attempt}`);
      expect(new Set(calls).size).toBe(calls.length);
      expect(new Set(world.ledger.map(({ record }) => record.receiptId)).size).toBe(calls.length);
      const spent = world.ledger.reduce((sum, { cost }) => sum + cost, 0n);
      const billed = BigInt(world.upstream.calls.filter((customId) => customId !== 'bad').length) * LINE_NANO_USD;
      expect(spent).toBeGreaterThanOrEqual(billed);
      expect(await world.lane()).toEqual({ spent, held: 0n });
      expect((await world.pool.query('select 1 from batch_lines where batch_id = $1', [id])).rowCount).toBe(0);
      if (!hasDied) break;
    }
    expect(deaths).toBeGreaterThan(40);
    expect(lost).toBeGreaterThan(0);
  });

  /** The process dies with the provider's answer to a line: nobody ever learns what it came to. */
  async function dieAtWork() {
    const batch = await world.create([line('a')]);
    const { held: whole } = await world.lane();
    world.upstream.answer = (customId) => {
      world.process.life.stepsLeft = 0;
      return chatAnswer(customId);
    };
    await world.goOn().catch(() => {});
    world.upstream.answer = (customId) => chatAnswer(customId);
    return { batch, whole };
  }
  /** The database may take a moment to see that the connection is gone which had the lock. */
  const untilCompleted = (id: string) =>
    vi.waitUntil(
      async () => {
        await world.goOn();
        return (await world.get(id)).status === 'completed';
      },
      { timeout: 60_000 },
    );

  test('while a provider is at work for a line leaves that at its hold, and the next call of the line is paid as well', async () => {
    const { batch, whole } = await dieAtWork();
    await world.restart();
    await untilCompleted(batch.id);
    expect(world.ledger).toMatchObject([
      { cost: whole, record: { outcome: 'abandoned', estimated: true, attempt: 1 } },
      { cost: LINE_NANO_USD, record: { outcome: 'completed', attempt: 2 } },
    ]);
    const { output } = await world.outcome(batch.id);
    expect(output[0]?.response?.receipt_id).toBe(world.ledger[1]?.record.receiptId);
    expect(await world.lane()).toEqual({ spent: whole + LINE_NANO_USD, held: 0n });
  });

  test('leaves a lost call as debt where nothing more may be spent, and its line is not run again', async () => {
    const { batch, whole } = await dieAtWork();
    world.monthlyCap = whole;
    await world.restart();
    await untilCompleted(batch.id);
    expect(world.upstream.calls).toEqual(['a']);
    expect(world.ledger).toMatchObject([{ cost: whole, debt: whole, record: { outcome: 'abandoned' } }]);
    const { errors } = await world.outcome(batch.id);
    expect(errors[0]?.error?.code).toBe('budget_exceeded');
  });

  test('leaves its hold to the next one, before that lets anybody else spend', async () => {
    await world.create([line('a'), line('b')]);
    const before = await world.lane();
    await world.restart();
    expect(await world.lane()).toEqual(before);
  });
});

describe('a batch ends', () => {
  test('when its day is over: what was answered is given and paid, every other line says batch_expired', async () => {
    const batch = await world.create([line('a'), line('b'), line('c')]);
    world.upstream.answer = (customId) => {
      if (customId === 'a') return chatAnswer('A');
      world.clock.at = NOW + DAY_MS;
      return 'silence';
    };
    await world.goOn();
    expect(await world.get(batch.id)).toMatchObject({
      status: 'expired',
      completed: 1,
      failed: 2,
      moments: { expired: new Date(NOW + DAY_MS) },
    });
    const { output, errors } = await world.outcome(batch.id);
    expect(output.map(({ custom_id }) => custom_id)).toEqual(['a']);
    expect(errors).toEqual(
      ['b', 'c'].map((custom_id) => ({
        ...{ id: expect.stringMatching(/^batch_req_/), custom_id, response: null },
        error: { code: 'batch_expired', message: 'This request could not be executed before the completion window expired.' },
      })),
    );
    // Nobody knows what the provider has made of the two that were cut.
    const [, ...cut] = world.ledger;
    expect(cut).toMatchObject(Array(2).fill({ record: { outcome: 'abandoned', estimated: true } }));
    for (const { record } of cut) expect(record.cost).toBe(record.held);
    expect(await world.lane()).toEqual({ spent: cut.reduce((sum, { cost }) => sum + cost, LINE_NANO_USD), held: 0n });
  });

  test('when its day is over, even where nothing can be held for it any more', async () => {
    const batch = await world.create([line('a')]);
    world.monthlyCap = 1n;
    world.clock.at = NOW + DAY_MS;
    await world.restart();
    await world.goOn();
    expect(await world.get(batch.id)).toMatchObject({ status: 'expired', failed: 1 });
    expect(await world.lane()).toEqual({ spent: 0n, held: 0n });
  });

  test('when it is cancelled: what runs ends and is paid, nothing else begins', async () => {
    const batch = await world.create(['a', 'b', 'c', 'd'].map((id) => line(id)));
    await world.process.api.cancel(world.owner, batch.id);
    await world.goOn();
    expect(await world.get(batch.id)).toMatchObject({ status: 'cancelled', completed: 0, failed: 4 });
    expect(world.upstream.calls).toEqual([]);
    const { errors } = await world.outcome(batch.id);
    expect(new Set(errors.map(({ error }) => error?.code))).toEqual(new Set(['batch_cancelled']));
    expect((await world.lane()).held).toBe(0n);
  });

  test('when its key is revoked: the lines say so', async () => {
    const batch = await world.create([line('a'), line('b')]);
    world.state = 'ended';
    await world.goOn();
    const { errors } = await world.outcome(batch.id);
    expect(errors.map(({ error }) => error?.code)).toEqual(['invalid_credentials', 'invalid_credentials']);
    expect(await world.lane()).toEqual({ spent: 0n, held: 0n });
  });

  test('when its account is closed: nothing of it is kept', async () => {
    const batch = await world.create([line('a')], { metadata: { of: 'a secret' } });
    await deleteAccountBatches(world.pool, {
      ...{ accountId: world.owner.accountId, at: new Date(NOW) },
      ...{ actor: { kind: 'user', id: world.principal.userId }, origin: { ip: null, userAgent: null, requestId: 'req_1' } },
    });
    world.state = 'gone';
    await world.goOn();
    expect(await world.get(batch.id)).toMatchObject({ status: 'failed', metadata: null, outputFileId: null, errorFileId: null });
    expect((await world.pool.query('select 1 from batch_lines')).rowCount).toBe(0);
    expect((await world.lane()).held).toBe(0n);
  });

  test('as failed, with nothing held, where its input is wrong', async () => {
    const batch = await world.create([line('a'), '{"custom_id":']);
    expect(batch).toMatchObject({ status: 'failed', errors: [{ code: 'invalid_json_line', line: 2 }] });
    expect((await world.lane()).held).toBe(0n);
  });
});

test.each([
  [{ Max_Tokens: 2 }, 'Max_Tokens', 400, 'validation_failed'],
  [{ maxTokens: 2 }, 'maxTokens', 400, 'validation_failed'],
  [{ N: 2 }, 'N', 400, 'validation_failed'],
  [{ stream: true }, 'stream', 400, 'validation_failed'],
  [{ max_tokens: 0 }, 'max_tokens', 400, 'validation_failed'],
  [{ model: 'gpt-0' }, 'model', 404, 'model_not_found'],
])('a line with %j fails by itself: it is in the error file, and the others run', async (wrong, param, status_code, code) => {
  const batch = await world.create([line('a'), line('wrong', wrong), line('b')]);
  expect(batch).toMatchObject({ status: 'in_progress', total: 3, failed: 1 });
  const { held: whole } = await world.lane();
  await world.goOn();
  expect(await world.get(batch.id)).toMatchObject({ status: 'completed', total: 3, completed: 2, failed: 1 });
  const { output, errors } = await world.outcome(batch.id);
  expect(output.map(({ custom_id }) => custom_id)).toEqual(['a', 'b']);
  expect(errors).toMatchObject([{ custom_id: 'wrong', error: null, response: { status_code, body: { code, error: { param } } } }]);
  expect([world.upstream.calls.toSorted(), await world.lane()]).toEqual([['a', 'b'], { spent: 2n * LINE_NANO_USD, held: 0n }]);
  // Nothing was held for it.
  await world.create([line('a'), line('b')]);
  expect((await world.lane()).held).toBe(whole);
});

test('a batch of nothing but wrong lines holds nothing, asks no provider, and is completed with its errors', async () => {
  const batch = await world.create([line('a', { n: 0 }), line('b', { model: 'gpt-0' })]);
  expect(await world.lane()).toEqual({ spent: 0n, held: 0n });
  await world.goOn();
  expect(await world.get(batch.id)).toMatchObject({ status: 'completed', total: 2, completed: 0, failed: 2, outputFileId: null });
  expect((await world.outcome(batch.id)).errors.map(({ custom_id }) => custom_id)).toEqual(['a', 'b']);
  expect(world.upstream.calls).toEqual([]);
});

test.each(['requested', 'unavailable'] as const)(
  'a batch that asks for an anchor, and no other, is told whether it is %s',
  async (said) => {
    const { create } = batchRoutes(world.process.api, { anchorAnswer: said });
    const input_file_id = await world.upload([line('a')]);
    const body = { endpoint: '/v1/chat/completions', completion_window: '24h', input_file_id } as const;
    for (const [headers, answer] of [[{ 'x-vaas-anchor': 'true' }, [['x-vaas-anchor', said]]] as const, [{}, []] as const]) {
      const set: [string, string][] = [];
      // The rest of a request is nothing to this route.
      const request = { principal: world.principal, headers, body, setHeader: (name: string, value: string) => set.push([name, value]) };
      expect((await create(request as unknown as Parameters<typeof create>[0])).status).toBe(200);
      expect(set).toEqual(answer);
    }
  },
);

describe('an agent run', () => {
  const inRun = { runId: 'run-1', runCap: null };
  const enter = (runId: string, parentRunId: string | null = null) =>
    world.process.runs.enter({ ...world.owner, runId, parentRunId, maxCalls: null, deadlineAt: null });

  test('that is closed takes no batch, and ends one that runs', async () => {
    const name = { runId: 'run-closed', runCap: null };
    const begun = held();
    const batch = await world.create([line('a'), line('b'), line('c')], { run: name });
    const going = world.goOn();
    await begun;
    await world.runStore.close(world.owner, name.runId, NOW, async () => {});
    world.process.runs.closed(world.owner, name.runId);
    await going;
    const { output, errors } = await world.outcome(batch.id);
    expect(output).toEqual([]);
    expect(errors.map(({ response }) => response?.body)).toEqual(Array(3).fill(expect.objectContaining({ code: 'run_closed' })));
    await expect(world.create([line('d')], { run: name })).rejects.toMatchObject({ code: 'run_closed' });
  });

  test('says of its lines’ receipts that they are to be anchored soon, where it was asked for', async () => {
    await world.create([line('a')], { run: { runId: null, runCap: null, anchorWished: true } });
    await world.goOn();
    expect(world.ledger).toMatchObject([{ record: { kind: 'batch_line', anchorWished: true } }]);
  });

  test('under another one draws on that one’s remainder too', async () => {
    (await enter('parent')).leave();
    (await enter('child', 'parent')).leave();
    await world.create([line('a')], { run: { runId: 'child', runCap: null } });
    await world.goOn();
    expect(world.ledger).toMatchObject([{ record: { runId: 'child', ancestorRunIds: ['parent'] } }]);
  });

  test('is begun by a batch under the one that it names, with its bound on calls and its deadline', async () => {
    (await enter('boss')).leave();
    const begun = await world.create([line('a'), line('b'), line('c')], {
      run: { runId: 'worker', runCap: null, parentRunId: 'boss', runCalls: 2, runDeadline: { afterMs: 60_000 } },
    });
    await world.goOn();
    expect(world.ledger).toHaveLength(2);
    expect(world.ledger[0]).toMatchObject({ record: { runId: 'worker', ancestorRunIds: ['boss'] } });
    const { errors } = await world.outcome(begun.id);
    expect(errors.map(({ response }) => response?.body)).toEqual([expect.objectContaining({ code: 'run_exhausted' })]);
    const late = world.create([line('a')], { run: { runId: 'late', runCap: null, runDeadline: { at: NOW - 1 } } });
    await expect(late).rejects.toMatchObject({ code: 'run_exhausted' });
  });

  test('that debt has carried above its ceiling ends its batch: what was answered is paid for, and the rest told why', async () => {
    const stopping = new AbortController();
    const run = { runId: 'debtor', runCap: 100_000n };
    const batch = await world.create(
      ['a', 'b', 'c', 'd'].map((id) => line(id)),
      { run },
    );
    world.upstream.answer = (customId) => {
      stopping.abort();
      return chatAnswer(customId, 1_000_000);
    };
    await world.goOn(stopping.signal);
    expect(world.ledger.length).toBeGreaterThan(0);
    await world.restart();
    await world.goOn();
    expect(await world.get(batch.id)).toMatchObject({ status: 'completed', failed: 4 - world.ledger.length });
    const { errors } = await world.outcome(batch.id);
    expect(new Set(errors.map(({ error }) => error?.code))).toEqual(new Set(['budget_exceeded']));
    expect(errors[0]?.error?.message).toContain('the ceiling of this agent run');
    expect((await world.lane()).held).toBe(0n);
  });

  test('has its ceiling kept by the hold', async () => {
    await expect(world.create([line('a')], { run: { ...inRun, runCap: 1n } })).rejects.toMatchObject({
      code: 'budget_exceeded',
      extras: { budget: { limit_source: 'agent_run' } },
    });
  });
});

test('a batch that cannot go on stands in no other’s way, and is not asked for all the time', async () => {
  const stuck = await world.create([line('a')]);
  const other = await world.create([line('b')]);
  await world.pool.query("update batches set endpoint = '/v1/nothing' where id = $1", [stuck.id]);
  await world.goOn();
  expect(await world.get(other.id)).toMatchObject({ status: 'completed' });
});

test('a line that never got as far as a provider has no receipt, and says no id of one', async () => {
  const batch = await world.create([line('a')]);
  await world.pool.query(`update batch_lines set request = '{"model":"gone","messages":[]}' where batch_id = $1`, [batch.id]);
  await world.goOn();
  const { errors } = await world.outcome(batch.id);
  expect(errors[0]?.response?.status_code).toBeGreaterThanOrEqual(400);
  expect(errors[0]?.response).not.toHaveProperty('receipt_id');
  expect(world.ledger).toEqual([]);
});

test('what is to be done when the process stops is left to the next one: nothing is lost, nothing runs twice', async () => {
  const stopping = new AbortController();
  const batch = await world.create(['a', 'b', 'c', 'd'].map((id) => line(id)));
  world.upstream.answer = (customId) => {
    stopping.abort();
    return chatAnswer(customId);
  };
  await world.goOn(stopping.signal);
  expect(await world.get(batch.id)).toMatchObject({ status: 'in_progress' });
  await world.restart();
  await world.goOn();
  expect(await world.get(batch.id)).toMatchObject({ status: 'completed', completed: 4 });
  expect(world.upstream.calls.toSorted()).toEqual(['a', 'b', 'c', 'd']);
});

test('output and error file delete themselves when they are asked to', async () => {
  const expires = { anchor: 'created_at', seconds: 3_600 } as const;
  const batch = await world.create([line('a')], { output_expires_after: expires, metadata: { of: 'a test' } });
  await world.goOn();
  const { outputFileId, metadata } = await world.get(batch.id);
  expect(metadata).toEqual({ of: 'a test' });
  expect(await world.files.get(world.owner, outputFileId ?? '')).toMatchObject({ expiresAt: new Date(NOW + 3_600_000) });
});
