import type { DeploymentHealthList } from '@tallygate/contract';
import { expect, test } from 'vitest';
import { deploymentRoutes } from './deployment-routes.ts';
import type { Deployment, DeploymentView } from './deployments.ts';

const NOW = Date.parse('2026-11-26T08:00:00Z');

const view = (name: string, allowance?: Deployment['allowance']): DeploymentView => ({
  model: 'gpt-4o',
  deployment: { name, provider: 'openai', upstreamModel: 'gpt-4o', weight: 1, ...(allowance && { allowance }) } as Deployment,
  ...{ state: 'closed', openUntil: null, calls: 0, failures: 0, latencyMs: null, tokensPerSecond: null, lastFailure: null },
});

test('administrators see what may be asked with the key of each provider, and when again', async () => {
  const limits = { requestsPerMinute: 500, tokensPerMinute: null, concurrency: 8 };
  const views = () => [view('limited#1', { limits, freeInMs: () => 1_200.4, used: () => undefined }), view('free#2')];
  const routes = deploymentRoutes({ deployments: { views }, clock: { now: () => NOW } });
  const { body } = await routes.listDeployments({ query: { limit: 10 } } as Parameters<typeof routes.listDeployments>[0]);
  expect((body as DeploymentHealthList).data.map(({ deployment, limits: shown }) => [deployment, shown])).toEqual([
    ['free#2', null],
    ['limited#1', { requests_per_minute: 500, tokens_per_minute: null, concurrency: 8, free_in_ms: 1_201 }],
  ]);
});
