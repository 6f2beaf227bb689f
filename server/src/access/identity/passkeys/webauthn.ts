import type { NewPasskeyCredential, PasskeyAssertion } from '@tallygate/contract';
import { Problem } from '../../../kernel/problem.ts';
import type { RelyingParty } from './relying-party.ts';

/** ES256, EdDSA and RS256 (COSE): what the passkeys of all systems have. */
export const ALGORITHMS = [-7, -8, -257];

interface Expected {
  readonly challenge: string;
  readonly relyingParty: RelyingParty;
}

/** What an authenticator says of a passkey it has made. */
export interface NewCredential {
  readonly id: Buffer;
  readonly publicKey: Buffer;
  readonly signCount: number;
  readonly isBackupEligible: boolean;
  readonly isBackedUp: boolean;
}

/** What it says each time it is used. */
export interface Use {
  readonly signCount: number;
  readonly isBackedUp: boolean;
}

interface KnownCredential {
  readonly credentialId: Buffer;
  readonly publicKey: Buffer;
}

/** Loaded by the first passkey: it reads certificates of every maker, which take a while. */
const library = () => import('@simplewebauthn/server');

/** @throws Problem `invalid_passkey` */
export async function readNewCredential(credential: NewPasskeyCredential, { challenge, relyingParty }: Expected): Promise<NewCredential> {
  const { verifyRegistrationResponse } = await library();
  const { id, rawId, type, response } = credential;
  const { clientDataJSON, attestationObject } = response;
  const answer = verifyRegistrationResponse({
    response: { id, rawId, type, response: { clientDataJSON, attestationObject }, clientExtensionResults: {} },
    expectedChallenge: challenge,
    expectedOrigin: [...relyingParty.origins],
    expectedRPID: relyingParty.rpId,
    requireUserVerification: true,
    supportedAlgorithmIDs: ALGORITHMS,
  });
  const { registrationInfo: made } = await answer.catch(refuse);
  if (!made) throw notAccepted('its attestation does not hold');
  return {
    id: Buffer.from(made.credential.id, 'base64url'),
    publicKey: Buffer.from(made.credential.publicKey),
    signCount: made.credential.counter,
    isBackupEligible: made.credentialDeviceType === 'multiDevice',
    isBackedUp: made.credentialBackedUp,
  };
}

/** @throws Problem `invalid_passkey` */
export async function readAssertion(
  { id, rawId, type, response }: PasskeyAssertion,
  { credentialId, publicKey }: KnownCredential,
  { challenge, relyingParty, isVerifyingUser }: Expected & { readonly isVerifyingUser: boolean },
): Promise<Use> {
  const { verifyAuthenticationResponse } = await library();
  const { clientDataJSON, authenticatorData, signature } = response;
  const answer = verifyAuthenticationResponse({
    response: { id, rawId, type, response: { clientDataJSON, authenticatorData, signature }, clientExtensionResults: {} },
    expectedChallenge: challenge,
    expectedOrigin: [...relyingParty.origins],
    expectedRPID: relyingParty.rpId,
    // Counters are compared under the lock of their row.
    credential: { id: credentialId.toString('base64url'), publicKey: Uint8Array.from(publicKey), counter: 0 },
    requireUserVerification: isVerifyingUser,
  });
  const { verified: isSigned, authenticationInfo: used } = await answer.catch(refuse);
  if (!isSigned) throw notAccepted('its signature does not hold');
  return { signCount: used.newCounter, isBackedUp: used.credentialBackedUp };
}

/** The library throws for what does not hold: other origin, other domain, nobody verified, malformed bytes. */
function refuse(error: unknown): never {
  throw notAccepted(error instanceof Error ? error.message : String(error));
}

/** One sentence for all: the reason is in the log. */
export const notAccepted = (because: string): Problem =>
  new Problem('invalid_passkey', 'The passkey was not accepted: use another one, or log in with the password.', { because });
