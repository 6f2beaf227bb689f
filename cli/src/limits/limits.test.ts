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

const ID = '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77';
const limit = {
  ...{
    limit_id: ID,
    kind: 'tag',
    subject: 'feature=search',
    period: 'day',
    external_id: null,
    cap_usd: '50',
    requests_per_minute: null,
    tokens_per_minute: null,
    alert_thresholds: [50, 80, 100],
  },
  ...{ created_at: '2026-11-21T08:00:00.000Z', updated_at: '2026-11-21T08:00:00.000Z' },
};
const project = { project_id: ID, name: 'search', external_id: 'team-search', created_at: '2026-11-21T08:00:00.000Z', archived_at: null };

describe('a limit', () => {
  it('is set by its kind, subject and period', async () => {
    gateway.script({ json: limit });
    const line = ['limits', 'set', '--kind', 'tag', '--subject', 'feature=search', '--period', 'day', '--cap', '50', '--alerts', '60,90'];
    expect((await terminal.type([...line, '--json', 'cap_usd'])).stdout).toBe('{"cap_usd":"50"}\n');
    expect(gateway.requests[0]).toMatchObject({
      ...{ method: 'PUT', path: '/v1/limits' },
      body: {
        kind: 'tag',
        subject: 'feature=search',
        period: 'day',
        cap_usd: '50',
        requests_per_minute: null,
        tokens_per_minute: null,
        alert_thresholds: [60, 90],
      },
    });
  });

  it('is listed and shown with what is spent', async () => {
    gateway.script({ json: { data: [limit], has_more: false, next_cursor: null } });
    expect((await terminal.type(['limits', 'list'])).stdout).toBe(`${ID}\ttag\tfeature=search\tday\t50\tnone\tnone\n`);
    const figures = { spent_usd: '12.5', held_usd: '0', remaining_usd: '37.5', period_start: null, resets_at: null };
    gateway.script({ json: { limit, subject: 'feature=search', livemode: true, ...figures } });
    expect((await terminal.type(['limits', 'show', ID])).stdout).toContain('Remaining\t37.5\n');
  });

  it('is deleted', async () => {
    gateway.script({ status: 204 });
    expect((await terminal.type(['limits', 'delete', ID])).stderr).toBe(`Deleted ${ID}.\n`);
    expect(gateway.requests[0]).toMatchObject({ method: 'DELETE', path: `/v1/limits/${ID}` });
  });
});

describe('a project', () => {
  it('is created under an id of the caller', async () => {
    gateway.script({ status: 201, json: project });
    const { stdout } = await terminal.type(['projects', 'create', 'search', '--external-id', 'team-search', '--json', 'name']);
    expect(stdout).toBe('{"name":"search"}\n');
    expect(gateway.requests[0]).toMatchObject({ path: '/v1/projects', body: { name: 'search', external_id: 'team-search' } });
  });

  it('is listed and archived', async () => {
    gateway.script({ json: { data: [project], has_more: false, next_cursor: null } });
    expect((await terminal.type(['projects', 'list'])).stdout).toBe(`${ID}\tsearch\tteam-search\tactive\n`);
    gateway.script({ json: project });
    await terminal.type(['projects', 'archive', ID]);
    expect(gateway.requests[1]).toMatchObject({ method: 'PATCH', path: `/v1/projects/${ID}`, body: { archived: true } });
  });
});
