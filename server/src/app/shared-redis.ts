import { connectRedis, type RedisConnection, ready } from '../adapters/redis/connect.ts';
import { RedisNonces } from '../adapters/redis/nonces.ts';
import { requireFitness } from '../adapters/redis/requirements.ts';
import type { Log } from '../kernel/log.ts';
import type { Closing } from './closing.ts';

/** What the names of all keys begin with. */
export const PREFIX = 'tallygate';

/** What several gateways share. */
export interface SharedRedis {
  /** Answers within two seconds or fails. */
  readonly prompt: RedisConnection;
  /** Waits for its server: for the workers of the job queue. */
  readonly forJobs: RedisConnection;
  readonly nonces: RedisNonces;
}

/** @throws when it does not answer, or is not fit to hold money */
export async function openRedis(url: string, log: Log, closing: Closing): Promise<SharedRedis> {
  const [prompt, forJobs] = [connectRedis(url, log, 'prompt'), connectRedis(url, log, 'patient')];
  closing.add('Redis', async () => {
    prompt.disconnect();
    forJobs.disconnect();
  });
  await ready(prompt);
  await requireFitness(prompt, log);
  return { prompt, forJobs, nonces: new RedisNonces(prompt, PREFIX) };
}
