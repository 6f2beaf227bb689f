/** What Google's head says that a request was served at: it serves at the standard tier where another has no room. */
export const SERVICE_TIER_HEADER = 'x-gemini-service-tier';

/** Google's word of a tier in OpenAI's; undefined where it says none. */
export function tierIn(said: unknown): string | undefined {
  if (typeof said !== 'string' || said === '') return undefined;
  const tier = said.toLowerCase().replace(/^service_tier_/, '');
  return tier === 'standard' ? 'default' : tier;
}

/** An answer that tells its headers. */
interface WithHeaders {
  header?(name: string): string | null;
}

export const servedTierOf = (answer: WithHeaders): string | undefined => tierIn(answer.header?.(SERVICE_TIER_HEADER));

/** The tier that is asked for, in Google's word: none is the standard one. */
export const askedTier = (tier: unknown): { serviceTier?: string } => (tier === 'flex' || tier === 'priority' ? { serviceTier: tier } : {});
