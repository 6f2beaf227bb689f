import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** A key that encrypts what the database must not hold in the clear: 32 bytes, under a name that stays with what it sealed. */
export interface MasterKey {
  readonly id: string;
  readonly key: Buffer;
}

/** Encrypts small secrets that have to be read again; secrets that only have to be recognised are hashed instead. */
export interface SecretBox {
  /** The key that seals. */
  readonly currentId: string;
  /** All keys that open. */
  readonly keyIds: readonly string[];
  /** Which key a secret was sealed with; empty for what was never sealed. */
  keyIdOf(sealed: string): string;
  /** @param context what the secret is and whose; it opens in no other context, so a writer of the table cannot swap rows */
  seal(plain: string, context: string): string;
  /** @throws when it was changed, belongs elsewhere, or its key is not configured any more */
  open(sealed: string, context: string): Opened;
}

export interface Opened {
  readonly plain: string;
  /** Sealed with an older key: seal it again and store that. */
  readonly isStale: boolean;
}

const FORMAT = /^v1\.([A-Za-z0-9_-]{1,40})\.([A-Za-z0-9_-]+)$/;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** @param keys the first one seals, all of them open */
/** A column with sealed secrets, as the rotation of master keys reads and writes it. */
export interface SealedColumn {
  /** SQL of the rows that will be opened again: `id` and `sealed`, locked. */
  readonly select: string;
  /** SQL with the id as `$1` and the newly sealed text as `$2`. */
  readonly update: string;
  /** What a row is sealed as. */
  contextOf(row: { readonly id: string }): string;
}

export function createSecretBox(keys: readonly MasterKey[]): SecretBox {
  const [current] = keys;
  if (!current) throw new Error('There is no master key');
  const byId = new Map(keys.map(({ id, key }) => [id, key]));
  return {
    currentId: current.id,
    keyIds: keys.map(({ id }) => id),
    keyIdOf: (sealed) => FORMAT.exec(sealed)?.[1] ?? '',

    seal(plain, context) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', current.key, iv, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(context));
      const sealed = Buffer.concat([iv, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `v1.${current.id}.${sealed.toString('base64url')}`;
    },

    open(sealed, context) {
      const [, id = '', text = ''] = FORMAT.exec(sealed) ?? [];
      const key = byId.get(id);
      if (!key) throw new Error(`What was sealed with the master key "${id}" cannot be opened: the key is not configured`);
      const bytes = Buffer.from(text, 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      const plain = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]).toString('utf8');
      return { plain, isStale: id !== current.id };
    },
  };
}
