import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { refusals } from './conventions.ts';

const c = initContract();

export const ServiceStatus = z
  .object({
    name: z.literal('Tallygate'),
    status: z.enum(['ok', 'draining']),
    version: z.string().meta({ examples: ['0.1.0'] }),
    documentation: z.string().meta({ description: 'Where the OpenAPI document is.', examples: ['/openapi.json'] }),
  })
  .meta({ id: 'ServiceStatus', description: 'That the service is there.' });
export type ServiceStatus = z.infer<typeof ServiceStatus>;

export const Health = z
  .object({
    status: z.enum(['ok', 'unavailable', 'draining']),
    checks: z.record(z.string(), z.string()).meta({ examples: [{ database: 'ok', journal: 'ok' }] }),
  })
  .meta({ id: 'Health', description: 'Whether the instance can serve.' });
export type Health = z.infer<typeof Health>;

export const discovery = c.router({
  root: {
    method: 'GET',
    path: '/',
    summary: 'Service status',
    description: 'Names the service and its version, and says where its documentation is.',
    responses: { 200: ServiceStatus, ...refusals.open },
    metadata: { auth: 'none', tag: 'Discovery', operationId: 'getStatus' } as const,
  },
  live: {
    method: 'GET',
    path: '/health/live',
    summary: 'The process is alive',
    description: 'Answers as long as the process can; it says nothing about what the process depends on.',
    responses: { 200: Health, ...refusals.open },
    metadata: { auth: 'none', tag: 'Discovery', operationId: 'getLiveness' } as const,
  },
  ready: {
    method: 'GET',
    path: '/health/ready',
    summary: 'The instance takes requests',
    description: 'Answers 503 while the instance drains or cannot reach what it needs.',
    responses: { 200: Health, 503: Health, ...refusals.open },
    metadata: { auth: 'none', tag: 'Discovery', operationId: 'getReadiness' } as const,
  },
});
