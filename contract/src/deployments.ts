import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, page, pageQuery, refusals, Timestamp } from './conventions.ts';

const c = initContract();

export const DeploymentHealth = z
  .object({
    deployment: z.string().meta({ description: 'The provider’s name and its place in the configuration.', examples: ['openai#1'] }),
    provider: z.string().meta({ examples: ['openai'] }),
    model: z.string().meta({ examples: ['gpt-4o-mini'] }),
    upstream_model: z.string().meta({ description: 'The provider’s own name for the model.', examples: ['gpt-4o-mini'] }),
    weight: z.number().meta({ description: 'Share of the model’s traffic, relative to its other deployments.', examples: [1] }),
    state: z.enum(['closed', 'open', 'half_open']).meta({
      description:
        '`closed`: asked as usual. `open`: it failed or was at its limit, and is not asked while another one can be. `half_open`: one request at a time finds out whether it is back.',
      examples: ['closed'],
    }),
    open_until: Timestamp.nullable(),
    recent_calls: z.int().meta({ description: 'Of the last minute; the newest hundred at most.', examples: [42] }),
    recent_failures: z.int().meta({ examples: [0] }),
    latency_ms: z
      .number()
      .nullable()
      .meta({ description: 'Until the first byte, a moving average, milliseconds.', examples: [310.5] }),
    limits: z
      .object({
        requests_per_minute: z
          .int()
          .nullable()
          .meta({ examples: [500] }),
        tokens_per_minute: z
          .int()
          .nullable()
          .meta({ examples: [200000] }),
        concurrency: z
          .int()
          .nullable()
          .meta({ examples: [null] }),
        free_in_ms: z.int().meta({ description: 'How long until another call may be sent; 0: now.', examples: [0] }),
      })
      .nullable()
      .meta({
        description: 'What this gateway may ask with the provider’s key, of all models together; null where no limits are set.',
      }),
    last_failure: z
      .object({
        at: Timestamp,
        kind: z.enum(['rejected', 'rate_limited', 'timeout', 'cancelled', 'failed']).meta({ examples: ['rate_limited'] }),
        status: z
          .int()
          .nullable()
          .meta({ description: 'The provider’s HTTP status, null when none came.', examples: [429] }),
      })
      .nullable(),
  })
  .meta({ id: 'DeploymentHealth', description: 'How one deployment of a model is doing, as the answering process sees it.' });
export type DeploymentHealth = z.infer<typeof DeploymentHealth>;

export const DeploymentHealthList = page(DeploymentHealth).meta({
  id: 'DeploymentHealthList',
  description: 'Every configured deployment of every model.',
});
export type DeploymentHealthList = z.infer<typeof DeploymentHealthList>;

export const deployments = c.router({
  listDeployments: {
    method: 'GET',
    path: '/v1/admin/deployments',
    summary: 'How the providers are doing',
    description:
      'For administrators: state, failures and latency of every deployment, as the process that answers sees them. An opening is announced to all gateways; counts and latency are per gateway.',
    headers: headersA,
    query: z.object(pageQuery),
    responses: { 200: DeploymentHealthList, ...refusals.read },
    metadata: {
      auth: 'bearer',
      scope: 'admin:read',
      role: 'admin',
      tag: 'Models',
      operationId: 'listDeployments',
      sdk: 'deployments.list',
    } as const,
  },
});
