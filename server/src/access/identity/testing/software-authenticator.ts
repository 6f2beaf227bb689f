import { generateKeyPairSync, hash, type KeyObject, randomBytes, sign } from 'node:crypto';
import type { NewPasskeyCredential, PasskeyAssertion, PasskeyCreationOptions, PasskeyRequestOptions } from '@tallygate/contract';

/** What a test has an authenticator, or the page that asks it, do otherwise. */
interface Otherwise {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly type?: string;
  readonly isVerifyingUser?: boolean;
  readonly userHandle?: string | null;
  readonly counter?: number;
  readonly credentialId?: string;
}

const PRESENT = 0x01;
const VERIFIED = 0x04;
/** May be copied by its provider, and has been. */
const BACKED_UP = 0x18;
const NEW_CREDENTIAL = 0x40;

/** An authenticator with one passkey (ES256), which answers as browsers pass it on: WebAuthn level 3, §6. */
export class SoftwareAuthenticator {
  readonly #key: { readonly publicKey: KeyObject; readonly privateKey: KeyObject } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly #origin: string;
  readonly #isSynced: boolean;
  readonly #id: Buffer;
  #userHandle = '';
  #count = 0;

  /** @param credentialId one that another authenticator has */
  constructor(origin: string, { isSynced = false, credentialId }: { isSynced?: boolean; credentialId?: string } = {}) {
    this.#origin = origin;
    this.#isSynced = isSynced;
    this.#id = credentialId === undefined ? randomBytes(16) : Buffer.from(credentialId, 'base64url');
  }

  get credentialId(): string {
    return this.#id.toString('base64url');
  }

  create({ rp, user, challenge }: PasskeyCreationOptions, otherwise: Otherwise = {}): NewPasskeyCredential {
    this.#userHandle = user.id;
    const { rpId = rp.id, isVerifyingUser = true, counter = 0 } = otherwise;
    const flags = NEW_CREDENTIAL | this.#flags(isVerifyingUser);
    const length = Buffer.from([this.#id.length >> 8, this.#id.length & 0xff]);
    const data = Buffer.concat([authenticatorData(rpId, flags, counter), Buffer.alloc(16), length, this.#id, this.#coseKey()]);
    // CBOR: { fmt: 'none', attStmt: {}, authData }.
    const attestation = Buffer.concat([
      ...[Buffer.from('a363', 'hex'), Buffer.from('fmt'), Buffer.from('64', 'hex'), Buffer.from('none')],
      ...[Buffer.from('67', 'hex'), Buffer.from('attStmt'), Buffer.from('a068', 'hex'), Buffer.from('authData')],
      ...[Buffer.from([0x59, data.length >> 8, data.length & 0xff]), data],
    ]);
    return this.#credential({
      clientDataJSON: this.#clientData('webauthn.create', challenge, otherwise).toString('base64url'),
      attestationObject: attestation.toString('base64url'),
      transports: ['internal'],
    });
  }

  get({ rpId: asked, challenge }: PasskeyRequestOptions, otherwise: Otherwise = {}): PasskeyAssertion {
    const { rpId = asked, isVerifyingUser = true, userHandle = this.#userHandle, credentialId } = otherwise;
    const data = authenticatorData(rpId, this.#flags(isVerifyingUser), otherwise.counter ?? (this.#isSynced ? 0 : ++this.#count));
    const clientData = this.#clientData('webauthn.get', challenge, otherwise);
    const signature = sign('sha256', Buffer.concat([data, hash('sha256', clientData, 'buffer')]), this.#key.privateKey);
    const assertion = this.#credential({
      clientDataJSON: clientData.toString('base64url'),
      authenticatorData: data.toString('base64url'),
      signature: signature.toString('base64url'),
      userHandle,
    });
    return credentialId === undefined ? assertion : { ...assertion, id: credentialId, rawId: credentialId };
  }

  #credential<Response>(response: Response) {
    return { id: this.credentialId, rawId: this.credentialId, type: 'public-key' as const, response, clientExtensionResults: {} };
  }

  #flags(isVerifyingUser: boolean): number {
    return PRESENT | (isVerifyingUser ? VERIFIED : 0) | (this.#isSynced ? BACKED_UP : 0);
  }

  #clientData(type: string, challenge: string, otherwise: Otherwise): Buffer {
    const { origin = this.#origin } = otherwise;
    return Buffer.from(
      JSON.stringify({ type: otherwise.type ?? type, challenge: otherwise.challenge ?? challenge, origin, crossOrigin: false }),
    );
  }

  /** CBOR: { 1: 2 (EC2), 3: -7 (ES256), -1: 1 (P-256), -2: x, -3: y }. */
  #coseKey(): Buffer {
    const { x = '', y = '' } = this.#key.publicKey.export({ format: 'jwk' });
    const [prefix, between] = [Buffer.from('a5010203262001215820', 'hex'), Buffer.from('225820', 'hex')];
    return Buffer.concat([prefix, Buffer.from(x, 'base64url'), between, Buffer.from(y, 'base64url')]);
  }
}

function authenticatorData(rpId: string, flags: number, counter: number): Buffer {
  const count = Buffer.alloc(4);
  count.writeUInt32BE(counter);
  return Buffer.concat([hash('sha256', rpId, 'buffer'), Buffer.from([flags]), count]);
}
