import type { contract, DeploymentHealth } from '@tallygate/contract';
import type { Handlers } from '../../http/index.ts';
import { type Clock, rfc3339 } from '../../kernel/clock.ts';
import { Keyset, mapPage } from '../../kernel/page.ts';
import type { Deployment, Deployments, DeploymentView } from './deployments.ts';

const DEPLOYMENTS = new Keyset({ name: 'deployments', columns: { model: 'text', deployment: 'text' }, direction: 'asc' });

interface DeploymentRoutesDeps {
  readonly deployments: Pick<Deployments, 'views'>;
  readonly clock: Clock;
}

export const deploymentRoutes = ({ deployments, clock }: DeploymentRoutesDeps): Handlers<typeof contract.deployments> => ({
  listDeployments: async ({ query }) => ({
    status: 200,
    body: mapPage(
      DEPLOYMENTS.pageOf(deployments.views(clock.now()), query, ({ model, deployment }) => [model, deployment.name]),
      toWire,
    ),
  }),
});

const toWire = ({ model, deployment, state, openUntil, calls, failures, latencyMs, lastFailure }: DeploymentView): DeploymentHealth => ({
  deployment: deployment.name,
  provider: deployment.provider,
  model,
  upstream_model: deployment.upstreamModel,
  weight: deployment.weight,
  state,
  open_until: openUntil === null ? null : rfc3339(openUntil),
  recent_calls: calls,
  recent_failures: failures,
  latency_ms: latencyMs === null ? null : Math.round(latencyMs * 10) / 10,
  limits: limitsOf(deployment),
  last_failure: lastFailure && { ...lastFailure, at: rfc3339(lastFailure.at) },
});

function limitsOf({ allowance }: Deployment): DeploymentHealth['limits'] {
  if (!allowance) return null;
  const { requestsPerMinute, tokensPerMinute, concurrency } = allowance.limits;
  return {
    ...{ requests_per_minute: requestsPerMinute, tokens_per_minute: tokensPerMinute, concurrency },
    free_in_ms: Math.ceil(allowance.freeInMs()),
  };
}
