import { createHmac, randomBytes } from 'node:crypto';
import * as z from 'zod';
import type { SealedColumn, SecretBox } from '../kernel/secret-box.ts';

/** What of an endpoint is encrypted: the path of a Slack or Teams URL is a credential. */
const Sealed = z.object({ url: z.string(), secret: z.string(), previous_secret: z.string().nullable() });
export type EndpointSecrets = z.infer<typeof Sealed>;

const contextOf = ({ id }: { readonly id: string }): string => `webhook-endpoint:${id}`;

export const SEALED_WEBHOOKS: SealedColumn = {
  select: 'select id, sealed from webhook_endpoints for update',
  update: 'update webhook_endpoints set sealed = $2 where id = $1',
  contextOf,
};

export const sealSecrets = (box: SecretBox, id: string, secrets: EndpointSecrets): string =>
  box.seal(JSON.stringify(secrets), contextOf({ id }));

export const openSecrets = (box: SecretBox, { id, sealed }: { readonly id: string; readonly sealed: string }): EndpointSecrets =>
  Sealed.parse(JSON.parse(box.open(sealed, contextOf({ id })).plain));

const PREFIX = 'whsec_';
/** Standard Webhooks asks for 24 to 64. */
const SECRET_BYTES = 32;

export const newWebhookSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64');

interface Signed {
  readonly id: string;
  /** Unix time, seconds. */
  readonly timestamp: number;
  readonly body: string;
}

/** The headers that Standard Webhooks asks for, with a signature for each secret. */
export const signedHeaders = (secrets: readonly string[], { id, timestamp, body }: Signed): Record<string, string> => ({
  'webhook-id': id,
  'webhook-timestamp': String(timestamp),
  'webhook-signature': secrets.map((secret) => signatureOf(secret, `${id}.${timestamp}.${body}`)).join(' '),
});

const signatureOf = (secret: string, content: string): string =>
  `v1,${createHmac('sha256', Buffer.from(secret.slice(PREFIX.length), 'base64'))
    .update(content)
    .digest('base64')}`;
