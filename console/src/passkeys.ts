import type { NewPasskeyCredential, Passkey, PasskeyAssertion, UserResponse } from '@tallygate/sdk';
import { stranger, tallygate } from './client.ts';

/** A challenge lives five minutes; the browser's offer beside the e-mail address waits as long as the page is open. */
const OFFER_MS = 4 * 60_000;

/** Whether this browser has passkeys, and uses those of the domain on this page. */
export const isAtDomain = (rpId: string): boolean => location.hostname === rpId || location.hostname.endsWith(`.${rpId}`);
export const hasPasskeys = (): boolean => typeof PublicKeyCredential === 'function' && 'parseRequestOptionsFromJSON' in PublicKeyCredential;

interface Asking {
  /** Of a login with the password, whose second factor it is. */
  readonly challengeToken?: string | undefined;
  /** Offered beside the e-mail address, where the browser does that. */
  readonly isOffer?: boolean;
  readonly signal: AbortSignal;
}

/** Asks for a passkey and logs in with it. */
export async function logInWith({ challengeToken, isOffer = false, signal }: Asking): Promise<UserResponse> {
  const purpose = challengeToken === undefined ? {} : { challenge_token: challengeToken };
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(await stranger.passkeys.beginLogin(purpose, { signal }));
  const used = await navigator.credentials
    .get({ publicKey, signal, ...(isOffer && { mediation: 'conditional' as const }) })
    .catch((error: unknown) => inWords(error));
  return stranger.passkeys.login({ ...purpose, credential: jsonOf<PasskeyAssertion>(used) });
}

/** Offers passkeys beside the e-mail address until one is taken or `signal` ends it; undefined where this browser does not. */
export async function offerForLogin(signal: AbortSignal): Promise<UserResponse | undefined> {
  if (!(await PublicKeyCredential.isConditionalMediationAvailable?.())) return undefined;
  while (!signal.aborted) {
    const due = AbortSignal.timeout(OFFER_MS);
    try {
      return await logInWith({ isOffer: true, signal: AbortSignal.any([signal, due]) });
    } catch (error) {
      if (!due.aborted && !signal.aborted) throw error;
    }
  }
  return undefined;
}

/** Makes a passkey and keeps it under this name. */
export async function addPasskey(name: string): Promise<Passkey> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(await tallygate.passkeys.begin());
  const made = await navigator.credentials.create({ publicKey }).catch((error: unknown) => inWords(error));
  return tallygate.passkeys.create({ name, credential: jsonOf<NewPasskeyCredential>(made) });
}

/** What the browser has answered. Its types do not say which of two answers it is; the service looks at every field. */
function jsonOf<Answer>(credential: Credential | null): Answer {
  if (!(credential instanceof PublicKeyCredential)) throw new Error('The browser has answered without a passkey: try again.');
  const answer: unknown = credential.toJSON();
  return answer as Answer;
}

/** What browsers say names their own parts. */
function inWords(error: unknown): never {
  const { name } = error instanceof Error ? error : { name: '' };
  if (name === 'NotAllowedError') throw new Error('No passkey was used: it was turned away, or took too long.');
  if (name === 'InvalidStateError') throw new Error('This device has a passkey for your account already.');
  throw error;
}
