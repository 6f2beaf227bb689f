import type { Call } from '../call.ts';
import type { Served } from '../served.ts';

interface Told {
  readonly contentType: string;
  /** Undefined where it was too long to be kept. */
  readonly body: Buffer | undefined;
}

/** Keeps an answer that was given whole, for the next who asks for the same. That of a model which was fallen back to would outlast the trouble. */
export async function keepAnswer({ cache }: Call, { outcome, fallback, target }: Served, { contentType, body }: Told): Promise<void> {
  if (outcome !== 'completed' || fallback === 'model' || !body) return;
  await cache?.keep({ contentType, body, model: target.model.id, provider: target.deployment.provider });
}
