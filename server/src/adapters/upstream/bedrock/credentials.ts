import type { Clock } from '../../../kernel/clock.ts';
import { type Expiring, Renewed } from '../renewed.ts';

/** An identity, as AWS's libraries have it. */
export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  /** Undefined: they are good until they are changed. */
  readonly expiration?: Date;
}

/** Fetches credentials anew, whatever is remembered. */
export type CredentialSource = () => Promise<Credentials>;

/**
 * AWS's own chain: variables, shared files with roles, processes and single sign-on, web identity, container, instance. Loaded when the first
 * credentials are fetched.
 * @param profile of the shared files; the one that `AWS_PROFILE` names, or `default`, where it is undefined
 */
export function credentialChain(profile: string | undefined, region: string): CredentialSource {
  let chain: Promise<(options: { forceRefresh: boolean }) => Promise<Credentials>> | undefined;
  return async () => {
    chain ??= import('./aws-signing.ts').then(({ defaultProvider }) =>
      defaultProvider({ ...(profile !== undefined && { profile }), clientConfig: { region } }),
    );
    return (await chain)({ forceRefresh: true });
  };
}

export const renewedCredentials = (source: CredentialSource, clock?: Clock): Renewed<Credentials> =>
  new Renewed({ fetch: async () => expiring(await source()), clock });

const expiring = (value: Credentials): Expiring<Credentials> => ({ value, expiresAtMs: value.expiration?.getTime() });
