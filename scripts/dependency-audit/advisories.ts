import type { Advisory } from './judge.ts';
import type { LockedVersions } from './locked-versions.ts';

const TIMEOUT_MS = 30_000;

/** The registry was not reachable: the result is unknown. */
export class NotAudited extends Error {}

/**
 * Asks the registry what is known of these versions, by npm's endpoint for many packages at once.
 * @throws NotAudited where the registry cannot be reached, or has no such endpoint
 */
export async function advisoriesOf(versions: LockedVersions, registry: string): Promise<Advisory[]> {
  const url = new URL('-/npm/v1/security/advisories/bulk', registry.endsWith('/') ? registry : `${registry}/`);
  const body = JSON.stringify(Object.fromEntries([...versions].map(([name, known]) => [name, [...known]])));
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  let answer: Response;
  try {
    answer = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch (cause) {
    throw new NotAudited('the registry cannot be reached', { cause });
  }
  if (!answer.ok) throw new NotAudited(`the registry answers with ${answer.status}`);
  const told: Record<string, Omit<Advisory, 'package'>[]> = await answer.json().catch((cause: unknown) => {
    throw new NotAudited('the registry does not answer with JSON', { cause });
  });
  return Object.entries(told).flatMap(([name, advisories]) =>
    advisories.map(({ url: page, title, severity }) => ({ package: name, url: page, title, severity })),
  );
}
