import type { RouteMetadata } from '@tallygate/contract';
import { Problem } from '../../kernel/problem.ts';
import { type Authenticator, authorise, type Grant } from './credentials.ts';
import type { Exchange } from './exchange.ts';

/** For so long after a caller was let in, nothing is asked again: a revocation has a second to take effect everywhere. */
const FRESH_MS = 500;

/** Whom a route admits. */
export interface AccessRule {
  readonly metadata: RouteMetadata;
  /** Verifies the signatures of requests itself, over their bodies. */
  readonly verifiesSignatures?: true;
  /** Client secrets open it as well. */
  readonly takesClientSecrets?: true;
  /** What else the credential has to allow. @throws Problem */
  readonly requires?: (grant: Grant) => void;
}

/** Who is calling, and may they: asked in one order for every route. */
export class AccessControl {
  readonly #authenticator: Authenticator;
  readonly #isDedicated: boolean;

  /** @param address `dedicated`: takes keys with dedicated capacity alone */
  constructor(authenticator: Authenticator, address: 'shared' | 'dedicated' = 'shared') {
    this.#authenticator = authenticator;
    this.#isDedicated = address === 'dedicated';
  }

  /**
   * Proves the credential of a request, authorises its caller and notes both in the exchange. Undefined where that took no turn of the event
   * loop, as with a key that is in memory.
   *
   * @throws Problem `missing_credentials`, `invalid_credentials`, `ambiguous_credentials`, `signature_required`, `session_required`,
   * `scope_required`, `live_key_required`, `forbidden`, `storing_off`, `dedicated_capacity_required`, `store_unavailable`
   */
  check(exchange: Exchange, rule: AccessRule): Promise<void> | undefined {
    const { auth } = rule.metadata;
    exchange.checkedTick = performance.now();
    switch (auth) {
      case 'none':
        return undefined;
      case 'internal':
        this.#authenticator.requireInternalSecret(exchange.req.headers);
        return undefined;
      case 'bearer': {
        const proven = this.authenticate(exchange);
        return proven instanceof Promise ? proven.then((grant) => this.#allow(grant, rule)) : this.#allow(proven, rule);
      }
      default:
        return auth satisfies never;
    }
  }

  /** Once more, where what came after took long: a body that trickles in must not carry a caller past the end of a key, or a lowered cap. */
  recheck(exchange: Exchange, rule: AccessRule): Promise<void> | undefined {
    return performance.now() - exchange.checkedTick > FRESH_MS ? this.check(exchange, rule) : undefined;
  }

  /** The credential alone, for routes that say otherwise what it may do. */
  authenticate(exchange: Exchange): Grant | Promise<Grant> {
    // A key that was revoked while the body arrived is invalid.
    exchange.grant = undefined;
    const noted = (proven: Grant): Grant => {
      const grant = this.#isDedicated ? dedicatedGrant(proven) : proven;
      exchange.grant = grant;
      return grant;
    };
    const proven = this.#authenticator.authenticate(exchange.req);
    return proven instanceof Promise ? proven.then(noted, unreachable('Credentials cannot be checked at the moment')) : noted(proven);
  }

  #allow(grant: Grant, { metadata, verifiesSignatures, takesClientSecrets, requires }: AccessRule): Promise<void> | undefined {
    if (!takesClientSecrets) requireNoClientSecret(grant);
    if (!verifiesSignatures) requireNoSignature(grant);
    authorise(metadata, grant.principal);
    requires?.(grant);
    return this.#authenticator.requireStoring(metadata, grant.principal);
  }
}

/** @throws Problem `dedicated_capacity_required` */
function dedicatedGrant(grant: Grant): Grant {
  if ('dedicated' in grant && grant.dedicated) return { ...grant, isDedicated: true };
  throw new Problem(
    'dedicated_capacity_required',
    'This address takes API keys of accounts with dedicated capacity only: use the usual base URL of the gateway.',
  );
}

function requireNoClientSecret(grant: Grant): void {
  if ('clientSecret' in grant && grant.clientSecret)
    throw new Problem('invalid_credentials', 'A client secret opens realtime sessions alone: use an API key.');
}

/** A stolen key that is worth nothing unsigned must not open what takes no signature either. */
function requireNoSignature(grant: Grant): void {
  if ('limits' in grant && grant.limits?.signing?.isRequired)
    throw new Problem('signature_required', 'This API key only signs inference requests: use another key or a session.');
}

/** A database that cannot be read is no reason to call a credential wrong: every failure there that is not a refusal is one of the store. */
export const unreachable =
  (what: string) =>
  (cause: unknown): never => {
    throw cause instanceof Problem
      ? cause
      : new Problem('store_unavailable', `${what}: repeat the request in a few seconds.`, { retryAfterSeconds: 2, cause });
  };
