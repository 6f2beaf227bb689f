import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { RealtimeClientSecretRequest } from '@tallygate/contract';
import type { ClientSecretGrant, KeyGrant } from '../../../access/keys/index.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { randomBase62 } from '../../../kernel/ids.ts';
import { Problem } from '../../../kernel/problem.ts';
import { requireRealtimeFields } from '../cost-fields/index.ts';
import { invalid } from './events.ts';
import { tokensIn } from './session-settings.ts';

const PREFIX = 'ek_';
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** Browsers send it in a header, and all headers together have 16 KiB. */
const MOST_CHARACTERS = 10_000;
/** More than any that fits into one says when it is unpacked. */
const MOST_TOLD_BYTES = 1024 * 1024;
const USUAL_SECONDS = 600;

export interface MadeSecret {
  readonly value: string;
  readonly told: ClientSecretGrant;
}

interface ClientSecretDeps {
  /** That all processes of the gateway have. */
  readonly secret: string;
  readonly clock: Clock;
  readonly grantOfKey: (keyId: string, now: Date) => Promise<KeyGrant | undefined>;
}

/**
 * Secrets that open realtime sessions for a while. Nothing of them is stored: a secret is what it says, sealed with a key that only gateways
 * have, so that nobody can change it or make one. Whether its key is still good is asked at every use.
 */
export class ClientSecrets {
  readonly #key: Buffer;
  readonly #deps: ClientSecretDeps;

  constructor(deps: ClientSecretDeps) {
    this.#deps = deps;
    this.#key = Buffer.from(hkdfSync('sha256', deps.secret, '', 'tallygate realtime client secrets v1', 32));
  }

  /** @throws Problem `validation_failed`, `unpriced_feature` */
  make(
    { session = { type: 'realtime' }, expires_after: { seconds = USUAL_SECONDS } = {} }: RealtimeClientSecretRequest,
    whose: Pick<ClientSecretGrant, 'keyId' | 'accountId' | 'headers'>,
  ): MadeSecret {
    requireRealtimeFields(session, 'session');
    tokensIn(session);
    const expiresAt = Math.floor(this.#deps.clock.now() / 1_000 + seconds) * 1_000;
    const told = { ...whose, expiresAt, session };
    const value = this.#sealed(told);
    if (value.length > MOST_CHARACTERS)
      throw invalid(
        `A secret carries its session, and this one would have ${value.length} characters of at most ${MOST_CHARACTERS}: set the rest with \`session.update\`.`,
        'session',
      );
    return { value, told };
  }

  /** @throws Problem `invalid_credentials` for one that was changed, made elsewhere, or has expired */
  read(value: string): ClientSecretGrant {
    const told = this.#opened(value);
    if (!told) throw refused('it was not made here');
    if (told.expiresAt <= this.#deps.clock.now()) throw refused('it has expired');
    return told;
  }

  /** Whose it is, as they are now. @throws Problem as {@link read}, and where its key is not good any more */
  authenticate = (value: string): Promise<KeyGrant> => this.grantOf(this.read(value));

  /** The same of one that has opened a session, which outlives it. @throws Problem `invalid_credentials` */
  async grantOf(told: ClientSecretGrant): Promise<KeyGrant> {
    const grant = await this.#deps.grantOfKey(told.keyId, new Date(this.#deps.clock.now()));
    if (grant?.principal.accountId !== told.accountId) throw refused('its key is not good any more');
    return { ...grant, clientSecret: told };
  }

  static is = (token: string): boolean => token.startsWith(PREFIX);

  #sealed(told: ClientSecretGrant): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv);
    const text = deflateRawSync(JSON.stringify(told));
    return PREFIX + Buffer.concat([iv, cipher.update(text), cipher.final(), cipher.getAuthTag()]).toString('base64url');
  }

  #opened(value: string): ClientSecretGrant | undefined {
    const bytes = Buffer.from(value.slice(PREFIX.length), 'base64url');
    if (value.length > MOST_CHARACTERS || bytes.length <= IV_BYTES + TAG_BYTES) return undefined;
    const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, IV_BYTES));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      const text = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
      return JSON.parse(inflateRawSync(text, { maxOutputLength: MOST_TOLD_BYTES }).toString()) as ClientSecretGrant;
    } catch {
      return undefined;
    }
  }
}

const refused = (because: string): Problem =>
  new Problem(
    'invalid_credentials',
    'The client secret is not valid, or has expired: make another one with POST /v1/realtime/client_secrets.',
    {
      because,
    },
  );

/** What OpenAI answers beside the secret. */
export const shownSession = (session: ClientSecretGrant['session']) => ({
  ...session,
  type: 'realtime' as const,
  object: 'realtime.session' as const,
  id: `sess_${randomBase62(20)}`,
});
