import { tablesOf } from '../../kernel/statements.ts';
import type { AccountSchema } from './account.ts';
import type {
  DeviceLogin,
  DirectorySignIn,
  KnownAddress,
  LoginChallenge,
  LoginFailure,
  MailRequest,
  MailToken,
  MemberInvitationEntity,
  PasskeyChallenge,
  PasskeyEntity,
  RecoveryCode,
  Throttle,
} from './entities.ts';
import type { SessionSchema } from './session.ts';
import type { UserSchema } from './user.ts';

export const tables = tablesOf<
  | typeof AccountSchema
  | typeof UserSchema
  | typeof SessionSchema
  | typeof DeviceLogin
  | typeof DirectorySignIn
  | typeof KnownAddress
  | typeof LoginChallenge
  | typeof LoginFailure
  | typeof MailRequest
  | typeof MailToken
  | typeof MemberInvitationEntity
  | typeof PasskeyChallenge
  | typeof PasskeyEntity
  | typeof RecoveryCode
  | typeof Throttle
>();
