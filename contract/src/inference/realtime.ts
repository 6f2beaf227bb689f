import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, problem, refusals } from '../conventions.ts';
import { inferenceHeaders } from './headers.ts';

const c = initContract();

/** It holds nothing itself, and its sessions give no less than is asked for. */
const { 'x-budget-policy': _, ...ofItsSessions } = inferenceHeaders;

const SECONDS = { least: 10, most: 7_200, usual: 600 };

const RealtimeSession = z
  .looseObject({
    type: z.literal('realtime').meta({ description: 'Transcription sessions are not available.' }),
    model: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .meta({ description: 'The only model that the secret opens. Left out: any that the key may use.', examples: ['gpt-realtime'] }),
  })
  .meta({
    id: 'RealtimeSession',
    description: 'What a realtime session is set to, as OpenAI’s `session.update` has it. OpenAI’s other fields pass.',
    examples: [{ type: 'realtime', model: 'gpt-realtime', instructions: 'Be brief.' }],
  });

export const RealtimeClientSecretRequest = z
  .strictObject({
    expires_after: z
      .strictObject({
        anchor: z.literal('created_at').optional(),
        seconds: z
          .int()
          .min(SECONDS.least)
          .max(SECONDS.most)
          .optional()
          .meta({ description: `How long it opens sessions, seconds; ${SECONDS.usual} when left out.`, examples: [600] }),
      })
      .optional()
      .meta({ description: 'When it ends. Sessions that it has opened go on.' }),
    session: RealtimeSession.optional(),
  })
  .meta({
    id: 'RealtimeClientSecretRequest',
    description: 'A secret for a browser or an app, with what its sessions are set to.',
    examples: [{ session: { type: 'realtime', model: 'gpt-realtime', instructions: 'Be brief.' } }],
  });
export type RealtimeClientSecretRequest = z.infer<typeof RealtimeClientSecretRequest>;

export const RealtimeClientSecret = z
  .object({
    value: z.string().meta({ description: 'The secret, in place of an API key.', examples: ['ek_1bX9…'] }),
    expires_at: z.int().meta({ description: 'Unix seconds.', examples: [1_795_000_000] }),
    session: z
      .looseObject({
        type: z.literal('realtime'),
        object: z.literal('realtime.session'),
        id: z.string().meta({ examples: ['sess_1bX9'] }),
        model: z
          .string()
          .optional()
          .meta({ examples: ['gpt-realtime'] }),
      })
      .meta({ description: 'What its sessions are set to.' }),
  })
  .meta({
    id: 'RealtimeClientSecret',
    description: 'A secret that opens realtime sessions for a while, and nothing else.',
    examples: [
      {
        value: 'ek_1bX9…',
        expires_at: 1_795_000_000,
        session: { type: 'realtime', object: 'realtime.session', id: 'sess_1bX9', model: 'gpt-realtime' },
      },
    ],
  });
export type RealtimeClientSecret = z.infer<typeof RealtimeClientSecret>;

/** What is asked about realtime sessions. None of it spends: a session is a WebSocket, `GET /v1/realtime`. */
export const realtime = c.router({
  createClientSecret: {
    method: 'POST',
    path: '/v1/realtime/client_secrets',
    summary: 'Create a client secret',
    description:
      'For browsers and apps, which must not have an API key: it opens `GET /v1/realtime` for a while, with the key’s caps and limits, and ends with the key. The headers of inference requests that it is made with (`X-Agent-Run-ID`, `X-End-User`, `X-Tags` …) hold for its sessions.',
    headers: { ...headersA, ...ofItsSessions },
    body: RealtimeClientSecretRequest,
    responses: { 200: RealtimeClientSecret, 404: problem, ...refusals.write },
    metadata: {
      auth: 'bearer',
      scope: 'inference',
      tag: 'Realtime',
      operationId: 'createRealtimeClientSecret',
      sdk: 'realtime.createClientSecret',
      body: 'inference',
      isForLater: true,
      errors: { also: ['model_not_found', 'model_not_allowed', 'endpoint_not_allowed', 'unpriced_feature', 'invalid_credentials'] },
    } as const,
  },
});
