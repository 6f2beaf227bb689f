import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import type { Pool } from 'pg';
import type { OnAccountClosed } from '../../access/identity/index.ts';
import { GrowingBuffer } from '../../kernel/growing-buffer.ts';
import { readJson } from '../../kernel/read-json.ts';
import { RecentMap } from '../../kernel/recent-map.ts';
import type { SealedColumn, SecretBox } from '../../kernel/secret-box.ts';
import { firstOf } from '../../kernel/statements.ts';
import { eachTextPiece } from '../../kernel/text-bytes.ts';
import { breather, nextTurn } from '../../kernel/turn.ts';
import { eachJsonPiece, isSmall } from '../../kernel/written-json.ts';
import { tables } from './tables.ts';

/**
 * Encrypts what is kept of prompts and answers. Each account has a key of its own, which lies sealed with the master key: rotating the master
 * key seals the small keys anew and leaves the content as it is, and with the key of an account everything that it ever sealed is gone.
 */
export interface ContentKeys {
  /** The key of the account itself, for what is no text: derive another one of it. */
  keyOf(accountId: string): Promise<Buffer>;
  /**
   * Text for the database, also as the one string of a JSON column.
   * @param place what it is, in which row: it opens nowhere else, so rows cannot be swapped by whoever writes to the table
   */
  seal(accountId: string, place: string, plain: string | Buffer): Promise<string>;
  /** What was written before there were content keys is read as it is. @throws when it was changed or belongs elsewhere */
  open(accountId: string, place: string, stored: string): Promise<string>;
  /** The same as bytes of UTF-8. */
  openBytes(accountId: string, place: string, stored: string): Promise<Buffer>;
  /** For a column of bytes. */
  sealBytes(accountId: string, place: string, plain: Buffer): Promise<Buffer>;
  /** @throws when it was changed or belongs elsewhere */
  openSealedBytes(accountId: string, place: string, sealed: Buffer): Promise<Buffer>;
  /** The JSON text of the sealed value, for a column of type json. */
  sealJson(accountId: string, place: string, value: unknown): Promise<string>;
  /** @param stored the column as it was read: a string where it is sealed */
  openJson<Value>(accountId: string, place: string, stored: Value | string): Promise<Value>;
}

const PREFIX = 'c1.';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
const KNOWN_KEYS = 10_000;

/** What is longer is encrypted and decrypted in pieces of so many bytes. */
const PIECE = 262_144;

function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE);
}

async function eachPiece(plain: string | Buffer, take: (piece: string | Buffer) => void): Promise<void> {
  if (typeof plain === 'string') return eachTextPiece(plain, take);
  const rest = breather();
  for (const piece of piecesOf(plain)) {
    take(piece);
    await rest();
  }
}

/** What an account's content key is sealed as. */
const contextOf = ({ id }: { readonly id: string }): string => `content key of ${id}`;

export const SEALED_CONTENT_KEYS: SealedColumn = {
  select: 'select account_id as id, sealed_key as sealed from content_keys for update',
  update: 'update content_keys set sealed_key = $2 where account_id = $1',
  contextOf,
};

