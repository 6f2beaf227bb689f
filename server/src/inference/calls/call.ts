import type { DedicatedCapacity } from '../../access/identity/index.ts';
import type { KeyLimits } from '../../access/keys/index.ts';
import type { Principal } from '../../http/index.ts';
import type { Price } from '../../money/catalog/index.ts';
import type { CallCache } from './answer-cache/call-cache.ts';
import type { CallContext, Caller } from './call-context.ts';
import type { Traffic } from './deployments.ts';
import type { Work } from './work.ts';

/** One inference request from its arrival to its settlement. */
export interface Call extends CallContext {
  readonly work: Work;
  /** Its place in the cache of answers; absent where it is never answered out of that. */
  readonly cache?: CallCache | undefined;
}

/** On all prices of the call, an exact decimal. */
export const priceFactorOf = ({ kind }: Pick<Call, 'kind'>, price: Price): string => (kind === 'batch_line' ? price.batchFactor : '1');

/** A session spends real money, as a live key does. */
export const isLive = (principal: Principal): boolean => principal.kind === 'session' || principal.livemode;
export const keyIdOf = (principal: Principal): string | null => (principal.kind === 'key' ? principal.keyId : null);

/** What narrows the caller's key; sessions and most keys have nothing that does. */
export const limitsOf = (grant: Caller): KeyLimits | undefined => ('limits' in grant ? grant.limits : undefined);

/** What is reserved for a request that came on the address for dedicated traffic. */
export const reservedFor = (grant: Caller): DedicatedCapacity | undefined =>
  'isDedicated' in grant && grant.isDedicated ? grant.dedicated : undefined;

/** Whose deployments serve the call. */
export const trafficOf = (grant: Caller): Traffic => {
  if (!isLive(grant.principal)) return 'test';
  return reservedFor(grant) ? 'dedicated' : 'shared';
};

/** The project of the caller's key; a session is of none. */
export const projectOf = (grant: Caller): string | undefined => ('projectId' in grant ? grant.projectId : undefined);
