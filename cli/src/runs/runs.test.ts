import { agentRun, RECEIPT_ID } from '@tallygate/sdk/testing/fixtures';
import { type StubGateway, startStubGateway } from '@tallygate/sdk/testing/stub-gateway';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Terminal } from '../../testing/terminal.ts';

let gateway: StubGateway;
let terminal: Terminal;
beforeEach(async () => {
  gateway = await startStubGateway();
  terminal = new Terminal(gateway);
});
afterEach(() => gateway[Symbol.asyncDispose]());

describe('an agent run', () => {
  const step = {
    ...{ request_id: 'req_1', endpoint: '/v1/responses', model_requested: 'gpt-4o-mini', model_served: 'gpt-4o-mini', fallback: 'none' },
    ...{ outcome: 'completed', cost_usd: '0.01', refunded: false, receipt_id: RECEIPT_ID },
    ...{ started_at: '2026-11-21T08:00:00.000Z', completed_at: '2026-11-21T08:00:01.000Z' },
  };

  it('is listed, by state and parent', async () => {
    gateway.script({ json: { data: [agentRun], has_more: false, next_cursor: null } });
    const { stdout } = await terminal.type(['runs', 'list', '--state', 'active', '--parent', 'trip', '--test']);
    expect(stdout).toBe('trip-42\tactive\t0.0125\t0.5\t12\t2026-11-21T08:00:00.000Z\n');
    expect(gateway.requests[0]?.query).toEqual({ state: 'active', parent_run_id: 'trip', limit: '51', livemode: 'false' });
  });

  it('is shown with its steps', async () => {
    const steps = { data: [step], has_more: false, next_cursor: null };
    gateway.script({ json: { ...agentRun, held_usd: '0', steps, children: [] } });
    const { stdout } = await terminal.type(['runs', 'show', 'trip-42']);
    expect(stdout).toContain('Spent\t0.0125\n');
    expect(stdout).toContain('req_1\t/v1/responses\tgpt-4o-mini\tcompleted\t0.01\t');
  });

  it('is closed', async () => {
    gateway.script({ json: { ...agentRun, state: 'closed' } });
    expect((await terminal.type(['runs', 'close', 'trip-42', '--json', 'state'])).stdout).toBe('{"state":"closed"}\n');
    expect(gateway.requests[0]).toMatchObject({ method: 'POST', path: '/v1/runs/trip-42/close' });
  });
});