export function createContentKeys({ pool, box }: { pool: Pool; box: SecretBox }): ContentKeys {
  /** As key objects: to make one of bytes for each small event of an answer takes twice as long as the rest of sealing it. */
  const known = new RecentMap<string, KeyObject>(KNOWN_KEYS);

  async function keyOf(accountId: string): Promise<KeyObject> {
    const remembered = known.get(accountId);
    if (remembered) return remembered;
    const fresh = box.seal(randomBytes(KEY_BYTES).toString('base64url'), contextOf({ id: accountId }));
    // Of two who make one at once, both read the first.
    await pool.query('insert into content_keys (account_id, sealed_key) values ($1, $2) on conflict do nothing', [accountId, fresh]);
    const stored = await firstOf(pool, tables.selectFrom('content_keys').select('sealed_key').where('account_id', '=', accountId));
    const { plain } = box.open(stored?.sealed_key ?? '', contextOf({ id: accountId }));
    const key = createSecretKey(plain, 'base64url');
    known.set(accountId, key);
    return key;
  }

  const aadOf = (accountId: string, place: string) => Buffer.from(`${place} of ${accountId}`);

  async function cipherFor(accountId: string, place: string) {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', await keyOf(accountId), iv, { authTagLength: TAG_BYTES });
    cipher.setAAD(aadOf(accountId, place));
    return { iv, cipher };
  }

  async function seal(accountId: string, place: string, plain: string | Buffer): Promise<string> {
    if (plain.length > PIECE) return sealInPieces(accountId, place, (take) => eachPiece(plain, take));
    const { iv, cipher } = await cipherFor(accountId, place);
    const bytes = typeof plain === 'string' ? Buffer.from(plain) : plain;
    const sealed = Buffer.concat([iv, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
    return `${PREFIX}${sealed.toString('base64url')}`;
  }

  /**
   * Sealed as it is written down: nothing of it is in memory twice, and other work has its turn in between.
   * @param quote before and behind it
   */
  async function sealInPieces(
    accountId: string,
    place: string,
    each: (take: (piece: string | Buffer) => void) => Promise<void>,
    quote = '',
  ): Promise<string> {
    const { iv, cipher } = await cipherFor(accountId, place);
    let text = quote + PREFIX;
    let rest: Buffer = iv;
    const add = (bytes: Buffer) => {
      const all = Buffer.concat([rest, bytes]);
      // Three bytes are four letters: only between those may it be cut.
      const whole = all.length - (all.length % 3);
      text += all.toString('base64url', 0, whole);
      rest = all.subarray(whole);
    };
    await each((piece) => add(typeof piece === 'string' ? cipher.update(piece, 'utf8') : cipher.update(piece)));
    add(Buffer.concat([cipher.final(), cipher.getAuthTag()]));
    text += rest.toString('base64url') + quote;
    await nextTurn();
    // Its pieces become one here, in a turn of their own, and not where a statement is written.
    Buffer.byteLength(text);
    await nextTurn();
    return text;
  }

  async function sealBytes(accountId: string, place: string, plain: Buffer): Promise<Buffer> {
    const { iv, cipher } = await cipherFor(accountId, place);
    const sealed = new GrowingBuffer(iv.length + plain.length + TAG_BYTES);
    sealed.add(iv);
    await eachPiece(plain, (piece) => sealed.add(cipher.update(piece)));
    sealed.add(Buffer.concat([cipher.final(), cipher.getAuthTag()]));
    return sealed.take();
  }

  async function unseal(accountId: string, place: string, sealed: string): Promise<Buffer> {
    const rest = breather();
    const bytes = Buffer.from(sealed.slice(PREFIX.length), 'base64url');
    await rest();
    return openSealedBytes(accountId, place, bytes);
  }

  async function openSealedBytes(accountId: string, place: string, bytes: Buffer): Promise<Buffer> {
    const rest = breather();
    const decipher = createDecipheriv('aes-256-gcm', await keyOf(accountId), bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAAD(aadOf(accountId, place));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    const plain = new GrowingBuffer(Math.max(0, bytes.length - IV_BYTES - TAG_BYTES));
    for (const piece of piecesOf(bytes.subarray(IV_BYTES, -TAG_BYTES))) {
      plain.add(decipher.update(piece));
      await rest();
    }
    plain.add(decipher.final());
    return plain.take();
  }

  return {
    keyOf: async (accountId) => (await keyOf(accountId)).export(),
    seal,
    sealBytes,
    openSealedBytes,
    open: async (accountId, place, stored) => (stored.startsWith(PREFIX) ? (await unseal(accountId, place, stored)).toString() : stored),
    openBytes: async (accountId, place, stored) => (stored.startsWith(PREFIX) ? unseal(accountId, place, stored) : Buffer.from(stored)),
    // What is sealed has no character that JSON would escape.
    sealJson: async (accountId, place, value) =>
      isSmall(value)
        ? `"${await seal(accountId, place, JSON.stringify(value))}"`
        : sealInPieces(accountId, place, (take) => eachJsonPiece(value, take), '"'),
    // What is kept is an object or a list: only what is sealed is a string.
    async openJson<Value>(accountId: string, place: string, stored: Value | string) {
      if (typeof stored !== 'string') return stored;
      // It was sealed as that.
      return (await readJson(await unseal(accountId, place, stored))) as Value;
    },
  };
}

/** What copies of the database still hold of a closed account can be read by nobody who has not their master key and this row. */
export const deleteContentKey: OnAccountClosed = async (db, { accountId }) => {
  await db.query('delete from content_keys where account_id = $1', [accountId]);
};
