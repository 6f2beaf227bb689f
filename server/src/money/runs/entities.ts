import { defineEntity, p } from '@mikro-orm/core';

export const AgentRunBound = defineEntity({
  name: 'AgentRunBound',
  tableName: 'agent_run_bounds',
  properties: {
    accountId: p.uuid().primary(),
    livemode: p.boolean().primary(),
    runId: p.text().primary(),
    ancestorRunIds: p.array<string>().columnType('text[]'),
    maxCalls: p.bigint('bigint').nullable(),
    calls: p.bigint('bigint'),
    deadlineAt: p.datetime().nullable(),
    closedAt: p.datetime().nullable(),
    begunAt: p.datetime(),
  },
});

export const AgentRun = defineEntity({
  name: 'AgentRun',
  tableName: 'agent_runs',
  properties: {
    accountId: p.uuid().primary(),
    livemode: p.boolean().primary(),
    runId: p.text().primary(),
    ceilingNano: p.bigint('bigint').nullable(),
    spentNano: p.decimal().precision(30).scale(0),
    requests: p.bigint('bigint'),
    firstRequestAt: p.datetime(),
    lastRequestAt: p.datetime(),
  },
});
