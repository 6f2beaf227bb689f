import { createRemoteJWKSet, customFetch, type JWTPayload, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { boundedFetch } from './bounded-fetch.ts';
import { type Directory, type DirectoryIdentity, SignInRefused } from './port.ts';

export interface OpenIdOptions {
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined: a public client. */
  readonly clientSecret: string | undefined;
  readonly scopes: string;
  /** The claim with the groups of a person. */
  readonly groupsClaim: string;
  /** Registered at the provider. */
  readonly redirectUri: () => string;
  readonly afterLogout: () => string;
}

const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
const TIMEOUT_SECONDS = 10;

/** OpenID Connect: the authorization code flow with PKCE, state and nonce. The provider is discovered at the first sign-in, and asked again until it answers. */
export function openIdDirectory(options: OpenIdOptions): Directory {
  let found: Promise<oidc.Configuration> | undefined;
  const provider = (): Promise<oidc.Configuration> => {
    found ??= discover(options).catch((error: unknown) => {
      found = undefined;
      throw error;
    });
    return found;
  };
  let keys: ReturnType<typeof createRemoteJWKSet> | undefined;

  return {
    async begin() {
      const config = await provider();
      const secrets = { state: oidc.randomState(), nonce: oidc.randomNonce(), codeVerifier: oidc.randomPKCECodeVerifier() };
      const url = oidc.buildAuthorizationUrl(config, {
        ...{ redirect_uri: options.redirectUri(), scope: options.scopes, state: secrets.state, nonce: secrets.nonce },
        ...{ code_challenge: await oidc.calculatePKCECodeChallenge(secrets.codeVerifier), code_challenge_method: 'S256' },
      });
      return { ...secrets, url: url.href };
    },

    async complete(returned, { state, nonce, codeVerifier }) {
      const config = await provider();
      const checks = { pkceCodeVerifier: codeVerifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true };
      const tokens = await oidc.authorizationCodeGrant(config, returned, checks).catch(refuse);
      const claims = tokens.claims();
      if (!claims) throw new SignInRefused('The directory sent no ID token.');
      // Many providers say little in the ID token itself.
      const told = config.serverMetadata().userinfo_endpoint
        ? await oidc.fetchUserInfo(config, tokens.access_token, claims.sub).catch(refuse)
        : {};
      return identityOf({ ...told, ...claims }, options.groupsClaim);
    },

    async logoutUrl() {
      const config = await provider();
      if (!config.serverMetadata().end_session_endpoint) return undefined;
      return oidc.buildEndSessionUrl(config, { client_id: options.clientId, post_logout_redirect_uri: options.afterLogout() }).href;
    },

    async readLogout(logoutToken) {
      const { issuer, jwks_uri } = (await provider()).serverMetadata();
      if (!jwks_uri) throw new SignInRefused('The directory publishes no keys.');
      keys ??= createRemoteJWKSet(new URL(jwks_uri), { timeoutDuration: TIMEOUT_SECONDS * 1000, [customFetch]: boundedFetch });
      const { payload } = await jwtVerify(logoutToken, keys, { issuer, audience: options.clientId, requiredClaims: ['iat', 'jti'] }).catch(
        refuse,
      );
      return endedBy(payload);
    },
  };
}

async function discover({ issuer, clientId, clientSecret }: OpenIdOptions): Promise<oidc.Configuration> {
  const address = new URL(issuer);
  const config = await oidc.discovery(address, clientId, clientSecret, undefined, {
    timeout: TIMEOUT_SECONDS,
    [oidc.customFetch]: boundedFetch,
    // Nobody listens in on what does not leave this computer.
    execute: address.protocol === 'http:' && LOOPBACK.test(address.hostname) ? [oidc.allowInsecureRequests] : [],
  });
  // The signature of the ID token too, and not only the connection that it came over.
  oidc.enableNonRepudiationChecks(config);
  return config;
}

function identityOf(claims: Readonly<Record<string, unknown>>, groupsClaim: string): DirectoryIdentity {
  const { sub, email, email_verified, name, sid } = claims;
  if (typeof sub !== 'string' || typeof email !== 'string') throw new SignInRefused('The directory names no e-mail address.');
  // Absent with providers whose addresses are all of the company. Some write it as a text.
  if (email_verified !== undefined && String(email_verified) !== 'true')
    throw new SignInRefused('The directory has not verified the e-mail address.');
  const groups = claims[groupsClaim];
  return {
    ...{ subject: sub, email, name: typeof name === 'string' ? name : null },
    groups: (Array.isArray(groups) ? groups : [groups]).filter((group) => typeof group === 'string'),
    session: typeof sid === 'string' ? sid : null,
  };
}

/** OpenID Connect Back-Channel Logout 1.0, section 2.6. */
function endedBy({ sub, sid, nonce, events }: JWTPayload) {
  const isLogout = typeof events === 'object' && events !== null && LOGOUT_EVENT in events;
  if (!isLogout || nonce !== undefined) throw new SignInRefused('This is no logout token.');
  const session = typeof sid === 'string' ? sid : null;
  if (sub === undefined && session === null) throw new SignInRefused('The logout token names nobody.');
  return { subject: sub ?? null, session };
}

function refuse(error: unknown): never {
  throw new SignInRefused(error instanceof Error ? error.message : 'The directory refused.', { cause: error });
}
