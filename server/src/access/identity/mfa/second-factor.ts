import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import type { Clock } from '../../../kernel/clock.ts';
import { Problem } from '../../../kernel/problem.ts';
import type { SealedColumn, SecretBox } from '../../../kernel/secret-box.ts';
import { firstOf, inUnit, run } from '../../../kernel/statements.ts';
import { tables } from '../tables.ts';
import type { User } from '../user.ts';
import { newRecoveryCodes, recoveryCodeHash } from './recovery-codes.ts';
import { isTotpCode, newTotpSecret, otpauthUri, qrCode, totpStep } from './totp.ts';

export type Method = 'totp' | 'recovery_code';

export interface Setup {
  readonly secret: string;
  readonly otpauthUri: string;
  /** An SVG in a data URI. */
  readonly qrCode: string;
}

/**
 * What a user has beside the password. Every function works on a user whose row the caller has locked, inside the caller's
 * transaction.
 */
export interface SecondFactor {
  begin(unit: EntityManager, user: User): Promise<Setup>;
  /** Switches it on. Resolves to the recovery codes, or to undefined when nothing was begun or the code is not the app's. */
  confirm(unit: EntityManager, user: User, code: string): Promise<readonly string[] | undefined>;
  /** Takes a code of the app or a recovery code, once; undefined when it is neither, or was taken before. */
  accept(unit: EntityManager, user: User, code: string): Promise<Method | undefined>;
  disable(unit: EntityManager, user: User): Promise<void>;
  recoveryCodesLeft(unit: EntityManager, user: User): Promise<number>;
}

const forgetRecoveryCodes = (unit: EntityManager, user: User): Promise<unknown> =>
  inUnit(unit).query('delete from mfa_recovery_codes where user_id = $1', [user.id]);

/** Deletes the secret and all recovery codes. */
export async function dropSecondFactor(unit: EntityManager, user: User): Promise<void> {
  user.disableSecondFactor();
  await forgetRecoveryCodes(unit, user);
}

/** One mistake, one answer, wherever a code is asked for. */
export const wrongCode = (): Problem =>
  new Problem('invalid_mfa_code', 'The code is wrong or was used before: wait for the next one, or use a recovery code.');

/** What a user's secret is sealed as. */
export const secretContextOf = ({ id }: { readonly id: string }): string => `mfa secret of ${id}`;

export const SEALED_SECOND_FACTORS: SealedColumn = {
  select: 'select id, mfa_sealed_secret as sealed from users where mfa_sealed_secret is not null for update',
  update: 'update users set mfa_sealed_secret = $2 where id = $1',
  contextOf: secretContextOf,
};

/** A code opens once. */
async function takeRecoveryCode(unit: EntityManager, user: User, code: string, now: Date): Promise<boolean> {
  const spent = tables
    .updateTable('mfa_recovery_codes')
    .set({ used_at: now })
    .where('user_id', '=', user.id)
    .where('code_hash', '=', recoveryCodeHash(code))
    .where('used_at', 'is', null);
  return (await run(inUnit(unit), spent)) > 0;
}

export function createSecondFactor({ box, clock }: { box: SecretBox; clock: Clock }): SecondFactor {
  /** A step counts once. The condition decides, not a look before: of two requests with one code only one meets the older step. */
  async function takeTotp(unit: EntityManager, user: User, code: string): Promise<boolean> {
    if (!user.mfaSealedSecret) return false;
    const { plain: secret, isStale } = box.open(user.mfaSealedSecret, secretContextOf(user));
    const step = totpStep(secret, code, clock.now());
    if (step === undefined) return false;
    const spent = tables
      .updateTable('users')
      .set({ mfa_last_step: BigInt(step) })
      .where('id', '=', user.id);
    if ((await run(inUnit(unit), spent.where('mfa_last_step', '<', BigInt(step)))) === 0) return false;
    if (isStale) user.mfaSealedSecret = box.seal(secret, secretContextOf(user));
    return true;
  }

  return {
    async begin(unit, user) {
      const secret = newTotpSecret();
      user.beginSecondFactor(box.seal(secret, secretContextOf(user)));
      // Steps were counted for the secret before: the new one has been shown to nobody.
      await inUnit(unit).query('update users set mfa_last_step = 0 where id = $1', [user.id]);
      const uri = otpauthUri(user.email, secret);
      return { secret, otpauthUri: uri, qrCode: qrCode(uri) };
    },

    async confirm(unit, user, code) {
      if (!(await takeTotp(unit, user, code))) return undefined;
      user.enableSecondFactor(new Date(clock.now()));
      const codes = newRecoveryCodes();
      await forgetRecoveryCodes(unit, user);
      for (const one of codes)
        await inUnit(unit).query('insert into mfa_recovery_codes (user_id, code_hash) values ($1, $2)', [user.id, recoveryCodeHash(one)]);
      return codes;
    },

    async accept(unit, user, code) {
      if (!user.hasSecondFactor()) return undefined;
      if (isTotpCode(code)) return (await takeTotp(unit, user, code)) ? 'totp' : undefined;
      return (await takeRecoveryCode(unit, user, code, new Date(clock.now()))) ? 'recovery_code' : undefined;
    },

    disable: dropSecondFactor,

    async recoveryCodesLeft(unit, user) {
      if (!user.hasSecondFactor()) return 0;
      const unused = tables.selectFrom('mfa_recovery_codes').where('user_id', '=', user.id).where('used_at', 'is', null);
      const counted = await firstOf(inUnit(unit), unused.select(sql<number>`count(*)::int`.as('left')));
      return counted?.left ?? 0;
    },
  };
}
