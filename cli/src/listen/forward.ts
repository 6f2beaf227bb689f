import { createHmac, randomBytes } from 'node:crypto';
import type { WebhookEvent } from '@tallygate/sdk';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';

const TIMEOUT_MS = 10_000;
const PREFIX = 'whsec_';

/** Where events are sent from this computer, and the secret that signs them. */
export interface Forwarding {
  readonly url: URL;
  readonly secret: string;
}

export function newForwarding(url: string, secret = PREFIX + randomBytes(32).toString('base64')): Forwarding {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new Failure('bad_url', `--forward-to takes an http or https URL: ${url} is none.`, EXIT.usage);
  if (!/^whsec_[A-Za-z0-9+/]+=*$/.test(secret)) throw new Failure('bad_secret', '--secret takes whsec_ and base64.', EXIT.usage);
  return { url: new URL(url), secret };
}

/**
 * Sends an event as a webhook of the format `standard` does (Standard Webhooks), once: a handler that is being written fails, and is shown so.
 * @returns what came of it, in words
 */
export async function forward({ url, secret }: Forwarding, event: WebhookEvent, signal: AbortSignal): Promise<string> {
  const body = JSON.stringify(event);
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  const signature = createHmac('sha256', key).update(`${event.id}.${timestamp}.${body}`).digest('base64');
  const headers = {
    'content-type': 'application/json',
    'webhook-id': event.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
  try {
    const ends = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const answer = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal: ends });
    await answer.body?.cancel();
    return `${event.type} -> ${answer.status}`;
  } catch (error) {
    signal.throwIfAborted();
    return `${event.type} -> not delivered: ${error instanceof Error ? error.message : String(error)}`;
  }
}
