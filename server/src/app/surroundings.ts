import { sealedBlobs } from '../adapters/blobs/sealed-blobs.ts';
import { openJobQueue } from '../adapters/queue/bullmq.ts';
import { createInvites } from '../community/invites/index.ts';
import { blobSealingKeys } from '../inference/files/index.ts';
import type { Commerce } from './commerce.ts';
import type { Core } from './core.ts';
import { Readiness } from './health.ts';
import { createPeerAddress } from './http/peer-address.ts';
import { openMarketing } from './marketing.ts';
import { openStatefulResources } from './stateful-resources.ts';
import { openWebhooks } from './webhooks.ts';

export type Surroundings = Awaited<ReturnType<typeof openSurroundings>>;

/** What outlives a request, and what the service tells the world outside: stored content and its jobs, webhooks, mails, invitations. */
export async function openSurroundings({ foundation, billing, planBook, accounts, serving, publicUrl }: Core, { live }: Commerce) {
  const { config, pool, clock, log, redis, databaseUrl, pulse, rawBlobs } = foundation;
  const { inference } = serving;
  const blobs = sealedBlobs(rawBlobs, blobSealingKeys(accounts.content));
  const queue = await openJobQueue({ store: redis ? { redis: redis.forJobs } : { databaseUrl, Client: pulse.Client }, log });
  const kept = await openStatefulResources({ foundation, blobs, queue, billing, accounts, inference, plans: planBook.book, publicUrl });
  const peerAddress = createPeerAddress(config.trustedProxies);
  const readiness = new Readiness();
  const webhooks = openWebhooks({ foundation, accounts, readiness });
  const marketing = openMarketing({ foundation, accounts, peerAddress, publicUrl });
  const { unsubscribeFooter } = marketing;
  const invites = createInvites({ pool, clock, identity: accounts.identity, plans: live, unsubscribeFooter });
  return { blobs, queue, kept, peerAddress, readiness, webhooks, marketing, invites };
}
